"""Causes about memory that runs out or keeps growing."""
