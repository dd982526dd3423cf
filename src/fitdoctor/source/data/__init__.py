"""What the functions of NumPy, pandas, scikit-learn, tf.data and Keras make of data, for the interpreter."""
