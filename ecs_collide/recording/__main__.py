"""Play a recording, print its steps, or compare it with another."""

import sys

from ecs_collide.recording.replay import main

if __name__ == "__main__":
    sys.exit(main())
