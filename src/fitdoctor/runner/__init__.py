"""Runs the user's program under supervision: the parent, the child, their messages, and the saved run."""
