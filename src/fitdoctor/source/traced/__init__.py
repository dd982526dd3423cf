"""Code that runs while TensorFlow traces a graph: which functions, what in them is a tensor, where gradients pass."""
