"""Build without kernels where ECS_COLLIDE_BUILD_PURE=1: one wheel for every Python and platform.

All else is in pyproject.toml.
"""

import os

import setuptools


class Distribution(setuptools.Distribution):
    """What pyproject.toml says, with the kernels left as Python where that is asked for."""

    def parse_config_files(self, *args: object, **kwargs: object) -> None:
        """Read pyproject.toml."""
        super().parse_config_files(*args, **kwargs)
        if os.environ.get("ECS_COLLIDE_BUILD_PURE", "0") not in ("", "0"):
            self.ext_modules = []


setuptools.setup(distclass=Distribution)
