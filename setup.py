"""The builds that pyproject.toml has no words for.

``ECS_COLLIDE_BUILD=pure`` leaves the kernels as Python: one wheel for every Python and platform.
``ECS_COLLIDE_BUILD=abi3`` compiles them against the limited C API: one wheel for every Python
from 3.11 on.
"""

import os

import setuptools

BUILD = os.environ.get("ECS_COLLIDE_BUILD", "")


class Distribution(setuptools.Distribution):
    """What pyproject.toml says, built as was asked for."""

    def parse_config_files(self, *args: object, **kwargs: object) -> None:
        """Read pyproject.toml."""
        super().parse_config_files(*args, **kwargs)
        if BUILD == "pure":
            self.ext_modules = []
        elif BUILD == "abi3":
            self.get_option_dict("bdist_wheel")["py_limited_api"] = ("setup.py", "cp311")
            for module in self.ext_modules:
                module.py_limited_api = True
                module.define_macros.append(("Py_LIMITED_API", "0x030B0000"))
        elif BUILD:
            raise SystemExit(f"ECS_COLLIDE_BUILD={BUILD}: must be pure or abi3, or not be set")


setuptools.setup(distclass=Distribution)
