"""Find the kernels, translate them to C, compile them; describe the package for an index.

A kernel is a file of the package that imports cython.  `declare_kernels` writes the input of
Cython into ``build/generated``.  Each kernel becomes an object file, and all are linked to one
binary, ``ecs_collide/_kernels``: one file to find and to map.  Its docstring names the kernels in
the first line, and in each further one a file that they are made of and the checksum of its text.

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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))  # an isolated build does not add this folder
import declare_kernels

PACKAGE = Path("ecs_collide")
GENERATED = Path("build/generated")
SHARED = "_shared"  # what Cython would otherwise repeat in each kernel
BINARY = "_kernels"
# Its own module, beside those of the kernels.
INDEX = """#include <Python.h>
static PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef kernels = {PyModuleDef_HEAD_INIT, "_kernels", "NAMES", 0, NULL, slots};
PyMODINIT_FUNC PyInit__kernels(void) { return PyModuleDef_Init(&kernels); }
"""
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
# In the source of a kernel, with the reason; the others are compiled with -O2.
LEVEL = re.compile(r"^# Compiled with (-O\d)", re.M)


def read_version(package: Path = PACKAGE) -> str:
    """Return the version that the package states."""
    text = (package / "__init__.py").read_text("utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.M)[1]


def read_url(project: Path = Path("pyproject.toml")) -> str:
    """Return the address of the repository."""
    url: str = tomllib.loads(project.read_text("utf-8"))["project"]["urls"]["Repository"]
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
    from setuptools.errors import CompileError
    from setuptools.modified import newer_group

    class BuildKernels(build_ext):
        """Translate all kernels in processes, compile them in threads, and link one binary."""

        def finalize_options(self) -> None:
            """Use all cores unless told otherwise."""
            super().finalize_options()
            self.parallel = self.parallel or os.cpu_count() or 1

        def build_extension(self, binary: setuptools.Extension) -> None:
            """Build the binary; without a compiler, fail before anything is translated."""
            self.probe_compiler()
            checksums = declare_kernels.write(PACKAGE, GENERATED)
            kernels = self.translate()
            # The longest first: the last one then keeps no core waiting.
            kernels.sort(key=lambda kernel: -Path(kernel.sources[0]).stat().st_size)
            with ThreadPoolExecutor(self.parallel) as threads:
                objects = list(threads.map(self.compile, kernels))
            names = [kernel.name.removeprefix(f"{PACKAGE}.") for kernel in kernels]
            index = GENERATED / PACKAGE / f"{BINARY}.c"
            lines = [f"{path} {checksum}" for path, checksum in checksums.items()]
            told = "\\n".join([" ".join(sorted(names)), *lines])
            index.write_text(INDEX.replace("NAMES", told), "utf-8")
            objects.append(self.compile(setuptools.Extension(binary.name, [index.as_posix()])))
            strip = sys.platform == "linux" and not self.inplace
            self.compiler.link_shared_object(
                objects,
                self.get_ext_fullpath(binary.name),
                libraries=self.get_libraries(binary),
                extra_postargs=["-Wl,--strip-all"] if strip else [],
                export_symbols=self.get_export_symbols(binary),
                target_lang="c",
            )

        def probe_compiler(self) -> None:
            """Raise CompileError, in one sentence, where no C file can be compiled."""
            with TemporaryDirectory() as folder:
                probe = Path(folder, "probe.c")
                probe.write_text("#include <Python.h>\n", "utf-8")
                try:
                    self.compiler.compile([str(probe)], output_dir=folder)
                except CompileError:
                    raise CompileError(
                        "there is no C compiler with the headers of Python: ecs_collide is "
                        "installed without its compiled kernels; its results are the same, its "
                        "steps take longer"
                    ) from None

        def translate(self) -> list[setuptools.Extension]:
            """Translate each kernel that has changed, or that uses a changed one, to C."""
            from Cython.Build import cythonize

            # Syntax trees are large and refer to each other.  Never collected, they take a third
            # less time, and 1.1 GB, shared by the processes.
            gc.disable()
            sources = {f"{PACKAGE}.{SHARED}": PACKAGE / f"{SHARED}.c"}
            for kernel in declare_kernels.find_kernels(PACKAGE):
                name = ".".join(kernel.with_suffix("").parts)
                sources[name] = declare_kernels.source_of(name)
            return cythonize(
                [
                    setuptools.Extension(name, [(GENERATED / source).as_posix()])
                    for name, source in sources.items()
                ],
                include_path=[str(GENERATED)],
                nthreads=self.parallel,
                force=bool(self.force),
                quiet=self.verbose == 0,
                compiler_directives=DIRECTIVES,
                shared_utility_qualified_name=f"{PACKAGE}.{SHARED}",
            )

        def compile(self, kernel: setuptools.Extension) -> str:
            """Return the object file of a kernel, compiled if its C or a header has changed."""
            (source,) = kernel.sources
            (path,) = self.compiler.object_filenames([source], output_dir=self.build_temp)
            if self.force or newer_group([source, *kernel.depends, "setup.py"], path):
                self.compiler.compile(
                    [source],
                    output_dir=self.build_temp,
                    include_dirs=["."],  # headers are named from here
                    macros=[("Py_LIMITED_API", "0x030B0000")] if BUILD == "abi3" else [],
                    extra_postargs=self.flags_for(Path(source)),
                )
            return path

        def flags_for(self, source: Path) -> list[str]:
            """Return the flags of a compiler: Microsoft's has one level for all."""
            if self.compiler.compiler_type == "msvc":
                return ["/O2", "/fp:precise"]
            return [level_for(source), *FLAGS]

    def level_for(source: Path) -> str:
        """Return how much the compiler is to optimize; Cython's own code need not be fast."""
        kernel = source.with_suffix(".py")
        if not kernel.exists():
            return "-O1"
        stated = LEVEL.search(kernel.read_text("utf-8"))
        return stated[1] if stated else "-O2"

    if BUILD not in ("", "pure", "abi3", "bounds"):
        raise SystemExit(f"ECS_COLLIDE_BUILD={BUILD}: must be pure, abi3 or bounds, or not be set")
    if BUILD == "abi3" and sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise SystemExit(
            "ECS_COLLIDE_BUILD=abi3: free-threaded Python cannot load abi3 kernels; "
            "do not set it there, or build with a Python that has a GIL"
        )
    version = read_version()
    # Optional: where it cannot be built, the kernels run as Python.
    binary = setuptools.Extension(
        f"{PACKAGE}.{BINARY}", [], optional=True, py_limited_api=BUILD == "abi3"
    )
    setuptools.setup(
        version=version,
        long_description=with_absolute_links(
            Path("README.md").read_text("utf-8"), read_url(), version
        ),
        long_description_content_type="text/markdown",
        py_modules=["ecs_collide_pytest"],
        ext_modules=[] if BUILD == "pure" else [binary],
        cmdclass={"build_ext": BuildKernels},
        options={"bdist_wheel": {"py_limited_api": "cp311"}} if BUILD == "abi3" else {},
    )
