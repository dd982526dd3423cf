"""From living Keras objects to plain facts; the only place that touches TensorFlow, Keras or NumPy."""
