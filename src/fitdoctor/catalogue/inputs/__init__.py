"""Causes about the inputs of a model, with their shared analysis and edits."""
