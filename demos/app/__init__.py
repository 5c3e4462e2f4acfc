"""The runners of demos: in a window, without one, recorded, or played back."""
