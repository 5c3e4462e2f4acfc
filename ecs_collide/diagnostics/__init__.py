"""Diagnostics: `Space.doctor` and `Space.explain`."""
