"""What causes of several families know: about the data, the labels, the model and traced code."""
