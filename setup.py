"""Find the kernels, translate them to C, compile them; describe the package for an index.

A kernel is a file of the package that imports cython.  ``narrowphase/impact_queue.py`` is compiled
to a binary beside it, which Python prefers to the source.  `declare_kernels` writes the input of
Cython into ``build/generated``.

``ECS_COLLIDE_BUILD=pure`` compiles nothing: one wheel for every Python and platform.
``ECS_COLLIDE_BUILD=abi3`` compiles against the limited C API: one wheel for every Python from
3.11 on.  ``ECS_COLLIDE_BUILD=bounds`` compiles kernels that check each index, for tests.

The version is `__version__` of the package.  The description is the README, whose links and
pictures are made absolute from the one URL in pyproject.toml and the version's tag.
"""

import gc
import os
import re
import sys
import sysconfig
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # an isolated build does not add this folder
import declare_kernels

PACKAGE = Path("ecs_collide")
GENERATED = Path("build/generated")
SHARED = "_shared"  # what Cython would otherwise repeat in each kernel
BUILD = os.environ.get("ECS_COLLIDE_BUILD", "")
WATCHED = BUILD == "bounds"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": WATCHED,
    "initializedcheck": WATCHED,
    "wraparound": False,
    "cdivision": True,
    "auto_pickle": False,
    # Methods that Python calls: without signatures and keywords, and what runs at import is short.
    "binding": False,
    "always_allow_keywords": False,
    "emit_code_comments": WATCHED,
}
# No fused multiply-add: it would change the last bits of a result.
# No propagation of value ranges: it takes 5 % of the build, and the kernels gain nothing by it.
FLAGS = ["-g0", "-ffp-contract=off", "-fno-trapping-math", "-fno-tree-vrp"]
# Compiled with -O3.  With -O2 those with long loops take 5 to 13 % more instructions, and those
# that resolve impacts 4 % more time in a crowd; others gain nothing by it.
LONG_LOOPS = {"id_map", "nodes", "pair_cache", "reader", "rebuild"}
RESOLVERS = {
    "bodies", "closing", "clusters", "impact_loop", "impact_state", "pair_table", "solver",
    "timeline",
}  # fmt: skip
# Compiled with -O1, in half the time: what few steps call, or for few bodies.
SELDOM = {"attachments", "depenetration", "edges", "sleeping"}


def read_version(package: Path = PACKAGE) -> str:
    """Return the version that the package states."""
    text = (package / "__init__.py").read_text("utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.M)[1]


def read_url(project: Path = Path("pyproject.toml")) -> str:
    """Return the only URL of the project, that of its repository."""
    (url,) = tomllib.loads(project.read_text("utf-8"))["project"]["urls"].values()
    return url


def with_absolute_links(page: str, url: str, version: str) -> str:
    """Return a page of Markdown whose relative links and pictures lead to the tag of a version.

    Code blocks, links within the page and absolute links stay as they are.
    """
    parts = re.split(r"(^```.*?^```$)", page, flags=re.M | re.S)
    for n in range(0, len(parts), 2):
        parts[n] = re.sub(
            r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)",
            lambda m: f"{m[1]}{m[2]}({url}/{'raw' if m[1] else 'blob'}/v{version}/{m[3]})",
            parts[n],
        )
    return "".join(parts)


if __name__ == "__main__":
    import setuptools
    from setuptools.command.build_ext import build_ext

    class BuildKernels(build_ext):
        """Translate all kernels in processes, then compile them in threads."""

        def finalize_options(self) -> None:
            """Use all cores unless told otherwise, and strip what is not built in place."""
            super().finalize_options()
            self.parallel = self.parallel or os.cpu_count() or 1
            if sys.platform == "linux" and not self.inplace:
                for extension in self.extensions:
                    extension.extra_link_args.append("-Wl,--strip-all")

        def build_extensions(self) -> None:
            """Translate and compile each kernel that has changed, or that uses a changed one."""
            from Cython.Build import cythonize

            # Syntax trees are large and refer to each other: collected less often, they take a
            # quarter less time, and at most 130 MB more.
            gc.set_threshold(1_000_000)
            translated = cythonize(
                self.extensions,
                include_path=[str(GENERATED)],
                nthreads=self.parallel,
                force=bool(self.force),
                quiet=self.verbose == 0,
                compiler_directives=DIRECTIVES,
                shared_utility_qualified_name=f"{PACKAGE}.{SHARED}",
            )
            for extension, with_c in zip(self.extensions, translated, strict=True):
                extension.sources = with_c.sources  # of cythonize()'s copy, which is not optional
            # The longest first: the last one then keeps no core waiting.
            self.extensions.sort(key=lambda one: -Path(one.sources[0]).stat().st_size)
            super().build_extensions()

    def level_for(source: Path) -> str:
        """Return how much the compiler is to optimize; Cython's own code (.c) need not be fast."""
        if source.suffix == ".c" or source.stem in SELDOM:
            return "-O1"
        return "-O3" if source.stem in LONG_LOOPS | RESOLVERS else "-O2"

    def kernel(source: Path) -> setuptools.Extension:
        """Return what to compile: optional, as the kernel runs as Python where no compiler is."""
        return setuptools.Extension(
            ".".join(source.with_suffix("").parts),
            [(GENERATED / source).as_posix()],
            include_dirs=["."],  # headers are named from here
            depends=["setup.py"],
            extra_compile_args=[level_for(source), *FLAGS],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if BUILD == "abi3" else [],
            py_limited_api=BUILD == "abi3",
            optional=True,
        )

    if BUILD not in ("", "pure", "abi3", "bounds"):
        raise SystemExit(f"ECS_COLLIDE_BUILD={BUILD}: must be pure, abi3 or bounds, or not be set")
    if BUILD == "abi3" and sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise SystemExit(
            "ECS_COLLIDE_BUILD=abi3: free-threaded Python cannot load abi3 kernels; "
            "do not set it there, or build with a Python that has a GIL"
        )
    sources = []
    if BUILD != "pure":
        declare_kernels.write(PACKAGE, GENERATED)
        sources = [PACKAGE / f"{SHARED}.c", *declare_kernels.find_kernels(PACKAGE)]
    version = read_version()
    setuptools.setup(
        version=version,
        long_description=with_absolute_links(
            Path("README.md").read_text("utf-8"), read_url(), version
        ),
        long_description_content_type="text/markdown",
        py_modules=["ecs_collide_pytest"],
        ext_modules=[kernel(source) for source in sources],
        cmdclass={"build_ext": BuildKernels},
        options={"bdist_wheel": {"py_limited_api": "cp311"}} if BUILD == "abi3" else {},
    )
