"""Models of NumPy, pandas, scikit-learn, tf.data and Keras data functions, for the interpreter."""
