"""Where the data of a fit call comes from, how it is shaped, and edits that change it."""
