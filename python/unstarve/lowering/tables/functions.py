"""Goes through a function of a script that only moves values between names, lists and dicts.

As `inside.py` does: the source is read, and counts only where compiling it gives the very code that
would run. Nothing of it is run.
"""

from __future__ import annotations

import ast
from typing import Any

from unstarve.lowering.inside import (
    UNREADABLE,
    Reader,
    Unclear,
    function_of,
    says_nothing,
    source_of,
)


class FunctionReading:
    """Of one function with one argument. What its values stand for is its subclasses' to say."""

    def __init__(self, part: Any) -> None:
        function, owner = function_of(part)
        if function is None or function.__code__.co_flags & UNREADABLE:
            raise Unclear
        node = source_of(function.__code__)
        if node is None or getattr(node, "decorator_list", None):
            raise Unclear
        self.reader = Reader(function, owner)
        self._node = node
        self._locals: dict[str, Any] = {}
        self._returned: list[Any] = []
        arguments = node.args
        names = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
        if arguments.kwonlyargs or arguments.kwarg:
            raise Unclear
        self._names = names[1:] if owner is not None else names
        if len(self._names) != 1:
            raise Unclear

    def result(self, argument: Any) -> Any:
        """What the function gives for it.

        Raises:
            Unclear: it does something else, or nobody can tell.
        """
        self._locals[self._names[0]] = argument
        if isinstance(self._node, ast.Lambda):
            return self.expression(self._node.body)
        self._run(self._node.body)
        if not self._returned:
            raise Unclear
        return self._returned[0]

    def expression(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id in self._locals:
            return self._locals[node.id]
        if isinstance(node, ast.Subscript):
            made = self._dict(node.value).get(self.key(node.slice))
            if made is None:
                raise Unclear
            return made
        if isinstance(node, ast.Dict) and None not in node.keys:
            keys = [self.key(key) for key in node.keys if key is not None]
            return dict(zip(keys, map(self.expression, node.values), strict=True))
        if isinstance(node, ast.ListComp) and len(node.generators) == 1:
            loop = node.generators[0]
            if not loop.ifs and not loop.is_async and isinstance(loop.target, ast.Name):
                return self.each(loop.target.id, self.expression(loop.iter), node.elt)
        return self.other(node)

    def each(self, name: str, values: Any, element: ast.expr) -> Any:
        """A list of `element`, in which `name` is one of `values`."""
        raise Unclear

    def other(self, node: ast.expr) -> Any:
        """An expression of another kind."""
        raise Unclear

    def key(self, node: ast.expr) -> str:
        key = node.value if isinstance(node, ast.Constant) else self.reader.value(node)
        if type(key) is not str:
            raise Unclear
        return key

    def _dict(self, node: ast.expr) -> dict[str, Any]:
        value = self.expression(node)
        if type(value) is not dict:
            raise Unclear
        return value

    def _run(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if self._returned:
                return
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                self._assign(statement.targets[0], self.expression(statement.value))
            elif isinstance(statement, ast.Return) and statement.value is not None:
                self._returned.append(self.expression(statement.value))
            elif isinstance(statement, ast.Delete):
                for target in statement.targets:
                    self._delete(target)
            elif isinstance(statement, ast.If):
                truth = self.reader.truth(statement.test)
                self._run(statement.body if truth else statement.orelse)
            elif not self._pops(statement) and not says_nothing(statement):
                raise Unclear

    def _assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._locals[target.id] = value
        elif isinstance(target, ast.Subscript):
            self._dict(target.value)[self.key(target.slice)] = value
        else:
            raise Unclear

    def _delete(self, target: ast.expr) -> None:
        if not isinstance(target, ast.Subscript):
            raise Unclear
        if self._dict(target.value).pop(self.key(target.slice), None) is None:
            raise Unclear

    def _pops(self, statement: ast.stmt) -> bool:
        """`batch.pop("image")`, whose answer nobody wants."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return False
        if call.func.attr != "pop" or len(call.args) not in (1, 2) or call.keywords:
            return False
        made = self._dict(call.func.value).pop(self.key(call.args[0]), None)
        if made is None and len(call.args) == 1:
            raise Unclear
        if len(call.args) == 2 and not isinstance(call.args[1], ast.Constant):
            raise Unclear
        return True


__all__ = ["FunctionReading"]
