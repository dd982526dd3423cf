"""Candidate repairs, the text edits that make them, and their proof by running."""
