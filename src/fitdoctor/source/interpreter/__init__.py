"""A small abstract interpreter that follows a file as Python would run it."""
