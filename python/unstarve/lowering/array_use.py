"""Where a function's arrays of images go: whether to compositions of albumentations alone.

A data set's `__getitem__` reads an image by OpenCV, or makes an array of what Pillow opened, and
gives it to a composition. Where its source shows that nobody else gets the array, the array may be
decoded later.
The source counts only where compiling it gives the very code that runs. Nothing of it is run.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from unstarve.lowering.inside import Unclear, attribute, source_of

#: How a composition is named: `self.transform` is ("self", "transform").
Names = tuple[str, ...]


class Use(NamedTuple):
    """Of the arrays in a function."""

    #: The callables that get them, each as `callable(image=array)`.
    compositions: tuple[Names, ...]
    #: The first and the last line of each call that makes one.
    lines: tuple[tuple[int, int], ...]


_UNREADABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
#: What of an array is known before it is decoded.
_KNOWN_EARLY = frozenset({"shape", "ndim", "dtype"})
_ORDERS = frozenset({"COLOR_BGR2RGB", "COLOR_RGB2BGR"})
_OTHER_FLAGS = frozenset({"IMREAD_GRAYSCALE", "IMREAD_UNCHANGED"})
#: With these a function sees its own variables.
_SEES_ALL = frozenset({"locals", "vars", "eval", "exec", "dir"})


@functools.lru_cache(maxsize=256)
def use_of(code: CodeType) -> Use | None:
    """What becomes of the arrays that `cv2.imread(file)` and `numpy.array(image)` make on these
    lines; None where anything else may get one, or nobody can tell."""
    node = None if code.co_flags & _UNREADABLE else source_of(code)
    if not isinstance(node, ast.FunctionDef):
        return None
    try:
        reader = _Reader(code)
        reader.run(node.body)
        reader.check_names(node)
        lines = reader.lines_in(node)
    except Unclear:
        return None
    return Use(tuple(dict.fromkeys(reader.compositions)), lines) if reader.compositions else None


def value_in(frame: FrameType, names: Names) -> Any:
    """What a name is where the function is now. No property is asked.

    Raises:
        Unclear: nobody can tell.
    """
    first, *rest = names
    code = frame.f_code
    is_local = first in code.co_varnames or first in code.co_cellvars
    scope = frame.f_locals if is_local or first in code.co_freevars else frame.f_globals
    if first not in scope:
        raise Unclear
    value = scope[first]
    for name in rest:
        value = attribute(value, name)
    return value


class _Reader:
    """Goes through one function, statement by statement."""

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self.compositions: list[Names] = []
        #: Locals that are an image here, on one of the ways that lead here.
        self._images: set[str] = set()
        #: Those that are one anywhere.
        self._ever: set[str] = set()
        #: Locals that Pillow opened, and was told to convert to RGB.
        self._pictures: set[str] = set()
        #: Calls that make an image, by their identity.
        self._sources: dict[int, ast.Call] = {}

    def run(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, ast.Assign):
                self._assign(statement)
            elif isinstance(statement, ast.If):
                self._branch(statement)
            elif isinstance(statement, ast.With):
                for item in statement.items:
                    self._check(item)
                self.run(statement.body)
            else:
                self._check(statement)

    def lines_in(self, node: ast.FunctionDef) -> tuple[tuple[int, int], ...]:
        """Of the calls that make an image: no other on the same lines looks like one of them."""
        lines = [_lines_of(call) for call in self._sources.values()]
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and _makes_array(call) and id(call) not in self._sources:
                begin, end = _lines_of(call)
                if any(begin <= last and first <= end for first, last in lines):
                    raise Unclear
        return tuple(lines)

    def check_names(self, node: ast.FunctionDef) -> None:
        """Of the whole function: no inner function sees an image, and the compositions stay."""
        if self._ever & {*self._code.co_cellvars, *self._code.co_freevars}:
            raise Unclear
        firsts = {names[0] for names in self.compositions}
        attributes = {name for names in self.compositions for name in names[1:]}
        own = self._code.co_varnames[: min(1, self._code.co_argcount)]
        if firsts & {*self._code.co_varnames, *self._code.co_cellvars} - {*own}:
            raise Unclear  # a local, which may be another before it is called
        for part in ast.walk(node):
            if isinstance(part, ast.Global | ast.Nonlocal):
                raise Unclear
            if isinstance(part, ast.Name) and part.id in _SEES_ALL:
                raise Unclear
            is_stored = isinstance(getattr(part, "ctx", None), ast.Store | ast.Del)
            if is_stored and isinstance(part, ast.Name) and part.id in firsts:
                raise Unclear
            if is_stored and isinstance(part, ast.Attribute) and part.attr in attributes:
                raise Unclear

    def _assign(self, statement: ast.Assign) -> None:
        is_image = self._is_image(statement.value)
        if not is_image:
            self._check(statement.value)
        for target in statement.targets:
            if isinstance(target, ast.Name):
                self._images.discard(target.id)
                self._pictures.discard(target.id)
                if self._is_picture(statement.value):
                    self._pictures.add(target.id)
                if is_image:
                    self._images.add(target.id)
                    self._ever.add(target.id)
            elif is_image:
                raise Unclear
            elif isinstance(target, ast.Tuple) and all(_is_name(part) for part in target.elts):
                others = {part.id for part in target.elts if isinstance(part, ast.Name)}
                self._images -= others
                self._pictures -= others
            else:
                self._check(target)

    def _branch(self, branch: ast.If) -> None:
        decides = _asks_for(branch.test)
        if decides is not None and self._is_called_in(branch.body, decides):
            # It is there: whoever reads this sees to that before an array is decoded later.
            self.compositions.append(decides)
            self.run(branch.body)
            return
        self._check(branch.test)
        before = set(self._images)
        self.run(branch.body)
        after, self._images = self._images, before
        self.run(branch.orelse)
        self._images |= after

    def _is_called_in(self, body: list[ast.stmt], names: Names) -> bool:
        return any(
            isinstance(part, ast.Call) and _names(part.func) == names and _gets_image(part)
            for statement in body
            for part in ast.walk(statement)
        )

    def _is_image(self, expression: ast.AST) -> bool:
        if isinstance(expression, ast.Name):
            return expression.id in self._images
        if isinstance(expression, ast.Subscript) and _turns_channels(expression.slice):
            return self._is_image(expression.value)
        if not isinstance(expression, ast.Call) or expression.keywords:
            return False
        given = expression.args
        is_read = _is_method(expression, "imread") and _reads_colours(given)
        is_made = _makes_array(expression) and len(given) == 1 and self._is_picture(given[0])
        if is_read or is_made:
            self._check(given[0])
            self._sources[id(expression)] = expression
            return True
        is_order = len(given) == 2 and _is_one_of(given[1], _ORDERS)
        return is_order and _is_method(expression, "cvtColor") and self._is_image(given[0])

    def _is_picture(self, expression: ast.expr) -> bool:
        """`image.convert("RGB")`, or a local that was given it."""
        if isinstance(expression, ast.Name):
            return expression.id in self._pictures
        is_call = isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute)
        return is_call and ast.unparse(expression).endswith(".convert('RGB')")

    def _check(self, node: ast.AST) -> None:
        """That no image goes anywhere from here but into compositions."""
        if self._is_image(node):
            raise Unclear
        if isinstance(node, ast.Attribute) and node.attr == "imread":
            raise Unclear  # not called, or who knows how
        for part in self._others(node):
            self._check(part)

    def _others(self, node: ast.AST) -> Iterator[ast.AST]:
        """The parts that may not be images."""
        if isinstance(node, ast.Attribute) and node.attr in _KNOWN_EARLY and _is_name(node.value):
            return
        if isinstance(node, ast.Compare) and _is_asked_for_none(node):
            return
        if isinstance(node, ast.Call) and _is_method(node, "imread") and _is_other(node.args):
            yield from node.args
            return
        names = _names(node.func) if isinstance(node, ast.Call) else None
        if names is None or not isinstance(node, ast.Call):
            yield from ast.iter_child_nodes(node)
            return
        for keyword in node.keywords:
            if keyword.arg == "image" and self._is_image(keyword.value):
                self.compositions.append(names)
            else:
                yield keyword.value
        yield from (node.func, *node.args)


def _names(expression: ast.AST) -> Names | None:
    if isinstance(expression, ast.Name):
        return (expression.id,)
    if not isinstance(expression, ast.Attribute):
        return None
    owner = _names(expression.value)
    return None if owner is None else (*owner, expression.attr)


def _asks_for(test: ast.expr) -> Names | None:
    """`if self.transform:` or `if self.transform is not None:`."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot):
        return _names(test.left) if _is_asked_for_none(test) else None
    return _names(test)


def _gets_image(call: ast.Call) -> bool:
    return any(keyword.arg == "image" for keyword in call.keywords)


def _is_name(expression: ast.AST) -> bool:
    return isinstance(expression, ast.Name)


def _is_asked_for_none(test: ast.Compare) -> bool:
    other = test.comparators[0]
    is_none = isinstance(other, ast.Constant) and other.value is None
    is_plain = len(test.ops) == 1 and _names(test.left) is not None
    return is_none and is_plain and isinstance(test.ops[0], ast.Is | ast.IsNot)


def _is_method(call: ast.Call, name: str) -> bool:
    names = _names(call.func)
    return names is not None and len(names) == 2 and names[1] == name


def _makes_array(call: ast.Call) -> bool:
    return _is_method(call, "array") or _is_method(call, "asarray")


def _turns_channels(key: ast.expr) -> bool:
    """`[:, :, ::-1]` or `[..., ::-1]`."""
    return ast.unparse(key).strip("()") in (":, :, ::-1", "..., ::-1")


def _lines_of(call: ast.Call) -> tuple[int, int]:
    return call.lineno, call.end_lineno or call.lineno


def _is_one_of(expression: ast.expr, names: frozenset[str]) -> bool:
    return isinstance(expression, ast.Attribute) and expression.attr in names


def _reads_colours(given: list[ast.expr]) -> bool:
    """Whether `cv2.imread` with these gives three channels."""
    if any(isinstance(part, ast.Starred) for part in given):
        return False
    return len(given) == 1 or (
        len(given) == 2 and _is_one_of(given[1], frozenset({"IMREAD_COLOR"}))
    )


def _is_other(given: list[ast.expr]) -> bool:
    """Whether it surely is called with other flags, as masks are."""
    flags = given[1] if len(given) == 2 else None
    is_number = isinstance(flags, ast.Constant) and flags.value in (0, -1)
    return is_number or (flags is not None and _is_one_of(flags, _OTHER_FLAGS))


__all__ = ["Use", "use_of", "value_in"]
