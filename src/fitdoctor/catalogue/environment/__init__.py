"""Versions, backends, and code for another Keras, with what judges of them read and edit."""
