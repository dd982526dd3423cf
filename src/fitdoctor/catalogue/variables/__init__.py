"""Causes about variables and gradients, and the analysis and edits they share."""
