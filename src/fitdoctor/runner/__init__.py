"""Runs the user's program under supervision: the parent, the child, what they tell each other, and what is saved."""
