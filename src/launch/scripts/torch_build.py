"""Prints the version of the interpreter's torch, and its CUDA's and HIP's, a line each.

It is not imported, which would take seconds. Of old versions the annotation is missing.
"""

import importlib.util
import re
from pathlib import Path

found = importlib.util.find_spec("torch")
if found is None or found.origin is None:
    raise SystemExit(1)
text = (Path(found.origin).parent / "version.py").read_text()
for name in ("__version__", "cuda", "hip"):
    line = re.search(rf"^{name}\b[^=\n]*=\s*(.*)", text, re.MULTILINE)
    value = line.group(1).strip() if line else "None"
    print(value.strip("'\"") if value != "None" else "")
