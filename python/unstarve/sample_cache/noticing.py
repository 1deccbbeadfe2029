"""Notices what a data set reads while it makes a sample: files, and what cannot be followed.

Python tells an audit hook of each file that it opens. What a compiled library opens is not told,
but counts in the bytes that the thread has read.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

#: Bytes that are read beyond those of the files that were noticed, before somebody is suspected.
_UNNOTICED_BYTES = 1024

READS_UNNOTICED = "reads files by compiled code, which cannot be noticed"

_CANNOT_FOLLOW = {
    "socket.connect": "uses the network",
    "socket.getaddrinfo": "uses the network",
    "socket.sendto": "uses the network",
    "subprocess.Popen": "starts a program",
    "os.system": "starts a program",
    "os.posix_spawn": "starts a program",
    "os.fork": "starts a process",
    "shutil.copyfile": "copies files",
    "os.rename": "renames a file",
    "os.remove": "removes a file",
}
_OF_PYTHON = (".py", ".pyc", ".so")
_OF_THE_SYSTEM = ("/proc/", "/sys/", "/dev/")
_OF_PROGRAMS = ("/usr/lib", "/lib", f"{sys.prefix}/", f"{sys.base_prefix}/")


class FileMark(NamedTuple):
    """By which a file is known to be as it was."""

    path: str
    size: int
    modified_ns: int
    changed_ns: int
    inode: int


def mark_of(path: str) -> FileMark | None:
    try:
        state = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return FileMark(path, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)


class Noticed:
    """What was noticed while a sample was made."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        #: What those files are known by, once the sample is made.
        self.marks: tuple[FileMark, ...] = ()
        self.obstacle = ""
        self._of_python: set[str] = set()  # modules: no data, but read
        self._counts = _open_counts()
        self._read_bytes = _bytes_read(self._counts)

    def finish(self) -> None:
        read = _bytes_read(self._counts) - self._read_bytes
        if self._counts >= 0:
            os.close(self._counts)
        found = [mark_of(path) for path in sorted(self.paths)]
        self.marks = tuple(mark for mark in found if mark is not None)
        if len(self.marks) < len(found):
            self.obstacle = self.obstacle or "reads a file that is gone by then"
        if read <= _UNNOTICED_BYTES or self.obstacle:
            return
        modules = filter(None, map(mark_of, self._of_python))
        known = sum(mark.size for mark in [*self.marks, *modules])
        if read > known + _UNNOTICED_BYTES:
            self.obstacle = READS_UNNOTICED

    def note(self, event: str, args: Any) -> None:
        if event == "open":
            path, mode, flags = args
            writes = bool(flags & (os.O_WRONLY | os.O_RDWR)) if isinstance(flags, int) else False
            if isinstance(mode, str) and set(mode) & set("wax+"):
                writes = True
            self._note_file(path, writes)
        elif event == "sqlite3.connect":
            self._note_file(args[0], False)
        elif event in ("os.listdir", "os.scandir"):
            self._note_folder(args[0])
        elif event in _CANNOT_FOLLOW:
            self.obstacle = self.obstacle or _CANNOT_FOLLOW[event]

    def _note_folder(self, path: Any) -> None:
        """It is another folder, by its time, once an entry comes or goes."""
        if path in sys.path_importer_cache:
            return  # Python looks for a module
        if isinstance(path, int):
            self.obstacle = self.obstacle or "lists a folder by its descriptor"
        else:
            self._note_file(path or ".", False)

    def _note_file(self, path: Any, writes: bool) -> None:
        if isinstance(path, int) or path is None:
            return  # a descriptor, of a file that is open already
        name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100
        if name.startswith(_OF_THE_SYSTEM):
            return
        if name.endswith(_OF_PYTHON):
            self._of_python.add(name)
        elif writes:
            self.obstacle = self.obstacle or f"writes to {name}"
        else:
            self.paths.add(name)


class _Hook:
    """Python keeps an audit hook for good: there is one, which does nothing most of the time."""

    def __init__(self) -> None:
        self.current: Noticed | None = None
        self.is_there = False

    def install(self) -> None:
        if not self.is_there:
            self.is_there = True
            sys.addaudithook(self)

    def __call__(self, event: str, args: Any) -> None:
        current = self.current
        if current is None:
            return
        self.current = None  # what it does itself is not the sample's
        try:
            current.note(event, args)
        except Exception:
            current.obstacle = current.obstacle or f"does something unheard of ({event})"
        finally:
            self.current = current


_hook = _Hook()


#: Compiled functions that read the file of their first argument without a word to Python, some of
#: them by mapping it: where they are called by.
_READERS = (
    *(("torch", "from_file"), ("h5py._hl.files", "make_fid")),
    *(("cv2", "imread"), ("cv2", "imreadmulti"), ("cv2", "VideoCapture")),
)
#: Methods that do so, of their first argument behind `self`.
_READING_METHODS = (("soundfile", "SoundFile", "__init__"),)
_READING_OPERATORS = (("image", "read_file"),)  # of torch.ops


class _Readers:
    """Those of the modules that are loaded: looked for again when there are more."""

    def __init__(self) -> None:
        self._modules = 0
        self._found: list[tuple[Any, str, Any]] = []

    def __call__(self) -> list[tuple[Any, str, Any]]:
        if len(sys.modules) != self._modules:
            self._modules, self._found = len(sys.modules), list(_readers())
        return self._found


_known_readers = _Readers()


def _readers() -> Iterator[tuple[Any, str, Any]]:
    for module, name in _READERS:
        if hasattr(sys.modules.get(module), name):
            yield sys.modules[module], name, getattr(sys.modules[module], name)
    for module, kind, name in _READING_METHODS:
        if hasattr(sys.modules.get(module), kind):
            owner = getattr(sys.modules[module], kind)
            yield owner, name, getattr(owner, name)
    if "torchvision" in sys.modules:
        operators = sys.modules["torch"].ops
        for package, name in _READING_OPERATORS:
            if hasattr(getattr(operators, package), name):
                yield getattr(operators, package), name, getattr(getattr(operators, package), name)


class _Told:
    """In the place of such a function."""

    def __init__(self, noticed: Noticed, function: Any) -> None:
        self._noticed = noticed
        self._function = function

    def __call__(self, *args: Any, **options: Any) -> Any:
        self._tell(args[:2], options)
        return self._function(*args, **options)

    def __get__(self, instance: Any, kind: Any = None) -> Any:
        """As a method of a class."""

        def told(*args: Any, **options: Any) -> Any:
            self._tell(args[:2], options)
            return self._function(instance, *args, **options)

        return told

    def _tell(self, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        named = [options[key] for key in ("filename", "path", "file", "name") if key in options]
        mode = options.get("mode", args[1] if len(args) > 1 else "r")
        for path in [*args[:1], *named]:
            if isinstance(path, (str, bytes, os.PathLike)):
                self._noticed.note("open", (path, mode if isinstance(mode, str) else "r", 0))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


class noticing:  # noqa: N801
    """Within, what is read is noticed: `with noticing() as noticed`."""

    def __enter__(self) -> Noticed:
        _hook.install()
        noticed = Noticed()
        self._noticed = noticed
        self._readers = _known_readers()
        for owner, name, function in self._readers:
            setattr(owner, name, _Told(noticed, function))
        self._outer, _hook.current = _hook.current, noticed
        return noticed

    def __exit__(self, *error: object) -> None:
        _hook.current = self._outer
        for owner, name, function in self._readers:
            setattr(owner, name, function)
        self._noticed.finish()


def held_files(but: str) -> list[FileMark]:
    """Regular files that the process holds open to read or has mapped, other than programs, those
    whose paths begin with `but` and those of a run that unstarve watches, which change all the
    time: a data set may read them without opening anything."""
    own = [but, *(f"{folder}/" for folder in [os.environ.get("UNSTARVE_RUN_DIR")] if folder)]
    paths = set(_open_to_read())
    with Path("/proc/self/maps").open(encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(maxsplit=5)
            if len(fields) == 6 and fields[5].startswith("/") and "x" not in fields[1]:
                paths.add(fields[5])
    kept = [path for path in sorted(paths) if _is_data(path) and not path.startswith(tuple(own))]
    return [mark for mark in map(mark_of, kept) if mark is not None]


def _is_data(path: str) -> bool:
    return (
        not path.startswith((*_OF_THE_SYSTEM, *_OF_PROGRAMS))
        and ".so" not in Path(path).name
        and Path(path).is_file()
    )


def _open_to_read() -> Iterator[str]:
    for link in list(Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(OSError, ValueError, IndexError):
            info = Path("/proc/self/fdinfo", link.name).read_text(encoding="ascii")
            flags = int(info.split("flags:", 1)[1].split()[0], 8)
            if flags & os.O_ACCMODE != os.O_WRONLY:
                yield str(link.readlink())


def _open_counts() -> int:
    """What the system counts for this thread; -1 where it does not tell."""
    try:
        return os.open("/proc/thread-self/io", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1


def _bytes_read(counts: int) -> int:
    """By system calls, so far."""
    return int(os.pread(counts, 64, 0).split(b"\n", 1)[0][7:]) if counts >= 0 else 0


__all__ = ["READS_UNNOTICED", "FileMark", "Noticed", "held_files", "mark_of", "noticing"]
