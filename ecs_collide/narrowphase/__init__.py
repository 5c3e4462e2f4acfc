"""When and where the two bodies of a pair meet, and which of them touch."""
