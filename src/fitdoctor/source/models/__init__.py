"""Layers and models as the source makes them: their shapes, weights, and what Keras would refuse."""
