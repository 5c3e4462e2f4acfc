"""Components of the game to the body table and back."""
