"""The errors and warnings of askless.

Every error has a `code` for programs, a `message` for people, and `fields` with what was wrong and where:

>>> from askless import DynamicClassifier
>>> from askless.exceptions import AsklessError
>>> try:
...     DynamicClassifier(max_features=0).fit([[1.0], [2.0]], [0, 1])
... except AsklessError as error:
...     print(error.code, error.fields["name"], error.fields["value"])
out_of_range max_features 0

`CODES` lists all codes; `docs/errors.md` shows the same list. Messages may change between releases, codes do not.
All errors are `ValueError`s. scikit-learn's own checks of tables and labels raise plain `ValueError`s.
"""

from collections.abc import Iterable
from typing import Any

from askless.hints import did_you_mean, listed, nearest

__all__ = [
    "CODES",
    "AsklessError",
    "AsklessWarning",
    "CertificationWarning",
    "CheckpointError",
    "ClusterError",
    "DataWarning",
    "ExperimentError",
    "InterviewError",
    "MissingnessWarning",
    "ModelFileError",
    "ParameterError",
    "TableError",
    "TrainingError",
    "TruthError",
    "UnseenWarning",
]

CODES = {
    # settings and arguments
    "unknown_name": "There is no feature, method, metric, data set or setting of that name.",
    "invalid_choice": "The value is not one of those that are allowed.",
    "wrong_type": "The value has the wrong type.",
    "out_of_range": "A number is too small, too large, or not finite.",
    "wrong_shape": "Lengths or shapes do not fit each other.",
    "required": "A value that is needed is missing.",
    "duplicate_name": "Two things have the same name.",
    "conflicting_settings": "Two settings exclude each other.",
    "not_supported": "This combination is not supported.",
    "usage": "The command line cannot be understood.",
    "cannot_save": "A part of the model cannot be stored in a model file.",
    # tables and labels
    "bad_cell": "A value of the table cannot be read.",
    "bad_column": "A column as a whole cannot be used.",
    "bad_label": "A label is missing or cannot be read.",
    "unknown_label": "A label did not occur in training.",
    "missing_column": "The table lacks a column.",
    "row_labels_differ": "Two tables have the same rows in different orders.",
    "too_few_rows": "There are too few rows.",
    "one_class": "The labels have one class only.",
    # interviews
    "bad_answer": "The answer does not fit the question.",
    "interview_done": "The interview is over; there is no question to answer.",
    "cannot_ask": "The feature was asked before or is not available.",
    "nothing_to_undo": "There is no answer to take back.",
    "conditions_changed": "The conditions of a certified rule have changed; it stops no case.",
    "no_threshold": "The cases show no threshold that keeps a certified rule's promise; it stops no case.",
    "outside_training_range": "Numbers are outside the training range.",
    # training
    "diverged": "The losses of a fit are not finite.",
    "needs_truth": "The policy looks at the true values and can be used in experiments only.",
    "missing_package": "An optional package is not installed.",
    # files
    "file_not_found": "There is no such file.",
    "file_exists": "The file exists and is not overwritten.",
    "cannot_write": "A file or a folder is not writable.",
    "unreadable_file": "The file cannot be read or parsed.",
    "damaged_file": "The content of the file does not match its checksum.",
    "wrong_file": "The file is not of the expected kind.",
    "newer_format": "The file was written by a newer version of askless.",
    "too_large": "The file or the request is too large.",
    "other_fit": "The checkpoint belongs to another fit.",
    "download_failed": "A data set could not be downloaded.",
    "system_error": "The operating system refused an operation, such as reading a file or opening a port.",
    "cluster_failed": "A cluster or a group of processes did not work together.",
    # the HTTP API
    "bad_request": "The request cannot be read.",
    "bad_json": "The body is not JSON.",
    "unsupported_media_type": "The service does not read bodies of this type.",
    "unknown_field": "The body has a field that this address does not know.",
    "invalid": "The request cannot be used.",
    "conflicting_answers": "A feature is in more than one of `answers`, `unknown` and `known`.",
    "not_found": "There is no such model, interview or address.",
    "method_not_allowed": "The address does not support this HTTP method.",
    "unauthorized": "The token of the service is missing or wrong.",
    "host_not_allowed": "The service does not accept this Host header.",
    "origin_not_allowed": "The request comes from a page of another origin.",
    "too_many_requests": "The client sends too many requests.",
    "question_changed": "The request answers a question that is not the current one.",
    "interview_changed": "Another request changed or deleted the interview in the meantime.",
    "model_changed": "The service no longer has the model version of this interview.",
    "too_many_events": "The interview has as many events as the service allows.",
    "storage_unavailable": "The service cannot store or read interviews at the moment.",
    "internal": "The service failed; its log has details.",
    # warnings
    "shared_worker": "A worker of a cluster runs several tasks at once, so times and memory are not comparable.",
    "method_failed": "One of the methods that were tried failed and is left out.",
    "absent_class": "A class of the model does not occur among the labels.",
    "short_lines": "Lines of a CSV file end before the last column.",
    "unfinished_group": "A group was left before its last part; its answers are not recorded.",
    "unnamed_column": "A column has no name and is left out.",
    "unused_input": "Lines of the input were not used, because the interview was over.",
    "empty_column": "A column has no values and is dropped.",
    "too_many_categories": "A column has too many distinct values; the rare ones count as unknown.",
    "similar_spellings": "Several categories or classes differ only in capitals or spaces.",
    "leading_zeros": "A column of numbers has leading zeros and may hold codes.",
    "numbers_as_categories": "A column of numbers with units, or of months, is read as categories.",
    "missing_as_class": "A class has a name that means missing, such as 'NA'.",
    "informative_missingness": "Which values are missing predicts the label.",
    "sampled_rows": "The table is large; training uses a random sample of its rows.",
    "constant_target": "All numbers of a regression target are equal.",
    "row_numbers": "A column numbers the rows.",
    "constant_column": "A column has one value only.",
    "duplicate_column": "A column is a copy of another one.",
    "duplicate_rows": "Many rows are copies of other rows.",
    "target_only_rows": "Rows have a target but no other value.",
    "rare_class": "A class has very few rows.",
    "missing_code": "A number such as -999 may stand for a missing value.",
    "target_leak": "One column predicts the target almost perfectly.",
    "other_capitals": "A category has other capitals than in training.",
    "unexpected_type": "A value has another type than the categories of training.",
    "unseen_categories": "Categories did not occur in training and count as unknown.",
    "other_scale": "Pixels are on another scale than in training.",
}


class _Coded(Exception):
    """What errors and warnings have in common: a code, a message and fields."""

    def __init__(self, code: str, message: str, **fields: Any) -> None:
        super().__init__(code, message)  # the arguments are what pickle and copy call the class with
        self.code, self.message, self.fields = code, message, fields

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.code, self.message, self.fields), self.__dict__


def _rebuilt(kind: type[_Coded], code: str, message: str, fields: dict[str, Any]) -> _Coded:
    """A copy, in this process or in another one."""
    return kind(code, message, **fields)


class AsklessError(_Coded, ValueError):
    """The base class of all errors."""


class ParameterError(AsklessError):
    """A setting or an argument cannot be used."""


def bad_value(code: str, name: str, value: Any, expected: str, **fields: Any) -> ParameterError:
    """The error of a setting or an argument: "`name` must be `expected`, not `value`".

    >>> bad_value("out_of_range", "batch", 0, "an integer of at least 1").message
    'batch must be an integer of at least 1, not 0'
    """
    return ParameterError(code, f"{name} must be {expected}, not {value!r}", name=name, value=value, **fields)


def unknown_name(what: str, name: Any, known: Iterable[str]) -> ParameterError:
    """The error of a name that does not exist, with the nearest one and the list of all.

    >>> unknown_name("metric", "acuracy", ["accuracy", "auroc"]).message
    "there is no metric 'acuracy' (did you mean 'accuracy'?); there are 'accuracy', 'auroc'"
    """
    known = list(known)
    message = f"there is no {what} {name!r}{did_you_mean(name, known)}; there are {listed(known, most=99)}"
    return ParameterError("unknown_name", message, name=name, nearest=nearest(name, known), choices=known)


class TableError(AsklessError):
    """A table or its labels cannot be used."""


class InterviewError(AsklessError):
    """An answer does not fit the question, or there is no question."""


class TrainingError(AsklessError):
    """A fit failed; no model was made."""


class ModelFileError(AsklessError):
    """A model file is damaged, is no model file, or has a format this version does not read."""


class CheckpointError(AsklessError):
    """A training checkpoint is damaged or belongs to another fit."""


class ClusterError(AsklessError):
    """Processes or machines of a cluster do not work together."""


class ExperimentError(AsklessError):
    """An experiment's file, task, folder or result cannot be used."""


class TruthError(AsklessError):
    """A policy that looks at the true values was used where they are hidden."""


class AsklessWarning(_Coded, UserWarning):
    """The base class of all warnings."""


class DataWarning(AsklessWarning):
    """A training table holds suspicious data, such as duplicates or codes for missing values."""


class MissingnessWarning(AsklessWarning):
    """Which values are missing predicts the label: a model may learn who was tested, not what was found."""


class CertificationWarning(AsklessWarning):
    """A certified rule cannot keep its promise here, so it stops no case."""


class UnseenWarning(AsklessWarning):
    """A new table or an answer holds values that did not occur in training."""
