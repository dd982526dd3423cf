"""Causes about labels, losses, metrics and outputs, with their shared analysis and edits."""
