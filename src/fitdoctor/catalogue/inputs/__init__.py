"""What is wrong with the inputs of a model, and what judges of inputs read and edit."""
