"""Found by Python at start-up when this directory is on PYTHONPATH.

Starts the hook when `unstarve run` asked for it, then hands over to the sitecustomize that would
have been found without us. Prints nothing and raises nothing of its own, and imports nothing that
Python has not loaded already. A job may start any Python: this file has no word that Python 2
cannot read.
"""

import os
import sys


def _start():  # type: () -> None
    if "UNSTARVE_RUN_DIR" in os.environ:
        try:
            import _unstarve_hook  # type: ignore[import-not-found]

            _unstarve_hook.install()
        except Exception:
            pass  # The job comes first; it runs as ever, unwatched.


def _hand_over():  # type: () -> None
    """Leaves sys.path as it would be without us, and runs the next sitecustomize in our stead."""
    here = os.path.dirname(__file__)
    sys.path[:] = [entry for entry in sys.path if entry != here]
    ours = sys.modules.pop(__name__)
    try:
        # What it raises is not ours to catch: `site` reports it exactly as it would without us.
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        # Before Python 3, its words alone say which.
        if (getattr(error, "name", None) or str(error).split()[-1]) != __name__:
            raise
    finally:
        # The import that runs this file wants to find a module, be it this one.
        sys.modules.setdefault(__name__, ours)


_start()
_hand_over()
