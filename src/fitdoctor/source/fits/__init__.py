"""What the source tells of every model and every call of fit, as the facts that judges read."""
