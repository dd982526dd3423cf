"""A small abstract interpreter: follows a file as Python would run it, as far as the source tells."""
