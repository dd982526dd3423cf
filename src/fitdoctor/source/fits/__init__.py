"""Builds the facts that judges read about every model and `fit` call, from source alone."""
