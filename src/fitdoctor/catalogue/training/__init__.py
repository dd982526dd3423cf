"""Training that runs and goes wrong: losses that become NaN or do not move, data that leaks."""
