"""Breakout: its rules, and its paddle."""
