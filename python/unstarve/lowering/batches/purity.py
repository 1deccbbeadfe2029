"""Whether a function changes nothing but what it makes itself, and asks nothing that may change.

What it draws is not looked at: its caller says which generators it draws from. As in `inside.py`
the source is read and nothing of it is run. It may call methods of its values, functions of torch
and of a few other modules, torchvision's mixtures, and functions and objects of a script, which
are read in the same way.
"""

from __future__ import annotations

import ast
import sys
from types import FunctionType, MethodType
from typing import Any

from unstarve.lowering.inside import UNREADABLE, Reader, Unclear, function_of, source_of
from unstarve.lowering.originals import is_plain

#: Functions within functions that are looked into.
_DEEPEST = 8

_BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "dict",
        "enumerate",
        "float",
        "int",
        "isinstance",
        "len",
        "list",
        "max",
        "min",
        "range",
        "reversed",
        "round",
        "sorted",
        "str",
        "sum",
        "tuple",
        "zip",
        "RuntimeError",
        "TypeError",
        "ValueError",
    ]
)

#: Of modules: the functions and classes that may be called; None: all public ones.
_CALLABLES: dict[str, frozenset[str] | None] = {
    "torch": frozenset(),  # see _is_of_torch
    "torch.distributions": frozenset(["Beta", "Bernoulli", "Categorical", "Dirichlet", "Uniform"]),
    "torch.nn.functional": None,
    "torchvision.transforms.functional": None,
    "torchvision.transforms.v2.functional": None,
    "torchvision.tv_tensors": frozenset(["wrap"]),
    "math": None,
    "numpy": frozenset(
        ["array", "asarray", "ceil", "clip", "exp", "floor", "log", "maximum", "minimum", "sqrt"]
    ),
    "numpy.random": frozenset(
        ["beta", "choice", "normal", "permutation", "rand", "randint", "random", "uniform"]
    ),
    "random": frozenset(
        ["betavariate", "choice", "choices", "randint", "random", "randrange", "uniform"]
    ),
}

#: torchvision's, by exact class: they keep nothing from call to call.
_TRANSFORMS = [
    "Compose",
    "ConvertImageDtype",
    "CutMix",
    "Identity",
    "MixUp",
    "Normalize",
    "RandomApply",
    "RandomChoice",
    "RandomErasing",
    "ToDtype",
]

_STATEMENTS = (ast.Return, ast.Expr, ast.If, ast.Raise, ast.Assert, ast.Pass)
_EXPRESSIONS = (
    *(ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.BinOp, ast.UnaryOp, ast.BoolOp),
    *(ast.Compare, ast.IfExp, ast.Tuple, ast.List, ast.Dict, ast.Subscript, ast.Slice),
    *(ast.Starred, ast.keyword),
)
_SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


class Purity:
    """Of one function."""

    def __init__(self, function: FunctionType, owner: Any, depth: int = 0) -> None:
        code = function.__code__
        if depth == _DEEPEST or code.co_flags & UNREADABLE or code.co_cellvars:
            raise Unclear
        node = source_of(code)
        if node is None or getattr(node, "decorator_list", None):
            raise Unclear
        for given in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            _check_constant(given)
        self.node = node
        self._reader = Reader(function, owner)
        self._depth = depth
        count = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames)
        self._self_name = names[0] if owner is not None and names else None
        begin = 0 if self._self_name is None else 1
        #: Names of the arguments, without `self`.
        self.arguments = names[begin:count]
        self._locals = frozenset(names[begin:])

    def check(self) -> None:
        """Returns where the function is such a one.

        Raises:
            Unclear: it is not, or nobody can tell.
        """
        if isinstance(self.node, ast.Lambda):
            self.visit(self.node.body)
            return
        for statement in self.node.body:
            self.visit(statement)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self.call(node)
        elif isinstance(node, ast.Name):
            self.name(node)
        elif isinstance(node, ast.Attribute):
            self._attribute(node)
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            self.assign(node)
        elif isinstance(node, (*_STATEMENTS, *_EXPRESSIONS)):
            for part in ast.iter_child_nodes(node):
                self.visit(part)
        elif not isinstance(node, _SIGNS):
            raise Unclear

    def call(self, node: ast.Call) -> None:
        if self.is_of_local(node.func):
            if not isinstance(node.func, ast.Attribute):
                raise Unclear
            self.visit(node.func)
        elif not self.is_builtin(node.func):
            self._check_callable(self.value(node.func))
        for part in (*node.args, *node.keywords):
            self.visit(part)

    def name(self, node: ast.Name) -> None:
        if node.id not in self._locals and not self.is_builtin(node):
            _check_constant(self.value(node))

    def assign(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self._check_target(target)
        if node.value is not None:
            self.visit(node.value)

    def value(self, node: ast.expr) -> Any:
        """Of what is no local: what it is now."""
        return self._reader.value(node)

    def is_of_local(self, node: ast.expr) -> bool:
        """Whether it is, or is asked of, what the function was given or has made."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return not isinstance(node, ast.Name) or node.id in self._locals

    def is_builtin(self, node: ast.expr) -> bool:
        """Whether it is a builtin that may be called."""
        is_known = isinstance(node, ast.Name) and node.id in _BUILTINS
        return is_known and self._reader.is_builtin(node, node.id)  # type: ignore[attr-defined]

    def _attribute(self, node: ast.Attribute) -> None:
        if node.attr.startswith("__"):
            raise Unclear
        if self.is_of_local(node):
            self.visit(node.value)
        else:
            _check_constant(self.value(node))

    def _check_target(self, target: ast.expr) -> None:
        """A local, several, or what is in one."""
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._check_target(part)
        elif isinstance(target, ast.Subscript):
            self._check_target(target.value)
            self.visit(target.slice)
        elif not isinstance(target, ast.Name) or target.id not in self._locals:
            raise Unclear
        else:
            self.visit(target)

    def _check_callable(self, given: Any) -> None:
        if _is_of_library(given):
            return
        if type(given) in _transforms():
            self._check_transform(given)
            return
        function, owner = function_of(given)
        if function is None or _library_of(function) is not None:
            raise Unclear
        Purity(function, owner, self._depth + 1).check()

    def _check_transform(self, part: Any) -> None:
        if not is_plain(part):
            raise Unclear
        getter = getattr(part, "_labels_getter", None)
        if getter is not None and not str(getter.__module__).startswith("torchvision."):
            self._check_callable(getter)
        for inner in getattr(part, "transforms", ()):
            self._check_callable(inner)


def _check_constant(value: Any) -> None:
    """What cannot be changed, or stands for a kind."""
    torch = sys.modules["torch"]
    kinds = (int, float, bool, str, type(None), torch.dtype, torch.device)
    for one in value if type(value) is tuple else (value,):
        if type(one) not in kinds and one is not torch.Tensor:
            raise Unclear


def _is_of_library(given: Any) -> bool:
    """Whether it may be called, and is what the library wrote."""
    name = getattr(given, "__name__", None)
    if not isinstance(name, str) or (isinstance(given, MethodType) and not _is_of_random(given)):
        return False
    if isinstance(given, FunctionType) and _library_of(given) is None:
        return False  # somebody has put it there
    return _is_of_torch(given, name) or any(
        vars(sys.modules[module]).get(name) == given
        and (not name.startswith("_") if names is None else name in names)
        for module, names in _CALLABLES.items()
        if module in sys.modules
    )


def _library_of(function: FunctionType) -> str | None:
    """The library that it was written in, of those whose functions are known by name alone."""
    library = str(function.__globals__.get("__name__")).partition(".")[0]
    return library if library in ("torch", "torchvision", "numpy", "random") else None


def _is_of_random(method: MethodType) -> bool:
    """Of the generators that `random` and `numpy.random` have for everybody."""
    for module, name in (("random", "_inst"), ("numpy.random.mtrand", "_rand")):
        generator = getattr(sys.modules.get(module), name, None)
        if generator is not None and method.__self__ is generator:
            return True
    return False


def _is_of_torch(given: Any, name: str) -> bool:
    """Of torch itself: the compiled functions of tensors, which keep nothing."""
    functions = sys.modules["torch"]._C._VariableFunctions
    is_one = getattr(functions, name, None) == given and name != "from_file"
    return is_one and (not name.startswith("_") or name == "_sample_dirichlet")


def _transforms() -> set[type]:
    names = ("torchvision.transforms", "torchvision.transforms.v2")
    libraries = [sys.modules[name] for name in names if name in sys.modules]
    found = (getattr(library, name, None) for library in libraries for name in _TRANSFORMS)
    return {kind for kind in found if isinstance(kind, type)}


__all__ = ["Purity"]
