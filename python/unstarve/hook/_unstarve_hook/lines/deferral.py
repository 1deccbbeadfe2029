"""How a line that reads a value back from the device may be written to wait for nothing."""

from __future__ import annotations

import ast

_LONGEST_LINE = 120
_HINTS = ("item", "float", "synchronize")
#: What waits for the device, as a function and as a method.
_READING_FUNCTIONS = frozenset(("float", "int", "bool", "print", "str"))
_READING_METHODS = frozenset(("item", "tolist", "cpu", "numpy", "synchronize"))


def without_wait(line: str) -> str:
    """Lines with "-" and "+", as a report shows a change. Empty where the line is no statement of
    which that is certain.

    A sum or a list may hold the value itself, which stays on the device until somebody reads it;
    a value that nothing uses need not be read; work on the device keeps its order without
    `synchronize()`.
    """
    text = line.strip()
    statement = _only_statement(text)
    if isinstance(statement, ast.Expr):
        call = statement.value
        if _is_method(call, "item") or _is_method(call, "synchronize"):
            return f"- {text}"
        if not _is_method(call, "append"):
            return ""
        kept, is_list = call.args, True  # type: ignore[attr-defined]
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        kept = [statement.value]
        is_list = isinstance(statement.value, (ast.List, ast.Tuple))
    else:
        return ""
    # What a list keeps is not to change with what the job may write into that tensor later. Sums of
    # Python's numbers are sums of doubles.
    suffix = ".detach().clone()" if is_list else ".detach().double()"
    changed = _with_reads_replaced(text, kept, suffix)
    return f"- {text}\n+ {changed}" if changed else ""


def _only_statement(text: str) -> ast.stmt | None:
    if len(text) > _LONGEST_LINE or not text.isascii() or not any(hint in text for hint in _HINTS):
        return None
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # the head of a statement, or a part of one
    return body[0] if len(body) == 1 else None


def _is_method(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
    )


def _with_reads_replaced(text: str, inside: list[ast.expr], suffix: str) -> str:
    """`a.item()` and `float(a)` by `a` with the suffix; empty where one is used otherwise than a
    tensor could be, where that leaves another wait, or changes nothing."""
    reads: list[ast.Call] = []
    if not all(_collect(node, reads) for node in inside):
        return ""
    # Of several only one need wait, and of `float(a)` nobody knows whether `a` is a tensor.
    if len(reads) > 1 and not all(_is_certain(read) for read in reads):
        return ""
    changed = text
    for read in sorted(reads, key=lambda one: -one.col_offset):
        value = _read_value(read)
        kept = text[value.col_offset : value.end_col_offset]  # type: ignore[union-attr]
        if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp)):
            kept = f"({kept})"  # its place is without the brackets around it
        changed = changed[: read.col_offset] + kept + suffix + changed[read.end_col_offset :]
    return "" if changed == text or _waits(changed) else changed


def _collect(node: ast.expr, reads: list[ast.Call]) -> bool:
    """The reads in sums, products and containers; false where one is in anything else."""
    if _read_value(node) is not None:
        reads.append(node)  # type: ignore[arg-type]
        return True
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        parts = [node.operand]
    elif isinstance(node, (ast.List, ast.Tuple)):
        parts = node.elts
    elif isinstance(node, ast.Dict):
        parts = node.values
    elif any(_read_value(one) is not None for one in ast.walk(node)):
        return False
    return all(_collect(part, reads) for part in parts)


def _read_value(node: ast.AST) -> ast.expr | None:
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if _is_method(node, "item") and not node.args:
        return node.func.value  # type: ignore[attr-defined,no-any-return]
    if not (isinstance(node.func, ast.Name) and node.func.id == "float" and len(node.args) == 1):
        return None
    of = node.args[0]
    return _read_value(of) or (of if isinstance(of, (ast.Name, ast.Attribute)) else None)


def _is_certain(read: ast.Call) -> bool:
    return _is_method(read, "item") or _is_method(read.args[0], "item")


def _waits(text: str) -> bool:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in _READING_FUNCTIONS:
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in _READING_METHODS:
            return True
    return False
