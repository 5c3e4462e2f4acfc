"""The platformer: its level, its machines, the bot that plays it, and the referee of its claims."""
