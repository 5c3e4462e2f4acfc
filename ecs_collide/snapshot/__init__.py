"""The state that the next steps depend on, as bytes and back."""
