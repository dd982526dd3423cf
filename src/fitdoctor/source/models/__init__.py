"""Layers and models in the source: their shapes, weights, and inputs that Keras would reject."""
