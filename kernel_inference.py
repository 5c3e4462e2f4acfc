"""Find what the sources of kernels do not say: which C functions may raise, and the types of loops.

**Loops.** The variable of a loop over `range` has the C type of its bounds, `int` or `Py_ssize_t`,
unless it is declared.

**Exceptions.** A C function that does not say so swallows its exceptions.  One that does costs its
callers a test.  A function may raise if it has `raise` or `assert`; if it creates, converts or
compares Python objects; or if it calls Python, or a C function that may raise.  A method may raise
if one that overrides it does.

Errors that cannot happen do not count: a kernel has no None where it declares a list, a memoryview
or another kernel, and the step of a slice is never 0.  `build_tests/test_kernel_inference.py`
compares with the errors that Cython tests for.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

# What the type of an expression is, as far as it matters here.
NUMBER = "c:"  # a C number of any type, or a C type of a header; "c:int" is a C int
INT = "c:int"
SIZE = "c:Py_ssize_t"
OBJECT = "object"
BUILTIN = {"list", "dict", "tuple", "set", "frozenset", "str", "bytes"}
SAFE = {"abs", "min", "max", "bool", "int", "float"}  # for C numbers
SMALL = {"c:schar", "c:short"}  # Cython takes their absolute values from objects
WIDTHS = ("c:bint", *sorted(SMALL), INT, SIZE)  # whole numbers, by what C makes of two of them
ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
Key = tuple[str, str, str]  # kernel, class or "", function


@dataclass(frozen=True)
class Kind:
    """The type of an expression: a class or a struct of a kernel, or items of another type."""

    kernel: str = ""
    name: str = ""
    item: Any = None
    is_view: bool = False


Type = str | Kind


class Inference:
    """The functions of kernels, and which of them may raise.

    Parameters
    ----------
    declarations : declare_kernels.Declarations
        All kernels, read.

    Attributes
    ----------
    reasons : dict
        Why each function may raise, in words; by kernel, class and name.
    """

    def __init__(self, declarations: Any) -> None:
        self.declarations = declarations
        self.kernels = declarations.kernels
        self.reasons: dict[Key, str] = {}
        self.ranges: dict[ast.FunctionDef, dict[str, set[Type]]] = {}
        self.header_functions = declarations.header_functions()
        self._named: dict[tuple[str, str], Type] = {}  # by kernel and name
        self._origins: dict[str, dict[str, str]] = {}  # by kernel, the modules of imported names
        calls: dict[Key, set[Key]] = {}
        for key, node in self._functions():
            reader = _Reader(self, key, node)
            self.ranges[node] = reader.ranges
            if self._is_c(key):
                calls[key] = reader.calls
                if reader.reason:
                    self.reasons[key] = reader.reason
        for key, others in self._overriding():
            calls.setdefault(key, set()).update(others)
        self._spread(calls)

    def loops(self, node: ast.FunctionDef) -> dict[str, str]:
        """Return the C type of each undeclared loop variable of a function."""
        declared = {each.arg for each in node.args.args}
        declared |= {
            each.target.id
            for each in ast.walk(node)
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        }
        return {
            name: kind.removeprefix("c:")
            for name, kinds in self.ranges.get(node, {}).items()
            if name not in declared and (kind := _common([*kinds])) in (INT, SIZE)
        }

    def _functions(self) -> list[tuple[Key, ast.FunctionDef]]:
        return [
            ((kernel.name, getattr(owner, "name", ""), node.name), node)
            for kernel in self.kernels.values()
            for owner in [kernel.tree, *kernel.classes.values()]
            for node in owner.body
            if isinstance(node, ast.FunctionDef)
        ]

    def _is_c(self, key: Key) -> bool:
        """Return whether a function is one of C."""
        kernel, owner, name = key
        methods = self.kernels[kernel].methods
        return name in (methods[owner] if owner else self.kernels[kernel].functions)

    def _overriding(self) -> list[tuple[Key, set[Key]]]:
        """Return each method of a base and of a class with the same method, in both directions."""
        found = []
        for kernel in self.kernels.values():
            for owner, methods in kernel.methods.items():
                for base in self.bases(Kind(kernel.name, owner))[1:]:
                    for name in methods.keys() & self.kernels[base.kernel].methods[base.name]:
                        one, other = (base.kernel, base.name, name), (kernel.name, owner, name)
                        found += [(one, {other}), (other, {one})]
        return found

    def _spread(self, calls: dict[Key, set[Key]]) -> None:
        """Find all functions that call, at any distance, one that may raise."""
        callers: dict[Key, list[Key]] = {}
        for key, called in calls.items():
            for other in called:
                callers.setdefault(other, []).append(key)
        waiting = list(self.reasons)
        while waiting:
            key = waiting.pop()
            for caller in callers.get(key, ()):
                if caller not in self.reasons:
                    self.reasons[caller] = f"{'.'.join(part for part in key[1:] if part)}()"
                    waiting.append(caller)

    # Names and types

    def bases(self, kind: Kind) -> list[Kind]:
        """Return a class of a kernel and its bases, as far as they are of kernels."""
        found = [kind]
        kernel = self.kernels[kind.kernel]
        for base in kernel.classes[kind.name].bases if kind.name in kernel.classes else ():
            known = self.named(kernel, ast.unparse(base))
            if isinstance(known, Kind):
                found += self.bases(known)
        return found

    def named(self, kernel: Any, name: str) -> Type:
        """Return the type that a name in an annotation stands for."""
        known = self._named.get((kernel.name, name))
        if known is None:
            known = self._named[kernel.name, name] = self._find_named(kernel, name)
        return known

    def _find_named(self, kernel: Any, name: str) -> Type:
        if name in kernel.classes or name in kernel.structs:
            return Kind(kernel.name, name)
        if name in BUILTIN:
            return name
        if name == "float":
            return NUMBER
        for module, alias in self.declarations.imports(kernel):
            if (alias.asname or alias.name) == name:
                if module in self.kernels:
                    return self.named(self.kernels[module], alias.name)
                is_header = self.declarations.is_c(module, alias.name)
                return NUMBER if is_header else OBJECT
        return OBJECT

    def constant(self, kernel: Any, name: str) -> str:
        """Return the C type of a constant that a kernel has or imports; "" if it is none."""
        if name in kernel.constants:
            kind: str = kernel.constants[name][0]
            return kind
        module = self.origin(kernel, name)
        known = self.declarations.constants_of(module) if module else {}
        return known[name][0] if name in known else ""

    def origin(self, kernel: Any, name: str) -> str:
        """Return the module from which a kernel imports a name, anywhere in it; "" if none."""
        if kernel.name not in self._origins:
            self._origins[kernel.name] = {
                alias.asname or alias.name: node.module or ""
                for node in kernel.nodes
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
        return self._origins[kernel.name].get(name, "")

    def type_of(self, kernel: Any, node: ast.expr | None) -> Type:
        """Return the type of an annotation."""
        if node is None:
            return OBJECT
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.type_of(kernel, ast.parse(node.value, mode="eval").body)
        if isinstance(node, ast.BinOp) and ast.unparse(node.right) == "None":
            return self.type_of(kernel, node.left)
        if isinstance(node, ast.Subscript):
            outer = ast.unparse(node.value)
            if outer in ("Public", "ReadOnly", "cython.const"):
                return self.type_of(kernel, node.slice)
            if outer == "cython.pointer":
                return Kind(item=self.type_of(kernel, node.slice))
            inner = self.type_of(kernel, node.value)
            if any(isinstance(each, ast.Slice) for each in ast.walk(node.slice)):
                return Kind(item=inner, is_view=True)
            if inner == OBJECT or inner in BUILTIN:
                return inner
            for _ in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
                inner = Kind(item=inner)
            return inner
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if name.startswith("cython.p_"):
                return Kind(item=f"c:{name.removeprefix('cython.p_')}")
            return f"c:{node.attr}" if name.startswith("cython.") else OBJECT
        return self.named(kernel, node.id) if isinstance(node, ast.Name) else OBJECT

    def field(self, kind: Kind, name: str) -> Type | None:
        """Return the type of a field of a class or a struct; None if it has no such field."""
        for owner in self.bases(kind):
            kernel = self.kernels[owner.kernel]
            node = (kernel.structs | kernel.classes)[owner.name]
            for each in node.body:
                if isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == name:
                    return self.type_of(kernel, each.annotation)
        return None

    def method(self, kind: Kind, name: str) -> Key | None:
        """Return the C method of a class or of its bases; None if there is none."""
        for each in self.bases(kind):
            if name in self.kernels[each.kernel].methods.get(each.name, ()):
                return each.kernel, each.name, name
        return None

    def function(self, kernel: Any, name: str) -> Key | None:
        """Return the C function that a name stands for; None if there is none."""
        if name in kernel.functions:
            return kernel.name, "", name
        for module, alias in self.declarations.imports(kernel):
            if (alias.asname or alias.name) == name and module in self.kernels:
                return self.function(self.kernels[module], alias.name)
        return None


def is_compiled(test: ast.expr) -> bool | None:
    """Return the value of a condition in a compiled kernel; None if it is known only then."""
    if ast.unparse(test) == "cython.compiled":
        return True
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        value = is_compiled(test.operand)
        return None if value is None else not value
    if isinstance(test, ast.BoolOp):
        stops = isinstance(test.op, ast.Or)
        values = [is_compiled(each) for each in test.values]
        if stops in values:
            return stops
        return None if None in values else not stops
    return None


class _Reader:
    """Reads a function: why it may raise by itself, and which C functions it calls."""

    def __init__(self, inference: Inference, key: Key, node: ast.FunctionDef) -> None:
        self.inference = inference
        self.kernel = inference.kernels[key[0]]
        self.reason = ""
        self.calls: set[Key] = set()
        self.ranges: dict[str, set[Type]] = {}  # by loop variable: the types of its bounds
        self.locals: dict[str, Type] = {}
        self.returns = inference.type_of(self.kernel, node.returns)
        for each in node.args.args:
            self.locals[each.arg] = inference.type_of(self.kernel, each.annotation)
        if key[1]:
            self.locals[node.args.args[0].arg] = Kind(key[0], key[1])
        for statement in ast.walk(node):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                kind = inference.type_of(self.kernel, statement.annotation)
                self.locals[statement.target.id] = kind
        if self.returns == OBJECT or self.returns in BUILTIN:
            self._raise(node, "returns an object")
        self._block(node.body)

    def _raise(self, node: ast.AST, why: str) -> None:
        if not self.reason:
            self.reason = f"line {getattr(node, 'lineno', 0)}: {why}"

    # Statements

    def _block(self, statements: list[ast.stmt]) -> None:
        for each in statements:
            self._statement(each)
            if isinstance(each, ast.If) and (value := is_compiled(each.test)) is not None:
                taken = each.body if value else each.orelse
                if taken and isinstance(taken[-1], ENDS):
                    return  # what follows is for pure Python

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Break() | ast.Continue():
                pass
            case ast.Expr():
                self._type(node.value)
            case ast.Assign():
                for target in node.targets:
                    self._assign(target, node.value)
            case ast.AnnAssign():
                if node.value is not None:
                    self._assign(node.target, node.value)
            case ast.AugAssign():
                self._arithmetic(node, [self._type(node.target), self._type(node.value)])
            case ast.Return():
                if node.value is not None:
                    self._convert(node, self._type(node.value), self.returns)
            case ast.If() | ast.While():
                self._branches(node)
            case ast.For():
                self._loop(node)
            case _:
                self._raise(node, type(node).__name__.lower())
                for each in ast.iter_child_nodes(node):
                    if isinstance(each, ast.stmt):
                        self._statement(each)

    def _branches(self, node: ast.If | ast.While) -> None:
        value = is_compiled(node.test)
        if value is None:
            self._truth(node.test)
        if value is not False:
            self._block(node.body)
        if value is not True:
            self._block(node.orelse)

    def _loop(self, node: ast.For) -> None:
        if isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range":
            kinds = [self._type(each) for each in node.iter.args]
            for each in kinds:
                self._convert(node, each, NUMBER)
            if any(not _is_whole(each) for each in node.iter.args[2:]):
                self._raise(node, "has a range whose step is not constant")
            if isinstance(node.target, ast.Name):
                kind = _common(kinds)
                self.ranges.setdefault(node.target.id, set()).add(kind)
                self.locals.setdefault(node.target.id, kind)
        elif self._type(node.iter) in ("list", "tuple"):
            self._convert(node, OBJECT, self._type(node.target))
        else:
            self._raise(node, f"iterates over {ast.unparse(node.iter)}")
        self._block(node.body)
        self._block(node.orelse)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, other in zip(target.elts, value.elts, strict=True):
                self._assign(one, other)
            return
        if isinstance(target, ast.Tuple):
            self._raise(target, f"unpacks {ast.unparse(value)}")
            self._type(value)
            return
        found = self._type(value)
        if isinstance(target, ast.Name) and target.id not in self.locals:
            self.locals[target.id] = found
        elif isinstance(value, ast.Constant):
            self._type(target)
        else:
            self._convert(target, found, self._type(target))
        if isinstance(target, ast.Subscript) and self._type(target.value) in (OBJECT, *BUILTIN):
            self._raise(target, f"sets an item of {ast.unparse(target.value)}")

    def _convert(self, node: ast.AST, found: Type, wanted: Type) -> None:
        """Note that a value is converted to a type, or compared with it."""
        if found == wanted or (wanted == OBJECT and not _is_of_c(found)):
            return
        if OBJECT in (found, wanted) or found in BUILTIN or wanted in BUILTIN:
            self._raise(node, f"converts {_words(found)} to {_words(wanted)}")

    # Expressions

    def _truth(self, node: ast.expr) -> None:
        if isinstance(node, ast.BoolOp):
            stops = isinstance(node.op, ast.Or)
            for each in node.values:
                self._truth(each)
                if is_compiled(each) is stops:
                    return
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._truth(node.operand)
        elif self._type(node) == OBJECT:
            self._raise(node, f"asks whether {ast.unparse(node)} is true")

    def _arithmetic(self, node: ast.AST, types: list[Type]) -> None:
        for each in types:
            if not _is_of_c(each):
                self._raise(node, f"computes with {_words(each)}")

    def _type(self, node: ast.expr) -> Type:
        """Return the type of an expression, and note what in it may raise."""
        match node:
            case ast.Constant():
                if type(node.value) is int:
                    return INT
                return NUMBER if isinstance(node.value, float | bool | None) else OBJECT
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp():
                types = [self._type(node.left), self._type(node.right)]
                self._arithmetic(node, types)
                return NUMBER if isinstance(node.op, ast.Div) else _common(types)
            case ast.UnaryOp():
                if isinstance(node.op, ast.Not):
                    self._truth(node.operand)
                    return NUMBER
                found = self._type(node.operand)
                self._arithmetic(node, [found])
                return found
            case ast.BoolOp():
                self._truth(node)
                return _common([self._type(each) for each in node.values])
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp():
                value = is_compiled(node.test)
                if value is not None:
                    return self._type(node.body if value else node.orelse)
                self._truth(node.test)
                return _common([self._type(node.body), self._type(node.orelse)])
            case _:
                self._raise(node, f"makes {ast.unparse(node)}")
                return OBJECT

    def _name(self, node: ast.Name) -> Type:
        if node.id in self.locals:
            return self.locals[node.id]
        if node.id in ("True", "False", "None"):
            return NUMBER
        if kind := self.inference.constant(self.kernel, node.id):
            return f"c:{kind}"
        if isinstance(node.ctx, ast.Load):
            self._raise(node, f"finds {node.id} in the module")
        return OBJECT

    def _attribute(self, node: ast.Attribute) -> Type:
        if isinstance(node.value, ast.Name) and node.value.id in (*self.kernel.enums, "cython"):
            return INT
        owner = self._type(node.value)
        if isinstance(owner, Kind) and owner.is_view and node.attr == "shape":
            return Kind(item=SIZE)
        if owner == NUMBER:  # a struct of a C header
            return NUMBER
        if isinstance(owner, Kind) and owner.name:
            found = self.inference.field(owner, node.attr)
            if found is not None:
                return found
        self._raise(node, f"gets {ast.unparse(node)}")
        return OBJECT

    def _subscript(self, node: ast.Subscript) -> Type:
        owner = self._type(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        is_slice = any(isinstance(each, ast.Slice) for each in parts)
        for part in parts:
            bounds = [part.lower, part.upper, part.step] if isinstance(part, ast.Slice) else [part]
            for each in bounds:
                if each is not None:
                    self._convert(node, self._type(each), NUMBER)
        if isinstance(owner, Kind) and owner.item is not None:
            item: Type = owner.item
            return owner if owner.is_view and is_slice else item
        if owner == NUMBER:
            return NUMBER
        if owner in ("list", "tuple") and not is_slice:
            return OBJECT  # without a test of the index
        self._raise(node, f"gets an item of {ast.unparse(node.value)}")
        return OBJECT

    def _compare(self, node: ast.Compare) -> Type:
        operands = [node.left, *node.comparators]
        if all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            for each in operands:
                self._type(each)
        elif all(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
            (choices,) = node.comparators
            if isinstance(choices, (ast.Tuple, ast.List)):
                operands = [node.left, *choices.elts]
                self._arithmetic(node, [self._type(each) for each in operands])
            else:
                self._raise(node, f"searches {ast.unparse(choices)}")
        else:
            self._arithmetic(node, [self._type(each) for each in operands])
        return NUMBER

    def _call(self, node: ast.Call) -> Type:
        types = [self._type(each) for each in node.args]
        name = ast.unparse(node.func)
        if name.startswith("cython."):
            return self._cython_call(node, name)
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            self._raise(node, f"calls {name}() of Python")
            return OBJECT
        key = None
        if isinstance(node.func, ast.Name):
            key = self.inference.function(self.kernel, name)
            if key is None and name == "type":
                return OBJECT
            if key is None and name in SAFE | {"len"}:
                return self._call_builtin(node, name, types)
            if key is None and self._is_of_header(name):
                return self._call_header(node, name, types)
        elif isinstance(node.func, ast.Attribute):
            owner = self._type(node.func.value)
            if isinstance(owner, Kind) and owner.name:
                key = self.inference.method(owner, node.func.attr)
        if key is None:
            self._raise(node, f"calls {name}() of Python")
            return OBJECT
        return self._call_c(node, key, types)

    def _call_c(self, node: ast.Call, key: Key, types: list[Type]) -> Type:
        """Note a call of a C function, and the conversion of its arguments."""
        declared = self.inference.declarations.function(key).node
        kernel = self.inference.kernels[key[0]]
        arguments = declared.args.args[1:] if key[1] else declared.args.args
        for value, found, each in zip(node.args, types, arguments, strict=True):
            if not isinstance(value, ast.Constant):
                self._convert(node, found, self.inference.type_of(kernel, each.annotation))
        self.calls.add(key)
        result = self.inference.type_of(kernel, declared.returns)
        if result == OBJECT or result in BUILTIN:
            self._raise(node, f"calls {key[2]}()")
        return result

    def _call_header(self, node: ast.Call, name: str, types: list[Type]) -> Type:
        """Note a call of a function of a C header."""
        may_raise, takes_objects = self.inference.header_functions.get(name, (False, []))
        if may_raise:
            self._raise(node, f"calls {name}()")
        for n, found in enumerate(types):
            wants_object = n < len(takes_objects) and takes_objects[n]
            if found == OBJECT and not wants_object:
                self._convert(node, found, NUMBER)
        return NUMBER

    def _call_builtin(self, node: ast.Call, name: str, types: list[Type]) -> Type:
        if name == "len":
            if types[0] == OBJECT:
                self._raise(node, f"asks for the length of {ast.unparse(node.args[0])}")
            return SIZE
        self._arithmetic(node, types)
        if name == "abs" and types[0] in SMALL:
            self._raise(node, "takes the absolute value of a small number")
        return _common(types) if name in ("abs", "min", "max") else NUMBER

    def _cython_call(self, node: ast.Call, name: str) -> Type:
        if name == "cython.cast":
            return self.inference.type_of(self.kernel, node.args[0])
        return Kind(item=NUMBER) if name == "cython.address" else NUMBER

    def _is_of_header(self, name: str) -> bool:
        module = self.inference.origin(self.kernel, name)
        if module == "math" or module.startswith("cython.cimports."):
            return True
        is_kernel = module in self.inference.kernels
        return bool(module) and not is_kernel and self.inference.declarations.is_c(module, name)


def _is_of_c(kind: Type) -> bool:
    """Return whether a value is no Python object."""
    return _is_number(kind) or (isinstance(kind, Kind) and kind.item is not None)


def _is_number(kind: Type) -> bool:
    return isinstance(kind, str) and kind.startswith("c:")


def _common(types: list[Type]) -> Type:
    """Return the type of a value that has one of some types."""
    if all(kind in WIDTHS for kind in types):
        return max([INT, *types], key=WIDTHS.index)
    if all(map(_is_number, types)):
        return NUMBER
    return types[0] if all(kind == types[0] for kind in types) else OBJECT


def _is_whole(node: ast.expr) -> bool:
    """Return whether an expression is a whole number that is known to the compiler."""
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _words(kind: Type) -> str:
    if isinstance(kind, str):
        return "a number" if _is_number(kind) else f"a {kind}"
    return f"a {kind.name}" if kind.name else "items"
