"""Layers and model classes: in the source, in a trial and in the message of a failure."""
