"""Save the state that the next steps depend on as bytes, and restore it."""
