"""What a loader may be given by `unstarve run --fix`, where that takes more than an attribute."""
