"""Prints where Python looks for packages below a prefix, as `lib/python3.11/site-packages`."""

import os
import sysconfig

base = sysconfig.get_config_var("base")
# Debian's own Python says local/lib/python3.11/dist-packages, relative to /usr.
print(os.path.relpath(sysconfig.get_path("platlib"), base).removeprefix("local/"))
