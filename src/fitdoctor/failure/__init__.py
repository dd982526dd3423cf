"""A failure of training as facts: from a living exception, or from the text that it left behind."""
