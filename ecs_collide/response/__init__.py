"""What happens to bodies that meet: velocities, depenetration, carriers, soft separation."""
