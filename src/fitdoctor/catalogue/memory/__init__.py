"""Memory that does not suffice, or that grows."""
