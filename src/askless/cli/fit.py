"""`askless fit`: learn a model from a table."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from askless.cli.console import count, make_console, quoted, say
from askless.cli.errors import note
from askless.cli.output import check_checkpoint, check_new, check_writable, remove
from askless.cli.parser import DEVICES, Commands, UsageError, fraction, natural, positive, text_help
from askless.cli.resuming import fit_or_resume
from askless.cli.rules import STOP_HELP, add_missing_words, read_stop

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from rich.console import Console

    from askless.acquisition import Schema
    from askless.cli.tables import CsvTable, ParquetFile
    from askless.estimators import DynamicClassifier, DynamicRegressor
    from askless.tables import ParquetTable

__all__ = ["add", "run"]

DESCRIPTION = """\
Learn from a table of labelled cases which feature to ask for next, and save the model to a file.

An interrupted fit continues when you run the same command again."""
EPILOG = (
    """\
examples:
  askless fit data.csv --target y -o m.askless
  askless fit data.csv --target y --drop id --budget 5 -o m.askless
  askless fit triage.csv --target destination --groups triage.groups.json --costs triage.costs.json -o m.askless
  askless fit data.csv --target y --features features.json -o m.askless
  askless fit large.parquet --target y --max-rows 200000 -o m.askless

JSON files:
  --groups      {"blood pressure": ["systolic", "diastolic"]}
  --costs       {"age": 1, "blood pressure": 5}
  --panels      {"blood": {"sugar": 3, "cholesterol": 5}}
  --precedence  {"biopsy": ["consent", "scan"]}
  --features    {"age": {"text": "How old is the patient?", "unit": "a", "loinc": "30525-0", "low": 0, "high": 120}}

methods:
  default:   auto: networks and boosted trees, asked case by case or in a fixed order,
             whichever is better on held-out rows
  dynamic:   greedy, value, cmi_marginal, cmi_pvae, opportunistic
  static:    forward_selection, mutual_information, permutation, sage, deeplift, integrated_gradients,
             concrete_autoencoder, stochastic_gates, lassonet
  controls:  random, fixed_order, all_features, oracle_order, center_crop (for images)
Dynamic methods choose each question by the answers so far; static methods ask everyone the same questions.
deeplift and integrated_gradients need the package captum, and lassonet needs lassonet: pip install captum lassonet

"""
    + STOP_HELP
)


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser("fit", help="learn a model from a table", **text_help(DESCRIPTION, EPILOG))
    add = parser.add_argument
    add("data", help="the table: a CSV or Parquet file with one row for each case")
    add("--target", required=True, metavar="COL", help="the column to predict")
    add("-o", "--output", required=True, metavar="FILE", help="the model file to write, such as m.askless")
    add("--force", action="store_true", help="overwrite the model file if it exists")
    add("--budget", type=positive, metavar="K", help="ask at most K features of a case (default: 10)")
    add("--task", choices=("auto", "classification", "regression"), default="auto", help="predict classes or numbers "
        "(default: auto, which decides by the target)")  # fmt: skip
    add("--groups", metavar="JSON", help="columns that are asked together as one feature")
    add("--costs", metavar="JSON", help="costs of features (default: 1 each); a costly feature must tell more")
    add("--panels", metavar="JSON", help="lower costs of features after another feature of their panel was asked")
    add("--precedence", metavar="JSON", help="features that can only be asked after others")
    add("--features", metavar="JSON", help="wording, units (UCUM), codes (LOINC) and valid ranges of features, for "
        "`askless ask` and `askless serve`")  # fmt: skip
    add("--stop", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="stopping rules in addition to "
        "the budget, such as confidence=0.95 max_cost=20 (see below)")  # fmt: skip
    add("--drop", nargs="+", action="extend", default=[], metavar="COL", help="columns to leave out, such as an id")
    add("--category", nargs="+", action="extend", default=[], metavar="COL", help="columns of numbers that are "
        "codes, such as postal codes")  # fmt: skip
    add("--missing", choices=("skip", "answer"), default="skip", help="skip: missing values are never asked "
        "(default); answer: they can be asked, and the answer is unknown")  # fmt: skip
    add_missing_words(parser)
    add("--drop-missing-target", action="store_true", help="leave out rows with a missing target")
    add("--test-fraction", type=fraction, default=0.2, metavar="SHARE", help="share of the rows to hold out and "
        "score the model on (default: 0.2); 0 trains on all rows, without a score")  # fmt: skip
    add("--validation", metavar="FILE", help="a table for choosing the best weights (default: a fifth of the "
        "training rows)")  # fmt: skip
    add("--method", default="auto", metavar="NAME", help="the method (default: auto; see below)")
    add("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="settings of the method, such as "
        "hidden=[256,256] epochs=50")  # fmt: skip
    add("--reference-rows", type=natural, default=0, metavar="N", help="number of training rows to store in the "
        "model file, for --batch and the rule decision_stable (default: 0)")  # fmt: skip
    add("--seed", type=natural, default=0, help="seed of all random numbers (default: 0); equal seeds give equal "
        "models")  # fmt: skip
    add("--device", choices=DEVICES, default="cpu", help="where convolutional networks are trained (default: cpu)")
    add("--threads", type=positive, default=1, metavar="N", help="number of threads of the fit (default: 1); more "
        "help large dense networks only")  # fmt: skip
    add("--checkpoint", metavar="FILE", help="file for the progress, deleted at the end (default: the model's name "
        "with .part added)")  # fmt: skip
    add("--max-rows", type=int, default=1_000_000, metavar="N", help="train on at most N random rows of a larger "
        "table (default: %(default)s)")  # fmt: skip
    parser.set_defaults(run=run)


@dataclass(frozen=True)
class _Rows:
    """Features and targets of some cases."""

    X: pd.DataFrame | ParquetTable
    y: np.ndarray  # labels or numbers

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: np.ndarray) -> _Rows:
        """Some of the cases, in increasing order."""
        import pandas as pd

        part = self.X.iloc[rows].reset_index(drop=True) if isinstance(self.X, pd.DataFrame) else self.X.take(rows)
        return _Rows(part, self.y[rows])


@dataclass(frozen=True)
class _Job:
    """The data and the estimator of a fit."""

    rows: _Rows
    places: np.ndarray  # (n,) row numbers in the file
    n_columns: int  # without empty ones
    task: str
    reason: str  # for the task
    estimator: DynamicClassifier | DynamicRegressor
    descriptions: dict[str, dict[str, Any]]  # of features, for the service


def run(args: argparse.Namespace) -> None:
    """Read, train, save, score."""
    inputs = (args.data, args.validation, args.costs, args.groups, args.panels, args.precedence, args.features)
    import pandas as pd

    from askless.cli.outcome import Clock

    output = check_writable(args.output, inputs=inputs)
    if output.suffix.lower() in (".csv", ".gz", ".parquet", ".json"):
        message = f"-o: {output} looks like a table; name the model file like something.askless"
        raise UsageError("wrong_file", message, option="-o", path=str(output))
    if not args.force:
        check_new(output)
    checkpoint = check_checkpoint(args.checkpoint, output, inputs)
    console, clock = make_console(), Clock()
    job = _prepare(args)
    train, test = _split(job, args)
    validation = _validation(job, args)
    say(console, f"{args.data}: {count(len(job.rows), 'row')}, {count(job.n_columns, 'column')} to ask for")
    say(console, f"{args.target}: {job.task}, because {job.reason}")
    _report_remarks(job, args)
    clock.stop("reading")
    named = pd.Series(train.y, name=args.target)  # the model stores the name of its target
    fit_or_resume(job.estimator, train.X, named, checkpoint, validation=validation)
    _store_settings(job, args)
    job.estimator.save(output)
    remove(checkpoint)
    clock.stop("training")
    say(console, f"trained on {count(len(train), 'row')}; saved {output}")
    if args.method == "auto" and (explanation := job.estimator.model_.summary.get("explanation")) is not None:
        say(console, explanation)
    outcome = _report(console, job, train, test, args)
    clock.stop("scoring")
    say(console, f"{outcome or ''}time: {clock}", style="bold")
    if outcome is not None:
        say(console, f"next: askless ask {quoted(output)}", style="dim")


def _report_remarks(job: _Job, args: argparse.Namespace) -> None:
    """Print notes on suspicious data, if the table is in memory."""
    import pandas as pd

    from askless.cli.remarks import rare_classes, remarks, remarks_on_lines
    from askless.cli.tables import CsvTable, open_table
    from askless.exceptions import DataWarning

    y = pd.Series(job.rows.y, name=args.target)
    for code, message in rare_classes(y) if job.task == "classification" else ():
        note(message, code)
    if isinstance(job.rows.X, pd.DataFrame):
        source = open_table(args.data, args.na)
        for code, message in remarks_on_lines(source, job.rows.X) if isinstance(source, CsvTable) else ():
            note(message, code)
        groups = (job.estimator.groups or {}).values()
        warnings.simplefilter("ignore", DataWarning)  # the estimator warns of the same findings
        for code, message in remarks(job.rows.X, y, list(groups), job.places):
            note(message, code)


def _prepare(args: argparse.Namespace) -> _Job:
    """The cases, and an estimator for them."""
    from askless.cli.settings import (
        check_is_file_name,
        configured_method,
        errors_of_settings,
        read_groups,
        read_precedence,
        read_prices,
    )
    from askless.cli.tables import errors_of, is_parquet
    from askless.cli.target import as_spelled, choose_task
    from askless.service.descriptions import read_descriptions

    costs, groups = read_prices(args.costs, args.panels), read_groups(args.groups)
    if args.features is not None:
        check_is_file_name(args.features)
    stopping, precedence = read_stop(args.stop), read_precedence(args.precedence)
    method = configured_method(args.method, args.set)
    X, y, rows, dropped = _read(args, args.data)
    if args.task != "auto":
        task, reason = args.task, "of --task"
    else:
        y = y if is_parquet(args.data) else as_spelled(y, args.data, rows)
        task, reason = choose_task(y)
    if dropped:
        reason += f" ({count(dropped, 'row')} without a target left out)"
    from askless.estimators import DynamicClassifier, DynamicRegressor

    kind = DynamicClassifier if task == "classification" else DynamicRegressor
    options = {"missing": args.missing, "random_state": args.seed, "precedence": precedence, "verbose": True}
    options |= {"device": args.device, "n_threads": args.threads}
    estimator = kind(args.budget, method, groups, costs, stopping, reference_rows=args.reference_rows, **options)
    estimator.set_params(max_rows=args.max_rows)
    settings = {"costs": args.costs, "groups": args.groups, "precedence": args.precedence}
    advice = "--category COL reads a column as categories", "--drop COL leaves it out"
    with errors_of(args.data, *advice), errors_of_settings(settings):
        schema = _check_whole(X, rows, groups, costs, precedence, args.seed)
    descriptions = {} if args.features is None else read_descriptions(args.features, schema.all_names)
    n_columns = sum(len(feature.parts) for feature in schema.features)
    return _Job(_Rows(X, _target(y, task, args.data, rows)), rows, n_columns, task, reason, estimator, descriptions)


def _store_settings(job: _Job, args: argparse.Namespace) -> None:
    """Store the descriptions of features and the words of `--na` in the model.

    Empty columns are no features; their descriptions are left out.
    """
    model = job.estimator.model_
    kept = {name: each for name, each in job.descriptions.items() if name in model.schema.all_names}
    job.estimator.model_ = replace(model, descriptions=kept, settings=model.settings | {"na": args.na})


def _check_whole(
    X: pd.DataFrame | ParquetTable, rows: np.ndarray, groups: Any, costs: Any, precedence: Any, seed: int
) -> Schema:
    """Check the whole table, so that errors name the rows of the file and not of the training part."""
    import warnings

    import numpy as np

    from askless.acquisition import Precedence, cost_model
    from askless.acquisition.costs import split_costs
    from askless.encoding.encoder import SAMPLE, learn_encoder, rows_at_once
    from askless.tables import row_chunks

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        named, model = split_costs(costs)
        encoder = learn_encoder(X, np.arange(len(X)), groups=groups, costs=named, seed=seed, numbers=rows)
        cost_model(None, encoder.schema, model)
        Precedence.of(precedence, encoder.schema)
        for some, part in row_chunks(X, rows_at_once(encoder)) if len(X) > SAMPLE else ():
            encoder.transform(part, rows[some].tolist())
    return encoder.schema


def _read(args: argparse.Namespace, path: str) -> tuple[pd.DataFrame | ParquetTable, pd.Series, np.ndarray, int]:
    """The features, the target, the row numbers in the file, and the number of rows without a target."""
    from askless.cli.tables import ParquetFile, check_columns, open_table

    if args.target in (*args.drop, *args.category):
        message = f"the target {args.target!r} cannot be in --drop or --category"
        raise UsageError("conflicting_settings", message, option="--target", column=args.target)
    source = open_table(path, args.na)
    check_columns([args.target], source.names, "--target", path)
    check_columns(args.drop, source.names, "--drop", path)
    check_columns(args.category, source.names, "--category", path)
    if not set(source.names) - {args.target, *args.drop}:
        raise UsageError("missing_column", f"{path} has no columns besides the target", path=path)
    if isinstance(source, ParquetFile) and len(source.table()) > args.max_rows:
        return _left_in_file(args, source)
    return _in_memory(args, source)


def _in_memory(
    args: argparse.Namespace, source: CsvTable | ParquetFile
) -> tuple[pd.DataFrame, pd.Series, np.ndarray, int]:
    from askless.cli.remarks import short_lines
    from askless.cli.tables import CsvTable, as_category
    from askless.cli.target import split_target
    from askless.exceptions import TableError

    frame = source.read([name for name in source.names if name not in args.drop], args.category)
    try:
        X, y, rows = split_target(frame, args.target, source.path, drop_missing=args.drop_missing_target)
    except TableError as error:
        if isinstance(source, CsvTable) and (message := short_lines(source, frame)) is not None:
            raise TableError(error.code, f"{error.message}; {message}", **error.fields) from None
        raise
    X = X.assign(**{name: as_category(X[name]) for name in args.category if name in X})
    return X, y, rows, len(frame) - len(rows)


def _left_in_file(args: argparse.Namespace, source: ParquetFile) -> tuple[ParquetTable, pd.Series, np.ndarray, int]:
    from askless.cli.target import known_target

    table = source.table(categories=args.category)
    rows, y = known_target(table.column(args.target), source.path, drop_missing=args.drop_missing_target)
    return table.drop(args.target, *args.drop).take(rows), y, rows, len(table) - len(rows)


def _target(y: pd.Series, task: str, path: str, rows: np.ndarray) -> np.ndarray:
    from askless.cli.target import numbers
    from askless.exceptions import TableError

    if task == "regression":
        return numbers(y, path, rows)
    if len(y) > 1 and y.nunique() == 1:
        label = y.tolist()[0]
        message = f"{path}: the target {y.name!r} has only one class, {label!r}; a classifier needs at least two"
        raise TableError("one_class", message, path=path, column=str(y.name), label=label)
    return y.to_numpy()


def _split(job: _Job, args: argparse.Namespace) -> tuple[_Rows, _Rows | None]:
    """The training rows, and the test rows if any."""
    import numpy as np

    from askless.tables import holdout

    if args.test_fraction == 0.0:
        return job.rows, None
    stratify = job.task == "classification"
    strata = np.unique(job.rows.y.astype(str), return_inverse=True)[1] if stratify else job.rows.y
    kept, held = holdout(strata, args.test_fraction, stratify, args.seed)
    if len(kept) == len(job.rows):  # too few rows, or rows of some classes, to hold any out
        return job.rows, None
    return job.rows.take(kept), job.rows.take(held)


def _validation(job: _Job, args: argparse.Namespace) -> tuple[pd.DataFrame | ParquetTable, np.ndarray] | None:
    """The validation table, with the label type of the training table."""
    import numpy as np

    from askless.cli.target import class_codes

    if args.validation is None:
        return None
    X, y, rows, _ = _read(args, args.validation)
    if job.task == "regression":
        return X, _target(y, job.task, args.validation, rows)
    classes = np.unique(job.rows.y)
    return X, classes[class_codes(y, classes.tolist(), args.validation, rows)]


def _report(console: Console, job: _Job, train: _Rows, test: _Rows | None, args: argparse.Namespace) -> str | None:
    """Print scores and what the model asks; returns the outcome in a few words, None if the model cannot be used."""
    from askless.cli import scores as scoring
    from askless.cli.outcome import in_a_few_words
    from askless.exceptions import TruthError

    try:
        trajectory = job.estimator.rollout((test or train).X)
    except TruthError as error:  # a control for experiments, which can be saved but not used
        say(console, f"no score: {error}")
        return None
    money = scoring.with_money(job.estimator.model_)
    scores = None
    if test is None and args.test_fraction > 0.0:
        say(console, "no score: there are too few rows, or rows of some classes, to hold out test rows")
    if test is not None:
        say(console, f"\nScores on {count(len(test), 'test row')}:")
        try:
            scores = scoring.score(trajectory, _truth(job, test), scoring.choose_metric(None, job.task))
            console.print(scoring.score_table(scores, money=money))
        except ValueError as error:  # the model is saved all the same
            say(console, f"no score: {error}")
        say(console, "The model was trained without the test rows; --test-fraction 0 trains on all rows.\n")
    if scores is not None and (features := scoring.leaking_features(trajectory, scores)):
        first = features[0] if len(features) == 1 else f"the first question ({' or '.join(features)})"
        columns = " ".join(map(quoted, job.estimator.schema_.columns_of(features[0])))
        advice = f"add --drop {columns}" if len(features) == 1 else "leave the one in question out with --drop"
        message = f"{first} alone predicts the target; if it is known only afterwards (a leak), {advice}"
        note(message, "target_leak")
    console.print(scoring.spending_table(trajectory, money=money))
    console.print(scoring.most_asked(trajectory))
    return in_a_few_words(trajectory, scores)


def _truth(job: _Job, rows: _Rows) -> np.ndarray:
    import numpy as np

    if job.task == "regression":
        return rows.y
    return np.searchsorted(np.unique(job.rows.y), rows.y)
