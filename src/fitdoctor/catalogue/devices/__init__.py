"""Causes about devices and distribution strategies, with their shared analysis and edits."""
