"""The bodies: where each is at a time within the step, what only some have, wrap-around."""
