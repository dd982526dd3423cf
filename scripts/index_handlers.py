"""Nothing is left to index here; `land` still calls it."""
