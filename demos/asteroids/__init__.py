"""Asteroids: the game, and the bot that flies the ship."""
