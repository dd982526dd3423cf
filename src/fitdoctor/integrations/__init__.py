"""Ways in from other programs: a callback of Keras, an extension of IPython, a plugin of pytest."""
