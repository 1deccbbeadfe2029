"""`with unstarve.watch():` watches a part of the process that it is in."""
