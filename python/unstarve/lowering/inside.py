"""Looks into callables that do nothing but call others, one after the other.

A training script's preset (`def __call__(self, img): return self.transforms(img)`), a function or a
lambda is what it calls. Its source is read, and counts only where compiling it gives the very code
that would run. Nothing of it is run.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from unstarve.lowering.originals import is_plain


class AsRgb:
    """`image.convert("RGB")`."""

    def __call__(self, image: Any) -> Any:
        return image.convert("RGB")

    def __repr__(self) -> str:
        return 'convert("RGB")'


def steps_within(part: Any) -> list[Any] | None:
    """The callables that `part` hands its image to, each what the one before gave; None where it
    does, or may do, anything else."""
    function, owner = function_of(part)
    if function is None or function.__code__.co_flags & UNREADABLE:
        return None
    node = source_of(function.__code__)
    if node is None:
        return None
    try:
        return Reader(function, owner).steps(node)
    except Unclear:
        return None


#: Flags of code that does more than run from its first line to a return.
UNREADABLE = (
    inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_VARARGS
)


_PLAIN_GET = vars(object)["__getattribute__"]


class Unclear(Exception):  # noqa: N818 (an answer, not a failure)
    """It does something else, or nobody can tell."""


def function_of(part: Any) -> tuple[FunctionType | None, Any]:
    """The function that runs when `part` is called, and its first argument; None: nothing of
    Python, or a class that may do more."""
    if isinstance(part, FunctionType):
        return part, None
    if isinstance(part, MethodType):
        function = part.__func__
        return (function, part.__self__) if isinstance(function, FunctionType) else (None, None)
    kind = type(part)
    if _in_class(kind, "__getattribute__") is not _PLAIN_GET or not is_plain(part):
        return None, None
    function = _in_class(kind, "__call__")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(part, torch.nn.Module):
        if function is not torch.nn.Module.__call__:
            return None, None
        function = _in_class(kind, "forward")
    return (function, part) if isinstance(function, FunctionType) else (None, None)


def _in_class(kind: type, name: str) -> Any:
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def source_of(code: CodeType) -> ast.FunctionDef | ast.Lambda | None:
    """Its syntax; None where the file is not there, or no more what was compiled."""
    lines = linecache.getlines(code.co_filename)
    found = _functions_of("".join(lines), code.co_filename) if lines else {}
    candidates = found.get((code.co_firstlineno, code.co_name), [])
    if len(candidates) != 1 or not _is_same(candidates[0][1], code):
        return None
    return candidates[0][0]


_Found = dict[tuple[int, str], list[tuple["ast.FunctionDef | ast.Lambda", CodeType]]]


@functools.lru_cache(maxsize=16)
def _functions_of(source: str, file: str) -> _Found:
    """By first line and name: the syntax and the code of each function."""
    try:
        tree = ast.parse(source)
        compiled = compile(source, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return {}
    nodes: dict[tuple[int, str], list[ast.FunctionDef | ast.Lambda]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            nodes.setdefault((node.lineno, getattr(node, "name", "<lambda>")), []).append(node)
    codes: dict[tuple[int, str], list[CodeType]] = {}
    for code in _codes_in(compiled):
        codes.setdefault((code.co_firstlineno, code.co_name), []).append(code)
    return {
        key: [(of_key[0], codes[key][0])]
        for key, of_key in nodes.items()
        if len(of_key) == 1 and len(codes.get(key, ())) == 1
    }


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)


def _is_same(first: CodeType, second: CodeType) -> bool:
    return all(
        getattr(first, name) == getattr(second, name)
        for name in ("co_code", "co_names", "co_varnames", "co_freevars", "co_consts")
    )


class Reader:
    """Goes through one function. The image is whatever the last step gave: an earlier one that is
    used again would be a second image."""

    def __init__(self, function: FunctionType, owner: Any) -> None:
        self._function = function
        self._owner = owner
        arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
        self._self_name = arguments[0] if owner is not None and arguments else ""
        self._steps: list[Any] = []
        #: By name of a local: which image it is, the number of steps behind it.
        self._images: dict[str, int] = {}
        #: By name of a local: a callable, in a loop.
        self._callables: dict[str, Any] = {}
        self._returned = False

    def steps(self, node: ast.FunctionDef | ast.Lambda) -> list[Any]:
        if getattr(node, "decorator_list", None):
            raise Unclear
        self._take_arguments(node.args)
        if isinstance(node, ast.Lambda):
            self._image(node.body)
        else:
            self._run(node.body)
            if not self._returned:
                raise Unclear
        return self._steps

    def steps_of(self, image: str, expression: ast.expr) -> list[Any]:
        """The steps of an expression in which a local, `image`, is an image."""
        self._images, self._steps = {image: 0}, []
        self._image(expression)
        return self._steps

    def is_builtin(self, expression: ast.expr, name: str) -> bool:
        """Whether it is the builtin's name, which means nothing else here."""
        code = self._function.__code__
        hidden = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        is_name = isinstance(expression, ast.Name) and expression.id == name
        return is_name and name not in hidden and name not in self._function.__globals__

    def _take_arguments(self, arguments: ast.arguments) -> None:
        names = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
        if self._owner is not None and names:
            names.pop(0)
        if len(names) != 1 or arguments.vararg or arguments.kwonlyargs or arguments.kwarg:
            raise Unclear
        self._images[names[0]] = 0

    def _run(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if self._returned:
                return
            if isinstance(statement, ast.Assign):
                self._assign(statement)
            elif isinstance(statement, ast.Return) and statement.value is not None:
                self._image(statement.value)
                self._returned = True
            elif isinstance(statement, ast.For):
                self._loop(statement)
            elif isinstance(statement, ast.If):
                self._run(statement.body if self.truth(statement.test) else statement.orelse)
            elif not says_nothing(statement):
                raise Unclear

    def _assign(self, statement: ast.Assign) -> None:
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Name):
            raise Unclear
        self._image(statement.value)
        self._callables.pop(target.id, None)
        self._images[target.id] = len(self._steps)

    def _loop(self, loop: ast.For) -> None:
        values = self.value(loop.iter)
        torch = sys.modules.get("torch")
        if torch is not None and type(values) in (torch.nn.ModuleList, torch.nn.Sequential):
            values = list(values)
        if loop.orelse or not isinstance(loop.target, ast.Name) or type(values) not in _LISTS:
            raise Unclear
        for value in values:
            self._images.pop(loop.target.id, None)
            self._callables[loop.target.id] = value
            self._run(loop.body)

    def _image(self, expression: ast.expr) -> None:
        """Adds the steps of an expression that is the image after them."""
        if isinstance(expression, ast.Name):
            if self._images.get(expression.id) != len(self._steps):
                raise Unclear
            return
        if not isinstance(expression, ast.Call) or expression.keywords:
            raise Unclear
        if len(expression.args) != 1:
            raise Unclear
        if self._converts(expression):
            return
        step = self.value(expression.func)
        self._image(expression.args[0])
        if not callable(step) or isinstance(step, type):
            raise Unclear
        self._steps.append(step)

    def _converts(self, call: ast.Call) -> bool:
        method, mode = call.func, call.args[0]
        is_one = (
            isinstance(method, ast.Attribute)
            and method.attr == "convert"
            and isinstance(mode, ast.Constant)
            and mode.value == "RGB"
        )
        if is_one:
            self._image(method.value)  # type: ignore[attr-defined]
            self._steps.append(AsRgb())
        return is_one

    def truth(self, test: ast.expr) -> bool:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return not self.truth(test.operand)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            with_none = test.comparators[0]
            if not isinstance(with_none, ast.Constant) or with_none.value is not None:
                raise Unclear
            is_none = self.value(test.left) is None
            if isinstance(test.ops[0], ast.Is):
                return is_none
            if isinstance(test.ops[0], ast.IsNot):
                return not is_none
            raise Unclear
        value = self.value(test)
        if value is not None and type(value) is not bool:
            raise Unclear
        return bool(value)

    def value(self, expression: ast.expr) -> Any:
        """What a name, or an attribute of one, is now. No property is asked."""
        if isinstance(expression, ast.Attribute):
            if isinstance(expression.value, ast.Name) and expression.value.id == self._self_name:
                return attribute(self._owner, expression.attr)
            return attribute(self.value(expression.value), expression.attr)
        if not isinstance(expression, ast.Name) or expression.id in self._images:
            raise Unclear
        if expression.id in self._callables:
            return self._callables[expression.id]
        code = self._function.__code__
        if expression.id in code.co_varnames or expression.id in code.co_cellvars:
            raise Unclear  # a local, of which nothing is known
        names, cells = code.co_freevars, self._function.__closure__ or ()
        try:
            if expression.id in names:
                return cells[names.index(expression.id)].cell_contents
            return self._function.__globals__[expression.id]
        except (KeyError, ValueError):  # a builtin, or nothing yet
            raise Unclear from None


_LISTS = (list, tuple)


def says_nothing(statement: ast.stmt) -> bool:
    """A docstring, or `pass`."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass)


def attribute(item: Any, name: str) -> Any:
    """Of an object or a module, as Python finds it. No property is asked.

    Raises:
        Unclear: there is none, or finding it runs code.
    """
    if isinstance(item, ModuleType):
        if name not in vars(item):
            raise Unclear
        return vars(item)[name]
    if _in_class(type(item), "__getattribute__") is not _PLAIN_GET:
        raise Unclear
    modules = getattr(item, "__dict__", {}).get("_modules")
    if isinstance(modules, dict) and name in modules:
        return modules[name]
    try:
        value = inspect.getattr_static(item, name)
    except AttributeError:
        raise Unclear from None
    if name in getattr(item, "__dict__", {}) and vars(item)[name] is value:
        return value
    if isinstance(value, staticmethod):
        return value.__func__
    if isinstance(value, FunctionType):
        return MethodType(value, item)
    if hasattr(type(value), "__get__"):
        raise Unclear
    return value


__all__ = [
    "UNREADABLE",
    "AsRgb",
    "Reader",
    "Unclear",
    "attribute",
    "function_of",
    "says_nothing",
    "source_of",
    "steps_within",
]
