"""Variables and gradients, and what judges of them read and edit."""
