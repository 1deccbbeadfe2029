"""What unstarve raises: one class per kind of failure, all of them `UnstarveError`."""

from __future__ import annotations


class UnstarveError(RuntimeError):
    """Something failed; the message says what, on which object, and what to do."""

    code = "unknown"
    errno: int | None = None


class InvalidArgumentError(UnstarveError, ValueError):
    """An argument makes no sense, or a file is beyond a limit."""

    code = "invalid_argument"


class NotFoundError(UnstarveError, LookupError):
    """A file, device or name is not there."""

    code = "not_found"


class NoPermissionError(UnstarveError):
    """It is there, but this process may not touch it."""

    code = "no_permission"


class NotSupportedError(UnstarveError):
    """This machine, process or format cannot do it."""

    code = "not_supported"


class CorruptDataError(UnstarveError):
    """Bytes from outside break their format."""

    code = "corrupt_data"


class IoError(UnstarveError):
    """The operating system failed a read, write or map."""

    code = "io"


class OutOfMemoryError(UnstarveError, MemoryError):
    """There was no memory left."""

    code = "out_of_memory"


class CancelledError(UnstarveError):
    """Somebody asked for a stop."""

    code = "cancelled"


_BY_CODE: dict[str, type[UnstarveError]] = {
    kind.code: kind
    for kind in (
        InvalidArgumentError,
        NotFoundError,
        NoPermissionError,
        NotSupportedError,
        CorruptDataError,
        IoError,
        OutOfMemoryError,
        CancelledError,
    )
}


def from_code(code: str, message: str, os_errno: int) -> UnstarveError:
    """The exception for an error of the compiled half."""
    error = _BY_CODE.get(code, UnstarveError)(message)
    error.code = code
    error.errno = os_errno or None
    return error
