"""Traced code: where gradients pass, and tensor code that replaces array code."""
