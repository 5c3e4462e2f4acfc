"""Zones: water, wind and low gravity."""

from __future__ import annotations

from dataclasses import dataclass

import esper

from ecs_collide._kernel import backend
from ecs_collide.extend import AMOUNT, SIGNED, NumberFields, Wrong


@dataclass(slots=True)
class Zone:
    """A region in which bodies move in another way: water, wind, low gravity.

    Give it `Position`, `Extents` and `Sensor` or `Attached`.  It acts on each body by the part of
    its box that is inside, and zones that overlap add up.  So a pool may be made of tiles, and a
    crate floats where its weight and its lift are equal.  It acts on dynamic bodies, and so on
    characters.

    Attributes
    ----------
    gravity : float
        The part of its gravity that a body has inside: 1 for all of it, 0 for none.
    buoyancy : float
        The lift on a body that is wholly inside, in multiples of its gravity: with 1.5 it floats
        with 2/3 of its box inside.  Characters swim where it is above 0.
    drag : float
        How fast the velocity of a body goes over into that of the flow, per second.  A body that
        sinks has a final speed of its gravity inside divided by this.
    flow_x, flow_y, flow_z : float
        The velocity of the water or of the wind, in world units per second.  Characters walk
        relative to it; other bodies, and characters that fall, take it on by `drag`.
    walk : float
        The part of its `walk_speed` that a character has inside.

    Examples
    --------
    >>> import ecs_collide as ec
    >>> water = ec.Zone(buoyancy=1.5, drag=4, walk=0.5)
    >>> moon = ec.Zone(gravity=0.2)
    >>> wind = ec.Zone(flow_x=-120, drag=1)
    """

    gravity: float = 1.0
    buoyancy: float = 0.0
    drag: float = 0.0
    flow_x: float = 0.0
    flow_y: float = 0.0
    flow_z: float = 0.0
    walk: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises
        ------
        ValueError
            One is not within -2**100 ... 2**100, or `drag` or `walk` is below 0.
        """
        wrong = FIELDS.find_wrong(self)
        if wrong is not None:
            name = wrong.field.removeprefix("Zone.")
            raise ValueError(f"Zone({name}={wrong.value!r}) {wrong.text}")


FIELDS = NumberFields(
    "Zone",
    {
        "gravity": SIGNED, "buoyancy": SIGNED, "drag": AMOUNT, "flow_x": SIGNED, "flow_y": SIGNED,
        "flow_z": SIGNED, "walk": AMOUNT,
    },
)  # fmt: skip


def find_wrong_zones() -> dict[int, Wrong]:
    """Return the wrong field of each entity whose `Zone` has a number out of its bounds."""
    zones = [(entity, (zone,)) for entity, zone in esper.get_component(Zone)]
    wrong: dict[int, Wrong] = backend.kernels.immersion.find_wrong_among(zones, FIELDS.find_wrong)
    return wrong
