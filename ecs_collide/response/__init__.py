"""The effects of impacts and overlaps: velocities, depenetration, carriers, soft separation."""
