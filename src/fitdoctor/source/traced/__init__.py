"""Traced code: which functions are traced, which expressions are tensors, and where gradients flow."""
