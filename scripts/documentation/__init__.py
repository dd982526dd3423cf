"""Builds the pages of the documentation that come from the catalogue, the commands and recorded runs."""
