"""Training that runs but goes wrong: losses that become NaN or do not change, data that leaks."""
