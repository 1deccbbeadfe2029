"""What nobody but the job's owner is to read, out of what the hook writes down.

As src/trace/text/secrets.h has it for commands.
"""

from __future__ import annotations

import os
import re
import sys

_HIDDEN = "***"
_SHORTEST = 6  # characters of a value that is looked for in texts
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+(?=@)")


def _names_a_secret(name: str) -> bool:
    for word in re.split(r"[^a-z0-9]+", name.lower()):
        if any(part in word for part in ("secret", "password", "passwd", "credential")):
            return True
        if word.endswith(("key", "token")):
            return True
    return False


def hidden(words: list[str]) -> list[str]:
    """The words of a command, without values of arguments whose names say so."""
    return [_CREDENTIALS.sub(_HIDDEN, word) for word, _ in _with_values(words)]


def hidden_in(text: str) -> str:
    """A text, without the values of such arguments and variables of this process."""
    values = {value for _, value in _with_values([str(word) for word in sys.argv])}
    values.update(value for name, value in os.environ.items() if _names_a_secret(name))
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= _SHORTEST:
            text = text.replace(value, _HIDDEN)
    return _CREDENTIALS.sub(_HIDDEN, text)


def _with_values(words: list[str]) -> list[tuple[str, str]]:
    """Each word as it may be shown, and the secret that it had."""
    shown = []
    is_value = False
    for word in words:
        is_option = len(word) > 1 and word.startswith("-")
        name, equals, value = word.partition("=")
        if is_value and not is_option:
            shown.append((_HIDDEN, word))
            is_value = False
        elif equals and _names_a_secret(name):
            shown.append((name + equals + _HIDDEN, value))
            is_value = False
        else:
            is_value = is_option and not equals and _names_a_secret(word)
            shown.append((word, ""))
    return shown
