#!/usr/bin/env python3
"""Compares our declarations of CUDA's binary interface with NVIDIA's headers.

Every abi_check.toml under src/ holds [[check]] tables: which headers of NVIDIA's (`theirs`) and of
ours (`ours`) to include, for which CUDA majors, and rows of what has to agree:

    [check.types]      "ours" = "theirs"                 size and alignment
    [check.members]    "ours" = "theirs a=b c=d"         offset and size of each member
    [check.values]     "ours" = "theirs"                 the number
    functions = "*.cpp"                                  signatures of all extern "C" definitions
    prefix = "cublas"                                    those of such names, whatever marks them
    namespace = "cublas"                                 where their types are
    undeclared = [...]                                   functions that NVIDIA's headers lack
    overloaded = [...]                                   those that they have several of: left out

Names of ours are as seen within unstarve::emulated. For each check a source file of static_asserts
is compiled. NVIDIA's headers come out of the wheels that requirements/cuda-headers.txt pins; they
are unpacked into --headers, and nothing else is done with them.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
PINS = ROOT / "requirements/cuda-headers.txt"

# NVIDIA's headers mark declarations for nvcc with macros of a header that comes with nvcc alone.
HOST_DEFINES = """#pragma once
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define __dv(v)
#define __specialization_static
#define __location__(a)
"""

SIGNATURES = """
#include <cstddef>
#include <type_traits>

template <class A, class B>
constexpr bool passed_alike() {
  if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
    return std::is_void_v<A> && std::is_void_v<B>;
  } else {
    return sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
           std::is_class_v<A> == std::is_class_v<B> &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
  }
}

template <class A, class B>
struct Same : std::false_type {};
template <class A, class... As, class B, class... Bs>
  requires(sizeof...(As) == sizeof...(Bs))
struct Same<A(As...), B(Bs...)>
    : std::bool_constant<passed_alike<A, B>() && (passed_alike<As, Bs>() && ...)> {};
"""

DEFINITION = re.compile(
    r'(?:extern\s+"C"\s+)?__attribute__\s*\(\(visibility\("default"\)\)\)\s+'
    r"(?P<returns>[\w:\s*]+?)\s*(?P<name>\b\w+)\((?P<parameters>[^{};]*)\)\s*\{"
)


def pinned() -> list[tuple[set[int], str]]:
    """The wheels, and the CUDA majors that each is for."""
    lines = (line.strip() for line in PINS.read_text().splitlines())
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    return [({int(major) for major in majors.split(",")}, wheel) for majors, wheel in rows]


def fetch(folder: Path) -> None:
    """Unpacks the headers of the pinned wheels into `folder`/MAJOR; what is there already stays."""
    for majors, wheel in pinned():
        done = folder / f"{wheel}.done"
        if done.exists():
            continue
        wheels = folder / "wheels"
        download = ["pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(wheels)]
        subprocess.run([sys.executable, "-m", *download, wheel], check=True)
        stem = wheel.split("==")[0].replace("-", "_")
        for path in wheels.glob(f"{stem}-*.whl"):
            unpack(path, [folder / str(major) for major in majors])
            path.unlink()
        done.touch()


def unpack(wheel: Path, targets: list[Path]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            _, found, path = name.partition("/include/")
            if not found or name.endswith("/"):
                continue
            for target in targets:
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                (target / path).write_bytes(archive.read(name))


def compile_text(text: str, major: int, headers: Path, *options: str) -> tuple[int, str, str]:
    """Compiles C++ for one CUDA major; what the compiler printed on both its outputs."""
    shims = headers / "shims"
    (shims / "crt").mkdir(parents=True, exist_ok=True)
    (shims / "crt/host_defines.h").write_text(HOST_DEFINES)
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-x", "c++", "-w"]
    command += [f"-DUNSTARVE_CUDA_MAJOR={major}", f"-I{SOURCES}", f"-I{shims}"]
    command += [f"-isystem{headers / str(major)}", *options, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def definitions_of(prefix: str) -> re.Pattern[str]:
    """Functions whose names begin so, where nothing else marks what is exported."""
    return re.compile(
        rf"^\s*(?P<returns>(?:const\s+)?[\w:]+\s*\**)\s*\b(?P<name>{prefix}\w+)"
        r"\((?P<parameters>[^{};()]*)\)\s*\{",
        re.MULTILINE,
    )


def our_functions(check: dict[str, Any], folder: Path, major: int, headers: Path) -> dict[str, str]:
    """The declarations of the functions that a check's sources define, by their names."""
    functions: dict[str, str] = {}
    pattern = definitions_of(check["prefix"]) if "prefix" in check else DEFINITION
    for path in sorted(folder.glob(check["functions"])):
        if path.name.endswith("_test.cpp"):
            continue
        _, text, _ = compile_text(path.read_text(), major, headers, "-E", "-P")
        for found in pattern.finditer(text.replace("}", "}\n")):
            name = found["name"]
            functions[name] = f"{found['returns']} {name}({found['parameters']});"
    return functions


def declared_names(check: dict[str, Any], major: int, headers: Path) -> set[str]:
    """Every name that NVIDIA's headers use as a function's."""
    text = "".join(f"#include <{name}>\n" for name in check["theirs"])
    _, out, _ = compile_text(text, major, headers, "-E", "-P")
    return set(re.findall(r"\b(\w+)\s*\(", out))


def rows_of(check: dict[str, Any]) -> list[tuple[str, str]]:
    """What the tables of types, members and values assert, each with how it is called."""
    rows = []
    for ours, theirs in check.get("types", {}).items():
        same = f"sizeof({ours}) == sizeof({theirs}) && alignof({ours}) == alignof({theirs})"
        rows.append((same, f"{ours} is {theirs}"))
    for ours, text in check.get("members", {}).items():
        theirs, *pairs = text.split()
        for pair in pairs:
            a, b = pair.split("=")
            same = f"offsetof({ours}, {a}) == offsetof({theirs}, {b})"
            rows.append((same, f"{ours}.{a} lies where {theirs}.{b} does"))
    for ours, theirs in check.get("values", {}).items():
        same = f"static_cast<long long>({ours}) == static_cast<long long>({theirs})"
        rows.append((same, f"{ours} is {theirs}"))
    return rows


def source_of(check: dict[str, Any], functions: dict[str, str], declared: set[str]) -> str:
    """The file of static_asserts."""
    includes = "".join(f"#include <{name}>\n" for name in check["theirs"])
    includes += "".join(f'#include "{name}"\n' for name in check["ours"])
    compared = declared - set(check.get("overloaded", []))
    known = {name: text for name, text in functions.items() if name in compared}
    # NVIDIA's headers rename functions by macros; the rows mean the names as they are.
    undefined = "".join(f"#undef {name}\n" for name in known)
    asserts = "".join(f'static_assert({same}, "{what}");\n' for same, what in rows_of(check))
    own = "".join(f"{text}\n" for text in known.values())
    same = "".join(
        f"static_assert(Same<decltype(::unstarve::emulated::as_defined::{name}), "
        f'decltype(::{name})>::value, "{name} is declared so");\n'
        for name in known
    )
    using = f"using namespace {check['namespace']};\n" if "namespace" in check else ""
    return (
        f"{includes}{SIGNATURES}{undefined}namespace unstarve::emulated {{\n"
        f"namespace cuda {{}}\nusing namespace cuda;\n{using}"
        f"{asserts}namespace as_defined {{\n{own}}}\n}}\n{same}"
    )


def run(check: dict[str, Any], folder: Path, major: int, headers: Path) -> list[str]:
    """What does not agree."""
    place = f"{folder.relative_to(ROOT)} (CUDA {major})"
    functions: dict[str, str] = {}
    declared: set[str] = set()
    problems = []
    if "functions" in check:
        functions = our_functions(check, folder, major, headers)
        declared = declared_names(check, major, headers)
        per_thread = {name for name in functions if name.endswith(("_ptsz", "_ptds"))}
        unknown = set(functions) - declared - per_thread - set(check.get("undeclared", []))
        problems += [f"{place}: {name} is in no header" for name in sorted(unknown)]
    status, _, errors = compile_text(
        source_of(check, functions, declared), major, headers, "-fsyntax-only"
    )
    if status:
        lines = [line for line in errors.splitlines() if "error:" in line]
        problems += [f"{place}: {line.partition('error: ')[2]}" for line in lines or [errors]]
    compared = len(rows_of(check)) + len(set(functions) & declared)
    print(f"{place}: {compared} compared")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headers", type=Path, default=ROOT / "build/cuda_headers")
    parser.add_argument("--only", default="", help="a folder of src/ whose tables are read")
    arguments = parser.parse_args()
    headers = arguments.headers.resolve()
    headers.mkdir(parents=True, exist_ok=True)
    fetch(headers)
    problems = []
    for table in sorted((SOURCES / arguments.only).rglob("abi_check.toml")):
        for check in tomllib.loads(table.read_text())["check"]:
            for major in check["majors"]:
                problems += run(check, table.parent, major, headers)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
