"""Ten thousand boxes, and the same in pymunk."""
