"""Rooms: a dungeon seen from above, its map, and the bot that finds the chest."""
