"""Statistics of a step: counts of its work, and the seconds that its stages took."""

from time import perf_counter
from typing import NamedTuple


class StageTimes(NamedTuple):
    """The seconds that each stage of a step took.

    Attributes
    ----------
    read : comparing the world with the bodies, and reading the components
    bounds : updating the trees
    pairs : finding the candidate pairs
    sweep : sweeping them
    resolve : resolving the impacts, custom responses included
    finish : moving the bodies to the end of the step; contacts
    write : writing the components
    deliver : making the events, and calling the handlers
    """

    read: float = 0.0
    bounds: float = 0.0
    pairs: float = 0.0
    sweep: float = 0.0
    resolve: float = 0.0
    finish: float = 0.0
    write: float = 0.0
    deliver: float = 0.0


class Stopwatch:
    """A stopwatch that sums up seconds by stage of the step under way."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = perf_counter()

    def start(self) -> None:
        """Ignore the time since the last lap."""
        self._since = perf_counter()

    def lap(self, stage: str) -> None:
        """Add the time since the last call to a stage."""
        now = perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


class Stats(NamedTuple):
    """Statistics of the last step.

    Attributes
    ----------
    step : number of completed steps
    bodies, movers, static : number of bodies; movers have Velocity or Growth.  Quarantined and
        disabled bodies count as static
    escapes : times that the path of a body left its fat bounds, or the bounds had become too big
    reinsertions : of these, bodies that were removed from their tree and inserted again alone
    rebuilds : times that one of the two trees was rebuilt in bulk
    pairs : candidate pairs from the tree
    skipped : pairs within a crowd for which there was no room; see `Space.reports`
    sweeps : swept tests
    impacts : collisions reported
    resolutions : impacts resolved
    merges : inelastic resolutions that made bodies move as one
    crushed, forced : resolutions of these kinds
    pair_limit_hits : pairs that reached the pair limit
    sweep_limit_hits : bodies that reached the limit of their sweeps; see `Space.pair_limit`
    waiting : bodies that were held because there was no room for their pairs
    held : all bodies that were held where they were, to the end of the step
    depth : depth of the tree of moving bodies
    asleep : movers that sleep after the step; see `Space.sleep`
    tree_cost : half the sum of the perimeters (in 3D: surfaces) of the inner bounds of the tree of
        moving bodies, in world units
    times : a `StageTimes` if `Space.timing` is on, else None
    """

    step: int = 0
    bodies: int = 0
    movers: int = 0
    static: int = 0
    escapes: int = 0
    reinsertions: int = 0
    rebuilds: int = 0
    pairs: int = 0
    skipped: int = 0
    sweeps: int = 0
    impacts: int = 0
    resolutions: int = 0
    merges: int = 0
    crushed: int = 0
    forced: int = 0
    pair_limit_hits: int = 0
    sweep_limit_hits: int = 0
    waiting: int = 0
    held: int = 0
    depth: int = 0
    asleep: int = 0
    tree_cost: float = 0.0
    times: StageTimes | None = None
