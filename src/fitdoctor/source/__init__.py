"""Reading the user's Python without running it: files, names, scopes, tracing, where values come from."""
