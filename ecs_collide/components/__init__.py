"""The components of bodies, and the custom types that are read instead of them."""
