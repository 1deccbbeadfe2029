"""Why a lever is not applied to this job."""


class LeverRefusedError(Exception):
    """With a reason for the report: a clause about the job."""
