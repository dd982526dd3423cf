"""Causes about creating, compiling and calling a model, with their shared analysis and edits."""
