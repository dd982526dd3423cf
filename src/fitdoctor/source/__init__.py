"""Static analysis of the user's Python: files, names, scopes, tracing, and where values come from."""
