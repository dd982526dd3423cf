"""How a model is made, compiled and called, and what judges of models read and edit."""
