"""Found by Python at start-up when this directory is on PYTHONPATH.

Starts the hook when `unstarve run` asked for it, then hands over to the sitecustomize that would
have been found without us. Prints nothing and raises nothing of its own.
"""

import sys


def _start() -> None:
    import os

    if "UNSTARVE_RUN_DIR" in os.environ:
        try:
            import _unstarve_hook  # type: ignore[import-not-found]

            _unstarve_hook.install()
        except Exception:
            pass  # The job comes first; it runs as ever, unwatched.


def _hand_over() -> None:
    """Leaves sys.path as it would be without us, and runs the next sitecustomize in our stead."""
    import os
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    ours = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.realpath(entry) != ours]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    # What it raises is not ours to catch: `site` reports it exactly as it would without us.
    spec.loader.exec_module(module)


_start()
_hand_over()
