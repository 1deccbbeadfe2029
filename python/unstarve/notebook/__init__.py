"""`unstarve.report()` and `unstarve.compare()`: what the commands say, as a notebook shows it."""
