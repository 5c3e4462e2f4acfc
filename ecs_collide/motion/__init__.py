"""The bodies: where each is at a time within the step, surfaces, wrap-around."""
