"""Causes about versions, backends and code for another Keras, and the analysis and edits they share."""
