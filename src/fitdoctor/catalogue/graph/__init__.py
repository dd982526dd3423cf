"""Traced code: tensors that leave their trace, Python that runs once, and what judges of it read and edit."""
