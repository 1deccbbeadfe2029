"""The check of the documents' language counts sentences as a reader does."""

from __future__ import annotations

import check_language
import pytest

TEXT = """# What a heading says is no sentence.

The first one wraps
over two lines. Code like `a. B. C` is one word, and [a link](http://x.y/z.A) is its text.

    indented = "code. That does not count."

- Of a point this is one.
- a name

```sh
echo "What is in a fence. Nor that."
```

| head | another |
|---|---|
| a cell | This cell holds a sentence. |

<!-- Of a comment nothing counts. -->
"""


def test_sentences_are_those_of_prose() -> None:
    found = check_language.sentences_of(TEXT)
    assert [(one.line, one.words, one.is_inverted) for one in found] == [
        (3, 7, False),
        (3, 12, False),
        (8, 6, True),
        (17, 5, False),
    ]


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("The loader reads a batch. " * 40, True),
        ("The loader reads " + "a batch and " * 10 + "stops. ", False),
        ("The loader reads a batch. " * 9 + "That is what it does. ", False),
    ],
)
def test_what_is_hard_to_read_fails(text: str, readable: bool) -> None:
    assert check_language.count(check_language.sentences_of(text)).is_readable == readable
