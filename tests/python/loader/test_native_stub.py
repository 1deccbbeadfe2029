"""_native.pyi says what the compiled module has: names, signatures, fields and enum members.

nanobind's own generator writes another stub from the module, and the two are compared as syntax
trees. The written one may be more exact, where C++ hands out a plain Python object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import unstarve
from nanobind.stubgen import StubGen
from unstarve import _native

WRITTEN = Path(unstarve.__file__).with_name("_native.pyi")
# What the generator says of objects of which C++ knows no more.
VAGUE = {"object", "dict", "list", "tuple", "Any"}

# Of a name: what it is, and each of its parts with its type and default.
Entry = tuple[str, tuple[tuple[str, str, str], ...]]


def type_of(node: ast.expr | None, owner: str) -> str:
    """A type as text; a class nested in its owner goes by its short name, an array is anything."""
    text = "" if node is None else ast.unparse(node)
    return "Any" if text.startswith("Annotated[") else text.replace(f"{owner}.", "")


def function_entry(function: ast.FunctionDef, owner: str) -> Entry:
    arguments = function.args.posonlyargs + function.args.args
    missing = len(arguments) - len(function.args.defaults)
    defaults = [""] * missing + [ast.unparse(default) for default in function.args.defaults]
    parts = [
        (argument.arg, type_of(argument.annotation, owner), default)
        for argument, default in zip(arguments, defaults, strict=True)
    ]
    return "function", (*parts, ("return", type_of(function.returns, owner), ""))


def entries(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, Entry]]:
    """Everything below a module or a class by its qualified name; a later entry replaces one."""
    prefix = f"{owner}." if owner else ""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name, ("class", ())
            yield from entries(node.body, prefix + node.name)
        elif isinstance(node, ast.FunctionDef):
            decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
            kind, parts = function_entry(node, owner)
            if "property" in decorators:
                kind, parts = "read-only field", (("", parts[-1][1], ""),)
            elif f"{node.name}.setter" in decorators:
                # Its type is the wider one: a sequence where the getter makes a list.
                kind, parts = "field", (("", parts[1][1], ""),)
            yield prefix + node.name, (kind, parts)
        elif isinstance(node, ast.AnnAssign):
            entry: Entry = ("field", (("", type_of(node.annotation, owner), ""),))
            yield prefix + ast.unparse(node.target), entry
        elif isinstance(node, ast.Assign):
            value = ast.unparse(node.value)
            yield prefix + ast.unparse(node.targets[0]), ("enum member", (("", "", value),))


def read(stub: str) -> dict[str, Entry]:
    return dict(entries(ast.parse(stub).body))


def agree(written: Entry, generated: Entry) -> bool:
    """Equal but for types that the generator does not know."""
    known = [
        mine if part[1] in VAGUE and mine[::2] == part[::2] else part
        for mine, part in zip(written[1], generated[1], strict=False)
    ]
    return written[0] == generated[0] and written[1] == (*known, *generated[1][len(known) :])


def differences(written: str, generated: str) -> list[str]:
    ours, modules = read(written), read(generated)
    return [
        *(f"{name} is not in the module" for name in sorted(ours.keys() - modules.keys())),
        *(f"{name} is not in _native.pyi" for name in sorted(modules.keys() - ours.keys())),
        *(
            f"{name}: _native.pyi says {ours[name]}, the module {modules[name]}"
            for name in sorted(ours.keys() & modules.keys())
            if not agree(ours[name], modules[name])
        ),
    ]


@pytest.fixture(scope="module")
def generated() -> str:
    generator = StubGen(_native, include_docstrings=False, include_private=True)
    generator.put(_native)
    return str(generator.get())


def test_the_stub_says_what_the_module_has(generated: str) -> None:
    assert differences(WRITTEN.read_text(encoding="utf-8"), generated) == []


@pytest.mark.parametrize(
    ("there", "instead", "complaint"),
    [
        ("    def begin_epoch(self, epoch: int) -> None: ...\n", "", "begin_epoch is not in _nat"),
        ("def simd_level() -> str: ...", "def simd() -> str: ...", "simd is not in the module"),
        ("def skip_batch(self, indices", "def skip_batch(self, index", "skip_batch: _native.pyi"),
        ("timeout_s: float = 0.0", "timeout_s: float", "Loader.next: _native.pyi"),
        ("batch_size: int", "batch_size: float", "LoaderOptions.batch_size: _native.pyi"),
        ("bicubic = 1", "bicubic = 2", "Interpolation.bicubic: _native.pyi"),
        ("    kind: Kind\n", "    @property\n    def kind(self) -> Kind: ...\n", "kind: _native.p"),
    ],
)
def test_planted_differences(generated: str, there: str, instead: str, complaint: str) -> None:
    stub = WRITTEN.read_text(encoding="utf-8")
    assert there in stub
    found = differences(stub.replace(there, instead, 1), generated)
    assert any(complaint in line for line in found), found
