#!/usr/bin/env python3
"""Fails where the documents are hard to read: long sentences, and such as put the verb off.

    tools/check_language.py [--worst N] [FILE...]

Counts sentences, words in one, how many have more than 30, and how many begin with Of, What or
That. Headings, code, and cells of tables that hold no sentence do not count; a piece of code in a
sentence is one word. The limits hold for all the documents together, or for those that are named.
`--worst N` prints the N longest sentences, and those that begin so.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from source_files import project_files

ROOT = Path(__file__).resolve().parent.parent
LONG = 30
MOST_WORDS = 18.0
MOST_LONG = 0.05
MOST_INVERTED = 0.03
INVERTED = re.compile(r"(?:Of|What|That)\b")
WORD = re.compile(r"[^\W_][\w'.-]*")
FEWEST_WORDS = 3  # of what is a sentence and no name
# White space behind a full stop and before what may begin a sentence.
BETWEEN = re.compile(r"(?<=[.!?:])[)\"”]*\s+(?=[A-Z\"“(`*])")
POINT = re.compile(r"(?:[-*+]|\d+\.)\s+")


@dataclass(frozen=True)
class Sentence:
    text: str
    line: int  # where its paragraph begins

    @property
    def words(self) -> int:
        return len(WORD.findall(self.text))

    @property
    def is_inverted(self) -> bool:
        return INVERTED.match(self.text) is not None


@dataclass(frozen=True)
class Count:
    """Of the sentences of some documents."""

    sentences: int
    words: float  # in the mean
    long: float  # shares of them
    inverted: float

    @property
    def is_readable(self) -> bool:
        return (
            self.words <= MOST_WORDS and self.long <= MOST_LONG and self.inverted <= MOST_INVERTED
        )

    def row(self, name: str) -> str:
        long, inverted = 100 * self.long, 100 * self.inverted
        return f"{self.sentences:9}  {self.words:5.1f}  {long:5.1f}  {inverted:10.1f}  {name}"


def count(sentences: Sequence[Sentence]) -> Count:
    among = max(len(sentences), 1)
    return Count(
        len(sentences),
        sum(one.words for one in sentences) / among,
        sum(one.words > LONG for one in sentences) / among,
        sum(one.is_inverted for one in sentences) / among,
    )


def without_code(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines; blank where a comment or a block of code stands."""
    text = re.sub(r"<!--.*?-->", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced = fenced != fence
        yield number, "" if fenced or fence else line


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Prose with the number of its first line: paragraphs, points of lists, cells of tables."""
    held: list[str] = []
    began = 0
    for number, line in (*without_code(text), (0, "")):
        bare = line.strip()
        point = POINT.match(bare)
        indented_code = line.startswith("    ") and not held and not point
        if not bare or point or bare.startswith(("#", "|")) or indented_code:
            if held:
                yield began, " ".join(held)
            held = []
        if bare.startswith("|"):
            yield from ((number, cell.strip()) for cell in re.split(r"(?<!\\)\|", bare))
        elif bare and not bare.startswith("#") and not indented_code:
            began = began if held else number
            held.append(bare[point.end() :] if point else bare.lstrip("> "))


def plain(text: str) -> str:
    text = re.sub(r"`[^`]+`", "Code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("**", "").strip()


def sentences_of(text: str) -> list[Sentence]:
    found = []
    for line, paragraph in paragraphs(text):
        for part in BETWEEN.split(plain(paragraph)):
            sentence = Sentence(part.strip(), line)
            if sentence.text.endswith((".", "!", "?", ":")) and sentence.words >= FEWEST_WORDS:
                found.append(sentence)
    return found


def main() -> int:
    """Prints a row for each document and one for all; 1 where that is beyond a limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--worst", type=int, default=0, metavar="N")
    options = parser.parse_args()
    files = options.files or [path for path in project_files(ROOT) if path.suffix == ".md"]
    placed: list[tuple[Path, Sentence]] = []
    print("sentences  words  >30 %  inverted %")
    for path in sorted(files):
        found = sentences_of(path.read_text(encoding="utf-8"))
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        placed += [(name, sentence) for sentence in found]
        if found:
            print(count(found).row(str(name)))
    together = count([sentence for _, sentence in placed])
    print(together.row("all"))
    longest = sorted(placed, key=lambda one: -one[1].words)[: options.worst]
    inverted = [one for one in placed if one[1].is_inverted] if options.worst else []
    for name, sentence in (*longest, *inverted):
        print(f"{name}:{sentence.line}: {sentence.words} words: {sentence.text}")
    if not together.is_readable:
        print(
            f"language: at most {MOST_WORDS:.0f} words in the mean, {100 * MOST_LONG:.0f} % of"
            f" more than {LONG} words, {100 * MOST_INVERTED:.0f} % that begin with Of, What or"
            " That; --worst 20 shows which"
        )
    return 0 if together.is_readable else 1


if __name__ == "__main__":
    sys.exit(main())
