"""Changes the text of a script, where the change is certain to do what it is meant to do.

    python -c SCRIPT '{"path": ..., "name": ..., "edits": [...]}'

Prints {"text", "diff", "refused"}: the script with the edits, a unified diff as git writes it,
which calls the file `name`, and for each edit why it was not made, null where it was. Each edit
holds any of

    "lines":     stand behind the first `import torch`; not where the script's own code uses a name
                 that holds one of "unless"
    "optimizer": "AdamW": the only optimizer that the script makes, by torch, gets fused=True
    "calls":     each gives a call arguments: {"class_name", "line": any that the call is on,
                 "arguments": {name: text}}. "was": {name: number}: not where the call gives
                 something else, or the script makes another object of such a class. "drop_in":
                 the class is taken from unstarve. "cached": unstarve.cached() stands around its
                 data set.

It keeps to what interpreters from 3.8 on can run, since it is run by the job's.
"""

from __future__ import annotations

import ast
import difflib
import io
import itertools
import json
import re
import sys
import tokenize
from pathlib import Path
from typing import Any

MOST_BYTES = 4 << 20
KEYWORDS_ONLY = "*"
# The first parameters of each class, by their places. Where KEYWORDS_ONLY is not the last of them,
# there may be others behind them.
PARAMETERS = {
    "DataLoader": (
        "dataset",
        "batch_size",
        "shuffle",
        "sampler",
        "batch_sampler",
        "num_workers",
        "collate_fn",
        "pin_memory",
        "drop_last",
        "timeout",
        "worker_init_fn",
        "multiprocessing_context",
        "generator",
        KEYWORDS_ONLY,
    ),
    "TrainingArguments": ("output_dir",),
    "Trainer": ("model",),
    "Adam": ("params", "lr", "betas", "eps", "weight_decay", "amsgrad", KEYWORDS_ONLY),
    "AdamW": ("params", "lr", "betas", "eps", "weight_decay", "amsgrad", KEYWORDS_ONLY),
    "SGD": ("params", "lr", "momentum", "dampening", "weight_decay", "nesterov", KEYWORDS_ONLY),
}
FUSED = ("Adam", "AdamW", "SGD")
# torch takes none of these beside fused=True.
NOT_BESIDE_FUSED = ("foreach", "differentiable")
NO_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


class RefusedError(Exception):
    """Why an edit would not be certain to do what it is meant to do."""


def require(is_certain: Any, why_not: str) -> None:
    if not is_certain:
        raise RefusedError(why_not)


def last_name(callee: ast.expr) -> str:
    """`DataLoader` of `torch.utils.data.DataLoader`."""
    if isinstance(callee, ast.Attribute):
        return callee.attr
    return callee.id if isinstance(callee, ast.Name) else ""


def dotted(callee: ast.expr) -> list[str]:
    """The parts of `torch.optim.AdamW`; none of them where it is more than names."""
    if isinstance(callee, ast.Name):
        return [callee.id]
    parts = dotted(callee.value) if isinstance(callee, ast.Attribute) else []
    return [*parts, last_name(callee)] if parts else []


def gives_class(node: ast.ImportFrom, class_name: str) -> bool:
    """Whether it takes a class by its name from torch.utils.data."""
    if node.module not in ("torch.utils.data", "torch.utils.data.dataloader") or node.level:
        return False
    return any(alias.name == class_name and alias.asname is None for alias in node.names)


class Token:
    """A token that is code, [begin, end) of the text."""

    def __init__(self, kind: int, text: str, begin: int, end: int) -> None:
        self.kind, self.text, self.begin, self.end = kind, text, begin, end


class Source:
    """A script, where what stands in it, and the texts that are to stand there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = io.StringIO(text, newline="").readlines()
        self.starts = [0, *itertools.accumulate(len(line) for line in self.lines)]
        self.tree = ast.parse(text)
        self.nodes = list(ast.walk(self.tree))
        readline = io.StringIO(text, newline="").readline
        self.tokens = [
            Token(
                kind, string, self.starts[begin[0] - 1] + begin[1], self.starts[end[0] - 1] + end[1]
            )
            for kind, string, begin, end, _ in tokenize.generate_tokens(readline)
            if kind not in NO_CODE
        ]
        self.names = {token.text for token in self.tokens if token.kind == tokenize.NAME}

    def begin(self, node: Any) -> int:
        return self.position(node.lineno, node.col_offset)

    def end(self, node: Any) -> int:
        return self.position(node.end_lineno, node.end_col_offset)

    def position(self, line: int, column: int) -> int:
        """`column` counts the bytes of UTF-8, as `ast` does."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Before "\\n" or "\\r\\n", or where the text ends."""
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        return end - 1 if self.text[at:end].endswith("\r") else end

    def line_break(self, at: int) -> str:
        """As the line has it that holds `at`."""
        return "\r\n" if self.text.startswith("\r", self.line_end(at)) else "\n"

    def indent(self, at: int) -> str:
        start = self.line_start(at)
        found = re.compile(r"[ \t]*").match(self.text, start)
        return found.group() if found else ""

    def tokens_in(self, begin: int, end: int) -> list[Token]:
        return [token for token in self.tokens if begin <= token.begin and token.end <= end]

    def is_alone(self, statement: ast.stmt) -> bool:
        """Whether no other statement is on its lines."""
        first, last = self.line_start(self.begin(statement)), self.line_end(self.end(statement))
        tokens = self.tokens_in(first, last)
        return bool(tokens) and (tokens[0].begin, tokens[-1].end) == (
            self.begin(statement),
            self.end(statement),
        )


class Call:
    """A call and the values that its arguments are to have."""

    def __init__(self, source: Source, node: ast.Call) -> None:
        self.source, self.node = source, node
        self.name = last_name(node.func)
        self.begin, self.callee_end = source.begin(node.func), source.end(node.func)
        self.end = source.end(node)
        self.values: dict[str, str] = {}

    def inner(self) -> list[Token]:
        """The tokens within its brackets."""
        tokens = self.source.tokens_in(self.callee_end, self.end)
        brackets = len(tokens) >= 2 and tokens[0].text == "(" and tokens[-1].text == ")"
        in_code = self.source.text[: self.callee_end].endswith(self.name)
        require(brackets and in_code, f"{self.words()} stands in a string or in brackets")
        return tokens[1:-1]

    def words(self) -> str:
        return f"the call of {self.name} in line {self.node.lineno}"

    def text_of(self, node: ast.expr) -> str:
        return self.source.text[self.source.begin(node) : self.source.end(node)]

    def given(self, name: str, class_name: str) -> ast.expr | None:
        """The value that it gives; None: it does not say. Refuses where that cannot be known."""
        for keyword in self.node.keywords:
            if keyword.arg == name:
                return keyword.value
        known = PARAMETERS.get(class_name, ("",))
        by_place = self.node.args
        for value in by_place:
            unpacked = isinstance(value, ast.Starred)
            require(not unpacked, f"{self.words()} takes arguments from {self.text_of(value)}")
        if name in known and known.index(name) < len(by_place):
            return by_place[known.index(name)]
        by_known_place = KEYWORDS_ONLY in known or len(by_place) <= len(known)
        require(by_known_place, f"{self.words()} gives more by their places than are known")
        for keyword in self.node.keywords:
            source = "" if keyword.arg else self.text_of(keyword.value)
            require(keyword.arg, f"{self.words()} takes arguments from **{source}")
        generator = any(isinstance(value, ast.GeneratorExp) for value in by_place)
        require(not generator, f"{self.words()} takes a generator")
        return None

    def replacements(self, class_name: str) -> list[tuple[int, int, str]]:
        """Texts with which it gives its values: [begin, end) of the source, and the text there."""
        made, more = [], []
        for name, text in self.values.items():
            value = self.given(name, class_name)
            if value is None:
                more.append(f"{name}={text}")
            else:
                made.append((self.source.begin(value), self.source.end(value), text))
        inner = self.inner()
        if more:
            made.append(self.added(", ".join(more), inner))
        return made

    def added(self, text: str, inner: list[Token]) -> tuple[int, int, str]:
        """`text` behind its last argument: on a line of its own where that has one."""
        source = self.source
        if not inner:
            return self.end - 1, self.end - 1, text
        if inner[-1].text != ",":
            return inner[-1].end, inner[-1].end, ", " + text
        values = [*self.node.args, *(keyword.value for keyword in self.node.keywords)]
        last = max(source.begin(value) for value in values)
        if source.line_start(last) <= self.begin:
            return self.end - 1, self.end - 1, " " + text
        behind, end = inner[-1].end, source.line_end(inner[-1].end)
        if not source.tokens_in(behind, end):
            behind = end  # of a comment too
        return behind, behind, source.line_break(end) + source.indent(last) + text + ","


class Script:
    """A script and the edits that were made in it so far."""

    def __init__(self, text: str) -> None:
        self.source = Source(text)
        nodes = [node for node in self.source.nodes if isinstance(node, ast.Call)]
        nodes.sort(key=lambda node: (node.lineno, node.col_offset, self.source.end(node.func)))
        self.calls = [Call(self.source, node) for node in nodes]
        self.changed: dict[int, tuple[Call, str]] = {}  # with the class, by where the call ends
        self.texts: list[tuple[int, int, str]] = []

    def edited(self) -> str:
        texts = list(self.texts)
        for call, class_name in self.changed.values():
            texts += call.replacements(class_name)
        made, copied = "", 0
        for begin, end, text in sorted(texts, key=lambda entry: entry[:2]):
            require(begin >= copied, "the edits meet in one place")
            made += self.source.text[copied:begin] + text
            copied = end
        return made + self.source.text[copied:]

    def make(self, edit: dict[str, Any]) -> None:
        """All of an edit, or none of it."""
        texts: list[tuple[int, int, str]] = []
        changes: list[tuple[Call, str, dict[str, str]]] = []
        if edit.get("lines"):
            texts += self.behind_import(edit["lines"], edit.get("unless", []))
        if edit.get("optimizer"):
            changes.append(self.fused(edit["optimizer"]))
        for wanted in edit.get("calls", []):
            call, class_name = self.find_call(wanted), wanted["class_name"]
            arguments = wanted["arguments"]
            if wanted.get("drop_in"):
                texts += self.drop_in(call, class_name)
            if wanted.get("cached"):
                texts += self.import_of_ours()
                arguments = {"dataset": self.cached(call, class_name), **arguments}
            changes.append((call, class_name, arguments))
        for call, class_name, values in changes:
            for name in values:
                call.given(name, class_name)
            call.inner()
        self.texts += texts
        for call, class_name, values in changes:
            call.values.update(values)
            self.changed[call.end] = (call, class_name)

    def behind_import(self, lines: list[str], unless: list[str]) -> list[tuple[int, int, str]]:
        """Lines behind the first `import torch` that is a line of its own and not indented."""
        used = sorted(name for name in self.source.names if any(word in name for word in unless))
        require(not used, f"the script uses {', '.join(used)} itself")
        for statement in self.source.tree.body:
            names = statement.names if isinstance(statement, ast.Import) else []
            is_torch = any(name.name == "torch" and name.asname is None for name in names)
            if is_torch and self.source.is_alone(statement):
                end = self.source.line_end(self.source.end(statement))
                line_break = self.source.line_break(end)
                return [(end, end, "".join(line_break + line for line in lines))]
        raise RefusedError("the script has no line `import torch`")

    def fused(self, kind: str) -> tuple[Call, str, dict[str, str]]:
        made = [call for call in self.calls if call.name in FUSED]
        only = len(made) == 1 and made[0].name == kind
        require(only, f"the script does not make one optimizer, by {kind}(...)")
        require(self.is_torchs(made[0]), f"{made[0].words()} may not be of torch's class")
        keywords = [keyword.arg for keyword in made[0].node.keywords]
        for name in NOT_BESIDE_FUSED:
            require(name not in keywords, f"{made[0].words()} gives {name}")
        return made[0], kind, {"fused": "True"}

    def is_torchs(self, call: Call) -> bool:
        """Whether nothing but torch's imports gives the name by which an optimizer is made."""
        parts = dotted(call.node.func)
        if not parts:
            return False
        imported = self.imported(parts[0])
        if parts[:-1] == ["torch", "optim"]:
            return "torch" in imported
        wholes = {".".join([name, *parts[1:]]) for name in imported}
        return wholes == {"torch.optim." + call.name} and not self.is_assigned(parts[0])

    def imported(self, name: str) -> set[str]:
        """All that imports give a name, and may give it."""
        found = set()
        for node in self.source.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    given = alias.asname or alias.name.split(".")[0]
                    found |= {alias.name if alias.asname else given} if given == name else set()
            elif isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                for alias in node.names:
                    if name == (alias.asname or alias.name) or alias.name == "*":
                        found.add(f"{module}.{alias.name}")
        return found

    def is_assigned(self, name: str) -> bool:
        for node in self.source.nodes:
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
                return True
            if isinstance(node, ast.arg) and node.arg == name:
                return True
            defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            if isinstance(node, defined) and node.name == name:
                return True
        return False

    def find_call(self, wanted: dict[str, Any]) -> Call:
        """The last call of the class that begins on the line, else the innermost around it."""
        class_name, line = wanted["class_name"], wanted["line"]
        made = [call for call in self.calls if call.name.endswith(class_name)]
        here = [call for call in made if call.node.lineno <= line <= (call.node.end_lineno or 0)]
        require(here, f"line {line} has no call of {class_name}")
        call = here[-1]
        if "was" not in wanted:
            has_data = not wanted["arguments"] or call.node.args or call.node.keywords
            require(has_data, f"{call.words()} takes no data set")
            return call
        require(len(made) == 1, f"the script has {len(made)} calls of {class_name}")
        for name, number in wanted["was"].items():
            value = call.given(name, class_name)
            if value is not None:
                # In other words it may be another number for other loaders.
                is_number = isinstance(value, ast.Constant) and type(value.value) is int
                is_it = is_number and ast.literal_eval(value) == number
                require(is_it, f"{call.words()} gives {name} as {call.text_of(value)}")
        return call

    def drop_in(self, call: Call, class_name: str) -> list[tuple[int, int, str]]:
        """The class from unstarve: by its import, or by the name that is called."""
        parts = dotted(call.node.func)
        require(parts and parts[-1] == class_name, f"{call.words()} is not of torch's class")
        if len(parts) == 1:
            return self.swapped_import(class_name)
        ours = (call.begin, call.callee_end, f"unstarve.{class_name}")
        return [*self.import_of_ours(), ours]

    def cached(self, call: Call, class_name: str) -> str:
        """Its data set, kept."""
        dataset = call.given("dataset", class_name)
        if dataset is None:
            raise RefusedError(f"{call.words()} takes no data set")
        return f"unstarve.cached({call.text_of(dataset)})"

    def import_of_ours(self) -> list[tuple[int, int, str]]:
        for statement in self.source.tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                    continue
                require(statement.col_offset == 0, "the first import is not alone in its line")
                at = self.source.begin(statement)
                return [(at, at, "import unstarve" + self.source.line_break(at))]
        raise RefusedError("the script imports nothing at its beginning")

    def swapped_import(self, class_name: str) -> list[tuple[int, int, str]]:
        """`from torch.utils.data import Dataset`, and another line for the class."""
        source = self.source
        imports = [node for node in source.nodes if isinstance(node, ast.ImportFrom)]
        found = [node for node in imports if gives_class(node, class_name)]
        only = len(found) == 1 and source.is_alone(found[0])
        require(only, f"the script has no line of its own that imports {class_name} from torch")
        begin, end = source.begin(found[0]), source.end(found[0])
        ours = f"from unstarve import {class_name}"
        if len(found[0].names) == 1:
            return [(begin, end, ours)]
        tokens = source.tokens_in(begin, end)
        at = next(i for i, token in enumerate(tokens) if token.text == class_name)
        # A comma goes with the name: the one behind it, else the one before it.
        if at + 1 < len(tokens) and tokens[at + 1].text == ",":
            gone = (tokens[at].begin, tokens[min(at + 2, len(tokens) - 1)].begin, "")
        else:
            gone = (tokens[at - 1].begin, tokens[at].end, "")
        behind = source.line_end(end)
        text = source.line_break(behind) + source.indent(begin) + ours
        return [gone, (behind, behind, text)]


def unified_diff(before: str, after: str, name: str) -> str:
    """As git writes it, with three lines of context; a name with a space ends at a tab."""
    end = "\t" if " " in name else ""
    split = re.compile(r"[^\n]*\n|[^\n]+").findall
    lines = difflib.unified_diff(split(before), split(after), f"a/{name}{end}", f"b/{name}{end}")
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
    )


def read_script(path: str) -> str:
    with Path(path).open("rb") as file:
        whole = file.read(MOST_BYTES + 1)
    require(len(whole) <= MOST_BYTES, f"the script has more than {MOST_BYTES >> 20} MiB")
    encoding, _ = tokenize.detect_encoding(io.BytesIO(whole).readline)
    require(encoding in ("utf-8", "utf-8-sig"), f"the script is written in {encoding}")
    return whole.decode("utf-8")


def edit_script(path: str, name: str, edits: list[dict[str, Any]]) -> dict[str, Any]:
    refused: list[str | None] = []
    try:
        # `patch` reads such names as they are.
        plain = not any(c < " " or c in '"\\' for c in name)
        require(plain, "the script's name cannot stand in a diff")
        text = read_script(path)
        mark = "\ufeff" if text.startswith("\ufeff") else ""  # no character for `ast`
        script = Script(text[len(mark) :])
        for edit in edits:
            try:
                script.make(edit)
                refused.append(None)
            except RefusedError as error:
                refused.append(str(error))
        edited = script.edited()
        ast.parse(edited)
    except (RefusedError, OSError) as error:
        return {"text": "", "diff": "", "refused": [str(error)] * len(edits)}
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError, tokenize.TokenError):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        why = f"Python {version} cannot read the script with the change"
        return {"text": "", "diff": "", "refused": [why] * len(edits)}
    made = mark + edited
    return {"text": made, "diff": unified_diff(text, made, name), "refused": refused}


if __name__ == "__main__":
    print(json.dumps(edit_script(**json.loads(sys.argv[1]))))
