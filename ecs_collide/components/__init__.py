"""The components of bodies, and the types of a game that are read in their place."""
