"""Labels and losses: which output they belong to, and whether their shapes agree."""
