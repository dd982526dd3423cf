"""Convert live Keras objects to plain facts; the only package that touches TensorFlow, Keras or NumPy."""
