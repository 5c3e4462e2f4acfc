"""How fast ecs_collide is, beside what else a Python game can import.

``pip install -e ".[bench]"`` installs the peers; one that is missing is named and
left out.  Then, from the top of the checkout::

    python -m benchmarks                       everything at n = 10,000, in some minutes
    python -m benchmarks tree --scene gas      finding the pairs, against all peers
    python -m benchmarks tree --n 1000 100000  other sizes
    python -m benchmarks growth                100,000 bodies against 10,000
    python -m benchmarks engine                whole game steps, against physics engines
    python -m benchmarks crowd                 boxes that press on each other
    python -m benchmarks quiet churn           few movers; entities that come and go
    python -m benchmarks pool                  bullets switched off, against deleted ones
    python -m benchmarks build query           a level at once; one call from Python
    python -m benchmarks memory import plain   bytes a body; import; pure Python
    python -m benchmarks --quick               does it run?
    python -m benchmarks --write               and put it into measured.md and the page
    python -m benchmarks --draw                the page and its pictures, from measured.md

One room for each question a reader may ask:

- `scenes`: what moves, and how; the same frames for everybody
- `trees`, `numpy_sweep`, `physics`: who finds the pairs, each as it is meant to be used
- `engines`: who runs the whole game step; `crowds`: the same, of crowds
- `competitors`: all of them by name
- `costs`: what else the library promises: one call, one spawn, memory, import
- `measure`, `child`: how the clock is held
- `report`: what is printed, and written into the documentation
"""
