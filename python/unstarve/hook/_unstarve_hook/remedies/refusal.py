"""Why a loader stays as it is."""


class RefusedError(Exception):
    """With a reason for the report."""
