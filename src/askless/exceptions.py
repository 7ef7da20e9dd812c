"""The errors and warnings of askless that a caller may want to tell apart.

All errors are `ValueError`s, because each one says that something handed to askless was not usable. What scikit-learn
checks of tables and labels on its own raises its plain `ValueError`s.
"""

__all__ = [
    "AsklessError",
    "AsklessWarning",
    "CertificationWarning",
    "CheckpointError",
    "ClusterError",
    "InterviewError",
    "MissingnessWarning",
    "ModelFileError",
    "ParameterError",
    "TableError",
    "TruthError",
    "UnseenWarning",
]


class AsklessError(ValueError):
    """The base of all errors below."""


class ParameterError(AsklessError):
    """A setting, or an argument of a call, is not usable: a number out of range, a feature that does not exist."""


class TableError(AsklessError):
    """A table or its labels do not hold what they should; the message names the column and the first bad row."""


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


class AsklessWarning(UserWarning):
    """The base of all warnings below; by itself, something in a table looks odd."""


class MissingnessWarning(AsklessWarning):
    """Which values are missing says much about the label: a model may learn who was tested, not what was found."""


class CertificationWarning(AsklessWarning):
    """A promise cannot be kept with the cases that were given; the rule stops none."""


class UnseenWarning(AsklessWarning):
    """Training has not seen the like: words, which count as unknown or are read as the choice in other capitals, or
    numbers, which may be in another unit."""
