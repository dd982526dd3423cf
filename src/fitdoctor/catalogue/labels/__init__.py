"""Labels, losses, metrics and outputs that do not go together, and what judges of labels read and edit."""
