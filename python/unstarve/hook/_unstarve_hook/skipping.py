"""Whether an iterable data set's workers all make every sample, and skip those of the others.

    return islice(self.examples(), info.id, None, info.num_workers)

gives each sample once, and lets each worker read and decode all of them. Dividing what is read (its
files, or rows) makes only what is given. Read from the source of `__iter__`: nothing of it is run.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import textwrap
import tokenize
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from .lines import places

_LONGEST_SOURCE = 1 << 16  # characters
_MOST_NAMES = 4
#: They give what something else makes.
_MAKE_NOTHING = frozenset(
    ("chain", "cycle", "enumerate", "islice", "iter", "len", "next", "open", "range", "zip")
)


def of_stream(data: object) -> dict[str, Any]:
    """`skips_at`: the place of the skipping, `skipped_made_by`: the functions that make what is
    skipped. Empty where nothing is skipped, or cannot be told."""
    method = getattr(type(data), "__iter__", None)
    if not isinstance(method, FunctionType):
        return {}
    return _of_code(method.__code__)


@functools.lru_cache(maxsize=64)
def _of_code(code: CodeType) -> dict[str, Any]:
    if places.kind_of(code.co_filename) != places.USERS:
        return {}
    function = _function_of(code)
    if function is None:
        return {}
    for line, made in _skips(function):
        names = [name for name in _called(made, function) if name not in _MAKE_NOTHING]
        if names:
            return {
                "skips_at": places.place(code.co_filename, code.co_firstlineno - 1 + line),
                "skipped_made_by": names[:_MOST_NAMES],
            }
    return {}


def _function_of(code: CodeType) -> ast.FunctionDef | None:
    """Its source alone, read. Of an escape that Python does not know its parser would warn on the
    job's terminal: with a backslash it is left."""
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        text = textwrap.dedent("".join(inspect.getblock(lines)))
        if "\\" in text or len(text) > _LONGEST_SOURCE:
            return None
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return None
    return body[0] if body and isinstance(body[0], ast.FunctionDef) else None


def _skips(function: ast.FunctionDef) -> Iterator[tuple[int, ast.expr]]:
    """The line of each skipping, and the expression whose items are skipped."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _name(node.func) == "islice":
            if len(node.args) == 4 and not isinstance(node.args[3], ast.Constant):
                yield node.lineno, node.args[0]
        elif isinstance(node, ast.For):
            for inner in node.body:
                if isinstance(inner, ast.If) and _is_turn(inner.test) and _gives_or_skips(inner):
                    yield inner.lineno, node.iter


def _is_turn(test: ast.expr) -> bool:
    """`index % workers == worker`, or its opposite."""
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mod)
        and not isinstance(node.right, ast.Constant)
        for node in ast.walk(test)
        if isinstance(test, ast.Compare)
    )


def _gives_or_skips(branch: ast.If) -> bool:
    found = [node for inner in branch.body for node in ast.walk(inner)]
    return any(isinstance(node, (ast.Continue, ast.Yield, ast.YieldFrom)) for node in found)


def _called(made: ast.expr, function: ast.FunctionDef) -> list[str]:
    """The functions called in it, and in what its variables were given."""
    variables = {node.id for node in ast.walk(made) if isinstance(node, ast.Name)}
    expressions = [made]
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(_name(one) in variables for one in node.targets):
            expressions.append(node.value)
    calls = [
        _name(node.func)
        for expression in expressions
        for node in ast.walk(expression)
        if isinstance(node, ast.Call)
    ]
    return [name for name in dict.fromkeys(calls) if name]


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
