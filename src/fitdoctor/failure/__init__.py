"""Turn a training failure into facts, from a live exception or from saved text."""
