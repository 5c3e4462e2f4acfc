"""Write the input of Cython for each kernel, from the kernel's source alone.

A kernel is a module that runs both as Python and compiled.  Its first import, ``from
ecs_collide._kernel import cython``, marks it, and ordinary annotations declare its C types:

================================================  =================================================
in the source                                     for Cython
================================================  =================================================
``n: cython.int`` in a class                      a field; `Public` and `ReadOnly` show it to Python
a C type after ``->``                             a C function; `kernel_inference` finds if it may
                                                  raise, so that its callers test for an exception;
                                                  then one of ``cython.void`` returns 0, or -1
``@cython.ccall``                                 a C function that Python can call too
``@cython.cfunc``                                 a C function that returns an object
also ``@cython.inline``                           inline, in other kernels too
``def _some`` in a class                          inline, if the C compiler finds it small enough
``@struct`` before a class                        a C struct
``class Some(set)`` or ``(dict)``                 a class of Python, with compiled methods
``NAME = 3`` or ``NAME: cython.longlong = 3``     a C constant
``NAME = 3`` in an ``IntFlag`` or ``IntEnum``     a C constant, used as ``Kind.NAME``
``for n in range(m)``                             a loop over a C number of the type of ``m``
an import from a kernel                           an import by C names, as far as it declares them
an import from a module beside a ``.pxd``         the functions of a C header
a type from another module                        a Python object
================================================  =================================================

For ``motion/bodies.py`` this writes three files below ``build/generated``:

- ``bodies/ecs_collide/motion/bodies.py`` has the source's lines under the same numbers, without the
  declarations, and with the types of loop variables behind docstrings.
- ``bodies.pxd`` beside it has all declarations, for the compilation of this kernel.
- ``ecs_collide/motion/bodies.pxd`` is for other kernels.  It leaves out methods whose names no
  other kernel uses; they are the last ones in both.

A file whose text stays the same is not written again.  So a kernel is compiled again only if its
source, or a declaration for it, has changed.
"""

from __future__ import annotations

import ast
import hashlib
import math
import re
import textwrap
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from kernel_inference import Inference

HEAD = re.compile(r"^from (\w+)\._kernel import .*\bcython\b", re.M)
HEADER_FUNCTION = re.compile(r"^    (\w[\w ]*?)[ *]+(\w+)\(([^()]*)\) ?(\w*)", re.M)
OBJECTS = ("object", "list", "tuple", "bytes")  # in headers
C_NAMES = {
    "longlong": "long long", "ulonglong": "unsigned long long", "schar": "signed char",
    "uint": "unsigned int", "p_double": "double*", "p_float": "float*", "p_int": "int*",
    "p_longlong": "long long*", "p_void": "void*",
}  # fmt: skip
PYTHON_TYPES = {
    "int": "object",
    "bool": "object",
    "Any": "object",
    "None": "object",
    "float": "double",
}
MARKS = {"Public": "public ", "ReadOnly": "readonly "}


class DeclarationError(Exception):
    """A kernel declares something that cannot be compiled."""


@dataclass
class Function:
    """The declaration of a C function in a .pxd."""

    node: ast.FunctionDef
    kind: str  # "cdef" or "cpdef"
    result: str
    raises: str  # what follows the arguments
    is_inline: bool

    def let_raise(self) -> None:
        """Let callers test for an exception, if it returns a C type."""
        if not self.raises:
            return  # callers of one that returns an object do
        if self.result != "void":
            self.raises = " except? NULL" if self.result.endswith("*") else " except? -1"
        elif self.kind == "cpdef":
            self.raises = " except *"  # Python would get the 0
        else:
            self.result, self.raises = "int", " except -1"  # instead of asking Python

    @property
    def returns_zero(self) -> bool:
        """Return whether it returns nothing in the source and 0 in C, -1 with an exception."""
        return self.raises == " except -1"

    @property
    def is_in_pxd(self) -> bool:
        """Return whether a .pxd has its body too, so that other kernels call it inline."""
        return self.is_inline and self.kind == "cdef" and not self.node.name.startswith("_")

    def declaration(self, arguments: str) -> str:
        """Return the line of a .pxd."""
        is_inline = self.is_inline or self.node.name.startswith("_")
        kind = "cdef inline" if is_inline and self.kind == "cdef" else self.kind
        return f"{kind} {self.result} {self.node.name}({arguments}){self.raises}"


@dataclass
class Kernel:
    """The declarations in the source of a kernel."""

    name: str
    path: Path
    text: str
    tree: ast.Module
    constants: dict[str, tuple[str, int | float]] = field(default_factory=dict)
    enums: set[str] = field(default_factory=set)  # whose members are constants: own and imported
    structs: dict[str, ast.ClassDef] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    methods: dict[str, dict[str, Function]] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)  # C functions that other kernels call
    nodes: list[ast.AST] = field(default_factory=list)  # all of the tree

    def __post_init__(self) -> None:
        """List the nodes once; they are gone through several times."""
        self.nodes = list(ast.walk(self.tree))

    def fail(self, node: ast.AST, message: str) -> DeclarationError:
        """Return the error for a place in the source."""
        return DeclarationError(f"{self.path}:{getattr(node, 'lineno', 1)}: {message}")


def find_kernels(package: Path) -> list[Path]:
    """Return the sources of all kernels."""
    return [path for path in sorted(package.rglob("*.py")) if HEAD.search(path.read_text("utf-8"))]


def generate(package: Path) -> dict[str, str]:
    """Return the text of each generated file, by its path below the folder for such files.

    Raises
    ------
    DeclarationError
        A kernel declares something that cannot be compiled; the message has its file and line.
    """
    return Declarations(package).files()


def write(package: Path, folder: Path) -> dict[str, int]:
    """Write the generated files into a folder, and remove files of kernels that no longer exist.

    Return the checksum of each file of the package that the kernels are made of, by its path.
    """
    declarations = Declarations(package)
    files = declarations.files()
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    for path in [*folder.rglob("*.p*"), *folder.rglob("*.c")]:
        source = path.with_suffix(".py") if path.suffix == ".c" else path
        is_of_all = path.name.startswith("_")
        if not is_of_all and source.relative_to(folder).as_posix() not in files:
            path.unlink()
    return declarations.checksums()


class Declarations:
    """All kernels of a package, and the modules that they take constants from."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self.kernels: dict[str, Kernel] = {}
        self.numbers: dict[str, dict[str, tuple[str, int | float]]] = {}  # by module
        for path in find_kernels(package):
            text = path.read_text("utf-8")
            name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
            self.kernels[name] = Kernel(name, path, text, ast.parse(text))
        for kernel in self.kernels.values():
            self._read(kernel)
        for kernel in self.kernels.values():
            for module, alias in self.imports(kernel):
                if module in self.kernels and alias.name in self.kernels[module].functions:
                    self.kernels[module].exported.add(alias.name)
        self.bases = {
            ast.unparse(base)
            for kernel in self.kernels.values()
            for node in kernel.classes.values()
            for base in node.bases
        }
        self.members = {name: _members_in(kernel.nodes) for name, kernel in self.kernels.items()}
        self.inference = Inference(self)
        for key in self.inference.reasons:
            self.function(key).let_raise()

    def files(self) -> dict[str, str]:
        """Return the text of each generated file."""
        pxds, own, sources = {}, {}, {}
        for kernel in self.kernels.values():
            names = self._used_elsewhere(kernel)
            pxds[kernel.name] = self._pxd(kernel, names, is_own=False)
            own[kernel.name] = self._pxd(kernel, names, is_own=True)
            sources[kernel.name] = self._source(kernel)
        for module, numbers in self.numbers.items():
            if numbers and module not in self.kernels:
                pxds[module] = "\n".join(self._constants(numbers)) + "\n"
        headers = {
            path.relative_to(self.package.parent).as_posix(): path.read_text("utf-8")
            for kind in ("*.pxd", "*.h")
            for path in sorted(self.package.rglob(kind))
        }
        files = {"/".join(name.split(".")) + ".pxd": text for name, text in pxds.items()}
        files |= {name: text for name, text in headers.items() if name.endswith(".pxd")}
        for name, text in sources.items():
            used = sorted(self._used_by(name))
            parts = [text, own[name], *(pxds[each] for each in used if each in pxds)]
            parts += [headers[each] for each in sorted(self._headers_of(used, headers))]
            digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
            source = source_of(name)
            files[source.as_posix()] = text.replace("DIGEST", f'"{digest}"', 1)
            files[source.with_suffix(".pxd").as_posix()] = own[name]
        for folder in {Path(name).parent for name in list(files)}:
            for each in [folder, *folder.parents]:
                if self.package.name in each.parts:
                    files[(each / "__init__.py").as_posix()] = ""
        return files

    def checksums(self) -> dict[str, int]:
        """Return the checksum of each file that the kernels are made of, by its path."""
        names = [name for name, numbers in self.numbers.items() if numbers]
        files = [
            self.package.parent.joinpath(*name.split(".")).with_suffix(".py") for name in names
        ]
        files += [kernel.path for kernel in self.kernels.values()]
        files += [*self.package.rglob("*.pxd"), *self.package.rglob("*.h")]
        return {
            path.relative_to(self.package).as_posix(): zlib.crc32(path.read_bytes())
            for path in sorted({*files})
        }

    def _used_elsewhere(self, kernel: Kernel) -> set[str]:
        """Return the names of members that other kernels use, if only of another class."""
        found = [names for name, names in self.members.items() if name != kernel.name]
        for functions in [kernel.functions, *kernel.methods.values()]:
            for each in functions.values():
                if each.is_in_pxd:
                    found.append(_members_in(list(ast.walk(each.node))))
        return set().union(*found)

    def _used_by(self, name: str) -> set[str]:
        """Return the modules whose declarations the compilation of a kernel uses."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            module = waiting.pop()
            if module not in found and module.startswith(f"{self.package.name}."):
                found.add(module)
                if module in self.kernels:
                    waiting += [other for other, _ in self.imports(self.kernels[module])]
        return found

    def _headers_of(self, modules: list[str], headers: dict[str, str]) -> set[str]:
        """Return the files that declare C headers for some modules, and the headers."""
        found: set[str] = set()
        waiting = ["/".join(module.split(".")) + ".pxd" for module in modules]
        while waiting:
            name = waiting.pop()
            if name in headers and name not in found:
                found.add(name)
                for other in re.findall(r'"([\w/]+\.h)"', headers[name]):
                    waiting += [other, (Path(name).parent / other).as_posix()]
        return found

    # Reading a source

    def imports(self, kernel: Kernel) -> list[tuple[str, ast.alias]]:
        """Return what a kernel imports: module and name."""
        return [
            (node.module, alias)
            for node in kernel.tree.body
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        ]

    def _read(self, kernel: Kernel) -> None:
        kernel.constants = self._numbers_in(kernel.name)
        kernel.enums = set(_members_by_enum(kernel.constants))
        for module, alias in self.imports(kernel):
            if alias.name in _members_by_enum(self._numbers_in(module)):
                kernel.enums.add(alias.name)
                if alias.asname:
                    raise kernel.fail(alias, f"{alias.name} is an enum: import it by its name")
        for node in kernel.tree.body:
            if isinstance(node, ast.ClassDef) and not _is_enum(node) and not _is_of_python(node):
                if "struct" in _decorators(node):
                    kernel.structs[node.name] = node
                    continue
                kernel.classes[node.name] = node
                kernel.methods[node.name] = {
                    each.name: function
                    for each in node.body
                    if isinstance(each, ast.FunctionDef)
                    and (function := self._function(kernel, each))
                }
            elif isinstance(node, ast.FunctionDef) and (function := self._function(kernel, node)):
                kernel.functions[node.name] = function

    def _function(self, kernel: Kernel, node: ast.FunctionDef) -> Function | None:
        """Return the declaration of a C function; None for a Python function."""
        marks = _decorators(node)
        is_c_type = node.returns is not None and _is_of_cython(node.returns)
        if not (is_c_type or {"cython.cfunc", "cython.ccall"} & marks):
            return None
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.defaults:
            raise kernel.fail(node, f"{node.name}() is a C function: no defaults, no * and **")
        if node.name.startswith("__"):
            raise kernel.fail(node, f"{node.name}() is called by Python: it cannot return a C type")
        raises = " noexcept" if is_c_type else ""  # until `let_raise`
        kind = "cpdef" if "cython.ccall" in marks else "cdef"
        return Function(
            node, kind, self._type(kernel, node.returns), raises, "cython.inline" in marks
        )

    def _numbers_of(self, name: str, tree: ast.Module) -> dict[str, tuple[str, int | float]]:
        """Return the C type and the value of each constant of a module that is a number.

        The members of an enum stand under names like ``Has.MASS``.
        """
        values: dict[str, Any] = {}
        numbers: dict[str, tuple[str, int | float]] = {}
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                known = self._numbers_in(node.module)
                enums = _members_by_enum(known)
                values.update({a.name: known[a.name][1] for a in node.names if a.name in known})
                values.update({a.name: enums[a.name] for a in node.names if a.name in enums})
            if isinstance(node, ast.ClassDef) and _is_enum(node):
                body = ast.Module([each for each in node.body if isinstance(each, ast.Assign)], [])
                members: dict[str, int] = {}
                exec(compile(body, name, "exec"), {"__builtins__": {}, **values}, members)
                values[node.name] = SimpleNamespace(**members)
                numbers.update({f"{node.name}.{each}": ("int", members[each]) for each in members})
            if isinstance(node, ast.Assign):
                target, given = node.targets[0], node.value
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                target, given = node.target, node.value
            else:
                continue
            if not (isinstance(target, ast.Name) and target.id.isupper()):
                continue
            code = compile(ast.Expression(given), name, "eval")
            try:
                value = eval(code, {"__builtins__": {}, "float": float}, values)
            except (NameError, AttributeError, TypeError):
                continue  # not a number: arrays, types, tables
            if type(value) not in (int, float):
                continue
            values[target.id] = value
            if isinstance(node, ast.AnnAssign):
                kind = _plain_type(node.annotation)
            elif type(value) is float:
                kind = "double"
            else:
                kind = "int" if -(2**31) <= value < 2**31 else "long long"
            numbers[target.id] = kind, value
        return numbers

    def _numbers_in(self, module: str) -> dict[str, tuple[str, int | float]]:
        """Return the constants of a module; of one outside the package, none."""
        if module not in self.numbers:
            self.numbers[module] = {}
            path = self.package.parent.joinpath(*module.split(".")).with_suffix(".py")
            if module in self.kernels:
                self.numbers[module] = self._numbers_of(module, self.kernels[module].tree)
            elif module.startswith(f"{self.package.name}.") and path.exists():
                tree = ast.parse(path.read_text("utf-8"))
                self.numbers[module] = self._numbers_of(module, tree)
        return self.numbers[module]

    # Types

    def _type(self, kernel: Kernel, node: ast.expr | None) -> str:
        """Return the C type of an annotation, without the dimensions of an array."""
        if node is None:
            return "object"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = ast.parse(node.value, mode="eval").body
        if isinstance(node, ast.BinOp) and ast.unparse(node.right) == "None":
            return self._type(kernel, node.left)  # as any reference in C
        if isinstance(node, ast.Subscript):
            inner, index = node.value, node.slice
            if ast.unparse(inner) in ("cython.pointer", "cython.const"):
                return self._type(kernel, index) + "*"
            if ast.unparse(inner) in MARKS:
                return self._type(kernel, index)
            if _lengths(index):
                return self._type(kernel, inner)
            if _is_of_cython(inner):
                return f"{self._type(kernel, inner)}[{ast.unparse(index).strip('()')}]"
            return self._type(kernel, inner)  # list[int]
        if isinstance(node, ast.Attribute) and _is_of_cython(node):
            return C_NAMES.get(node.attr, node.attr)
        if isinstance(node, ast.Constant) and node.value is None:
            return "object"
        if isinstance(node, ast.Name) and node.id not in self._python_types(kernel):
            return PYTHON_TYPES.get(node.id, node.id)
        return "object"

    def _python_types(self, kernel: Kernel) -> set[str]:
        """Return the names that a kernel imports from modules that declare nothing to C."""
        return {
            alias.asname or alias.name
            for module, alias in self.imports(kernel)
            if module not in {*self.kernels, f"{self.package.name}._kernel"}
            and not self.package.parent.joinpath(*module.split(".")).with_suffix(".pxd").exists()
        }

    def _arguments(self, kernel: Kernel, node: ast.FunctionDef) -> str:
        return ", ".join(
            each.arg
            if each.annotation is None
            else f"{self._type(kernel, each.annotation)} {each.arg}"
            for each in node.args.args
        )

    # Writing declarations

    def _constants(self, numbers: dict[str, tuple[str, int | float]]) -> list[str]:
        """Return the declarations of constants: enumerations, and C expressions for the others."""
        enums = [
            f"    {name.replace('.', '_')} = {value}"
            for name, (kind, value) in numbers.items()
            if kind == "int"
        ]
        others = [
            f'    const {kind} {name} "(({kind}){_literal(value)})"'
            for name, (kind, value) in numbers.items()
            if kind != "int"
        ]
        return [
            *(["cdef enum:", *enums] if enums else []),
            *(['cdef extern from "math.h":', *others] if others else []),
        ]

    def _fields(self, kernel: Kernel, node: ast.ClassDef, before: str) -> list[str]:
        fields = []
        for each in node.body:
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                mark = ""
                if isinstance(each.annotation, ast.Subscript):
                    mark = MARKS.get(ast.unparse(each.annotation.value), "")
                kind = self._type(kernel, each.annotation)
                sizes = _sizes(each.annotation)
                fields.append(f"    {before}{mark}{kind} {each.target.id}{sizes}")
        return fields

    def _pxd(self, kernel: Kernel, used: set[str], is_own: bool) -> str:
        """Return the declarations of a kernel, for its own compilation or for other kernels."""
        methods = {}
        for owner, functions in kernel.methods.items():
            names = sorted(functions, key=lambda name: name not in used)
            n_used = len(used & functions.keys())
            # The table of methods is a field: a class has it in both, or in neither.
            is_whole = is_own or owner in self.bases or not n_used
            methods[owner] = names if is_whole else names[:n_used]
        lines = ["cimport cython", *self._cimports(kernel, methods)]
        lines += self._constants(kernel.constants)
        for name, node in kernel.structs.items():
            lines += [f"cdef struct {name}:", *self._fields(kernel, node, "")]
        for name, node in kernel.classes.items():
            inherited = self._inherited(kernel, node)
            lines += ["@cython.final"] if "cython.final" in _decorators(node) else []
            bases = f"({', '.join(ast.unparse(base) for base in node.bases)})" if node.bases else ""
            body = self._fields(kernel, node, "cdef ")
            for each in methods[name]:
                if each not in inherited:
                    function = kernel.methods[name][each]
                    body += ["    " + line for line in self._declared(kernel, function)]
            lines += [f"cdef class {name}{bases}:", *(body or ["    pass"])]
        for name in sorted(kernel.exported):
            lines += self._declared(kernel, kernel.functions[name])
        return "\n".join(lines) + "\n"

    def _declared(self, kernel: Kernel, function: Function) -> list[str]:
        """Return the lines that declare a C function, with its body if others call it inline."""
        declared = function.declaration(self._arguments(kernel, function.node))
        if not function.is_in_pxd:
            return [declared]
        lines = kernel.text.split("\n")
        self._name_members(kernel, lines)
        if function.returns_zero:
            _return_zero(function.node, lines)
        n_before = int(ast.get_docstring(function.node) is not None)
        first = function.node.body[n_before].lineno
        body = textwrap.dedent("\n".join(lines[first - 1 : _end(function.node)]))
        body = "\n".join([*self._loops(function.node), body])
        return [f"{declared}:", *textwrap.indent(body, "    ").split("\n")]

    def _cimports(self, kernel: Kernel, methods: dict[str, list[str]]) -> list[str]:
        """Return the imports of the types that the declarations name."""
        named: set[str] = set()
        for node in [*kernel.structs.values(), *kernel.classes.values()]:
            parts: list[ast.AST | None] = list(node.bases)
            parts += [each.annotation for each in node.body if isinstance(each, ast.AnnAssign)]
            for function in (
                kernel.methods[node.name][name] for name in methods.get(node.name, ())
            ):
                parts += [function.node.returns]
                parts += [each.annotation for each in function.node.args.args]
                parts += function.node.body if function.is_in_pxd else []
            named.update(_names_in(parts))
        for name in kernel.exported:
            function = kernel.functions[name]
            named.update(_names_in([function.node.returns]))
            named.update(_names_in([each.annotation for each in function.node.args.args]))
            named.update(_names_in(function.node.body if function.is_in_pxd else []))
        members = self._name_members(kernel, kernel.text.split("\n"))
        return [
            f"from {module} cimport {', '.join(sorted(members.get(alias.name, (alias.name,))))}"
            for module, alias in self.imports(kernel)
            if alias.name in named and self.is_c(module, alias.name)
        ]

    def _inherited(self, kernel: Kernel, node: ast.ClassDef) -> set[str]:
        """Return the names of the C methods that the bases of a class declare."""
        found: set[str] = set()
        for base in node.bases:
            name = ast.unparse(base)
            owner = (
                kernel
                if name in kernel.classes
                else next(
                    (self.kernels[m] for m, a in self.imports(kernel) if a.name == name), None
                )
            )
            if owner:
                found |= set(owner.methods[name]) | self._inherited(owner, owner.classes[name])
        return found

    def function(self, key: tuple[str, str, str]) -> Function:
        """Return a C function by its kernel, its class or "", and its name."""
        kernel, owner, name = key
        methods = self.kernels[kernel].methods
        return methods[owner][name] if owner else self.kernels[kernel].functions[name]

    def constants_of(self, module: str) -> dict[str, tuple[str, int | float]]:
        """Return the C constants of a module: type and value."""
        return self._numbers_in(module)

    def header_functions(self) -> dict[str, tuple[bool, list[bool]]]:
        """Return by name what C headers declare: if it may raise, and if arguments are objects."""
        found: dict[str, tuple[bool, list[bool]]] = {}
        for path in sorted(self.package.rglob("*.pxd")):
            for result, name, given, end in HEADER_FUNCTION.findall(path.read_text("utf-8")):
                kinds = [each.split()[0] for each in given.split(",") if each.strip()]
                may_raise = result.split()[-1] in OBJECTS or end.startswith("except")
                found[name] = may_raise, [kind in OBJECTS for kind in kinds]
        return found

    def _is_header(self, module: str) -> bool:
        return self.package.parent.joinpath(*module.split(".")).with_suffix(".pxd").exists()

    def is_c(self, module: str, name: str) -> bool:
        """Return whether a name of a module has a C declaration."""
        if module in self.kernels:
            kernel = self.kernels[module]
            enums = _members_by_enum(kernel.constants)
            return any(
                name in names
                for names in (
                    kernel.constants, enums, kernel.structs, kernel.classes, kernel.functions,
                )
            )  # fmt: skip
        numbers = self._numbers_in(module)
        is_constant = name in numbers or name in _members_by_enum(numbers)
        return is_constant or self._is_header(module)

    # Writing a source

    def _source(self, kernel: Kernel) -> str:
        """Return the lines of a source under the same numbers, without its declarations."""
        lines = kernel.text.split("\n")

        def replace(first: int, last: int, text: str = "") -> None:
            lines[first - 1 : last] = [text] + [""] * (last - first)

        members = self._name_members(kernel, lines)
        self._declare_loops(kernel, lines)
        for node in kernel.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                if node.module == f"{self.package.name}._kernel":
                    replace(node.lineno, _end(node), "import cython; __digest__ = DIGEST")
                else:
                    replace(node.lineno, _end(node), self._import(node, members))
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(target, ast.Name) and target.id in kernel.constants:
                    replace(node.lineno, _end(node))
            elif isinstance(node, ast.ClassDef) and _is_enum(node):
                replace(_first(node), _end(node))
            elif isinstance(node, ast.ClassDef) and node.name in kernel.structs:
                replace(node.decorator_list[0].lineno, _end(node))
            elif isinstance(node, ast.ClassDef) and node.name in kernel.classes:
                kept = [*(ast.unparse(each) for each in node.decorator_list), "cython.cclass"]
                self._write_above(kernel, node, lines, kept)
                for each in node.body:
                    if isinstance(each, ast.AnnAssign):
                        replace(each.lineno, _end(each))
                    elif function := kernel.methods[node.name].get(getattr(each, "name", "")):
                        if function.is_in_pxd:
                            replace(_first(function.node), _end(each))
                        else:
                            self._decorate(kernel, function, lines, is_declared=True)
            elif isinstance(node, ast.FunctionDef) and node.name in kernel.functions:
                function = kernel.functions[node.name]
                is_declared = node.name in kernel.exported
                if is_declared and function.is_in_pxd:
                    replace(_first(node), _end(node))
                else:
                    self._decorate(kernel, function, lines, is_declared)
        return "\n".join(lines)

    def _loops(self, node: ast.FunctionDef) -> list[str]:
        """Return the declarations of the loop variables of a function."""
        return [f"{name}: cython.{kind}" for name, kind in self.inference.loops(node).items()]

    def _declare_loops(self, kernel: Kernel, lines: list[str]) -> None:
        """Declare the variables of loops behind the docstring of each function."""
        for node in kernel.nodes:
            if isinstance(node, ast.FunctionDef) and (loops := self._loops(node)):
                first = node.body[0]
                if not ast.get_docstring(node):
                    raise kernel.fail(node, f"{node.name} needs a docstring, or `{loops[0]}`")
                at, line = _end(first) - 1, lines[_end(first) - 1].encode()
                head, rest = line[: first.end_col_offset], line[first.end_col_offset or 0 :]
                lines[at] = (head + "".join(f"; {each}" for each in loops).encode() + rest).decode()

    def _name_members(self, kernel: Kernel, lines: list[str]) -> dict[str, set[str]]:
        """Write ``Has.MASS`` as the C constant ``Has_MASS``; return the names used, by enum."""
        used: dict[str, set[str]] = {name: set() for name in kernel.enums}
        known = {*kernel.constants}
        for module, _ in self.imports(kernel):
            known.update(self._numbers_in(module))
        for node in kernel.nodes:
            if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
                continue
            enum, number = node.value.id, node.value.end_lineno or 0
            if enum in used:
                if ast.unparse(node) not in known:
                    raise kernel.fail(node, f"{enum} has no member {node.attr}")
                line = lines[number - 1].encode()  # columns of a syntax tree count bytes
                at = node.value.end_col_offset or 0
                lines[number - 1] = (line[:at] + b"_" + line[at + 1 :]).decode()
                used[enum].add(f"{enum}_{node.attr}")
        return used

    def _import(self, node: ast.ImportFrom, members: dict[str, set[str]]) -> str:
        """Return one import line for the names that a kernel uses."""
        module = node.module or ""
        if module == "math":
            module = "libc.math"
            c_names, names = node.names, []
        else:
            c_names = [alias for alias in node.names if self.is_c(module, alias.name)]
            names = [alias for alias in node.names if alias not in c_names]
        parts = []
        if c_names:
            listed = [_listed([a for a in c_names if a.name not in members])]
            listed += [", ".join(sorted(members.get(a.name, ()))) for a in c_names]
            listed = [each for each in listed if each]
            if listed:
                parts.append(f"from cython.cimports.{module} import {', '.join(listed)}")
        if names:
            parts.append(f"from {module} import {_listed(names)}")
        return "; ".join(parts)

    def _decorate(
        self, kernel: Kernel, function: Function, lines: list[str], is_declared: bool
    ) -> None:
        """Write the decorators of a C function onto its own and the blank lines above it."""
        node = function.node
        ours = {"cython.cfunc", "cython.ccall", "cython.inline"}
        kept = [each for each in map(ast.unparse, node.decorator_list) if each not in ours]
        if not is_declared or function.is_inline:
            kept.append("cython.cfunc" if function.kind == "cdef" else "cython.ccall")
            if function.raises == " noexcept":
                kept.append("cython.exceptval(check=False)")
            elif function.raises == " except? -1":
                kept.append("cython.exceptval(-1)")
            elif function.returns_zero:
                kept.append("cython.exceptval(-1, check=False)")
        if function.is_inline:
            kept.append("cython.inline")
        self._write_above(kernel, node, lines, kept)
        if function.returns_zero:
            _return_zero(node, lines)

    def _write_above(
        self,
        kernel: Kernel,
        node: ast.FunctionDef | ast.ClassDef,
        lines: list[str],
        decorators: list[str],
    ) -> None:
        """Write decorators onto those of a source and onto blank lines above them."""
        own = _first(node)
        first = node.lineno - len(decorators)
        if any(line.strip() for line in lines[first - 1 : own - 1]):
            raise kernel.fail(node, f"{node.name} needs {own - first} blank lines above it")
        for number in range(own, node.lineno):
            lines[number - 1] = ""
        indent = " " * node.col_offset
        lines[first - 1 : node.lineno - 1] = [f"{indent}@{each}" for each in decorators]


def _return_zero(node: ast.FunctionDef, lines: list[str]) -> None:
    """Let a function return a C int instead of nothing.  Cython adds the 0 at its end."""
    if node.returns is not None:
        at = node.returns.lineno - 1
        lines[at] = lines[at].replace("-> cython.void:", "-> cython.int:")
    for each in ast.walk(node):
        if isinstance(each, ast.Return) and each.value is None:
            at, column = each.lineno - 1, each.col_offset + len("return")
            lines[at] = f"{lines[at][:column]} 0{lines[at][column:]}"


def _is_enum(node: ast.ClassDef) -> bool:
    """Return whether a class is an enum of whole numbers."""
    return any(ast.unparse(base) in ("IntFlag", "IntEnum") for base in node.bases)


def _is_of_python(node: ast.ClassDef) -> bool:
    """Return whether a class stays one of Python: the limited API cannot extend its base in C."""
    return any(ast.unparse(base) in ("dict", "set") for base in node.bases)


def _members_by_enum(numbers: dict[str, tuple[str, int | float]]) -> dict[str, SimpleNamespace]:
    """Return the enums among constants, each with its members as attributes."""
    found: dict[str, SimpleNamespace] = {}
    for name, (_, value) in numbers.items():
        enum, dot, member = name.partition(".")
        if dot:
            setattr(found.setdefault(enum, SimpleNamespace()), member, value)
    return found


def source_of(name: str) -> Path:
    """Return the generated source of a kernel, below the folder for generated files."""
    parts = name.split(".")
    return Path(parts[-1], *parts).with_suffix(".py")


def _members_in(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names that stand behind a dot."""
    return {each.attr for each in nodes if isinstance(each, ast.Attribute)}


def _decorators(node: ast.ClassDef | ast.FunctionDef) -> set[str]:
    return {ast.unparse(each) for each in node.decorator_list}


def _first(node: ast.ClassDef | ast.FunctionDef) -> int:
    """Return the line of the first decorator, or of the definition."""
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _is_of_cython(node: ast.expr) -> bool:
    """Return whether an annotation is a C type."""
    return ast.unparse(node).startswith("cython.")


def _plain_type(node: ast.expr) -> str:
    """Return the C type of a constant."""
    name = ast.unparse(node).removeprefix("cython.")
    return C_NAMES.get(name, name)


def _lengths(index: ast.expr) -> list[int]:
    """Return the lengths in the annotation of a C array, ``double[2, 3]``, else an empty list."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    values = [each.value for each in parts if isinstance(each, ast.Constant)]
    return [value for value in values if isinstance(value, int)]


def _sizes(node: ast.expr) -> str:
    """Return the dimensions of a C array as C writes them, ``[2][3]``."""
    if not isinstance(node, ast.Subscript):
        return ""
    if ast.unparse(node.value) in MARKS:
        return _sizes(node.slice)
    return "".join(f"[{length}]" for length in _lengths(node.slice))


def _names_in(nodes: Sequence[ast.AST | None]) -> set[str]:
    return {
        each.id
        for node in nodes
        if node is not None
        for each in ast.walk(node)
        if isinstance(each, ast.Name)
    }


def _listed(names: list[ast.alias]) -> str:
    return ", ".join(a.name if a.asname is None else f"{a.name} as {a.asname}" for a in names)


def _literal(value: int | float) -> str:
    """Return a number as C writes it, exactly."""
    if isinstance(value, int):
        return f"{value}LL"
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return value.hex()
