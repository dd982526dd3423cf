"""Causes in traced code (leaked tensors, Python that runs only once), and the analysis and edits they share."""
