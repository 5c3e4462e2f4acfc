"""How fast ecs_collide is, beside what else a Python game can import.

``python -m tests.benchmarks`` runs it; ``pip install -e ".[bench]"`` installs
the peers.  A peer that is missing is named and left out.

One room for each question a reader may ask:

- `scenes`: what moves, and how; the same frames for everybody
- `trees`, `numpy_sweep`, `physics`: who finds the pairs, each as it is meant to be used
- `engines`: who runs the whole game step
- `costs`: what else the library promises: one call, one spawn, memory, import
- `measure`, `child`: how the clock is held
- `report`: what is printed, and written into the documentation
"""
