"""The errors of askless that a caller may want to tell apart.

All of them are `ValueError`s, because each one says that something handed to askless was not usable; so is the plain
`ValueError` that a wrong parameter raises.
"""

__all__ = [
    "AsklessError",
    "CheckpointError",
    "ClusterError",
    "InterviewError",
    "ModelFileError",
    "TableError",
    "TruthError",
]


class AsklessError(ValueError):
    """The base of all errors below."""


class TableError(AsklessError):
    """A table does not hold what it should; the message names the column and the first bad row."""


class InterviewError(AsklessError):
    """An answer does not fit the question, or a question was expected where there is none."""


class ModelFileError(AsklessError):
    """A model file is damaged, not a model file, or of a version this askless does not read."""


class CheckpointError(AsklessError):
    """A training checkpoint is damaged or belongs to another fit."""


class ClusterError(AsklessError):
    """Processes or machines that should work together do not go together."""


class TruthError(AsklessError):
    """A policy that looks at the truth was used where it is hidden."""
