"""What runs a demo: in a window, without one, recorded, or played back."""
