"""`askless fit`: learn from a table."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from askless.cli.console import count, make_console, quoted, say
from askless.cli.output import check_checkpoint, check_writable, remove
from askless.cli.parser import Commands, UsageError, fraction, natural, positive, text_help
from askless.cli.resuming import fit_or_go_on
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
Learn from a table of labelled cases which feature to ask for next, and write the model to a file.

Training shows its progress: a bar in a terminal, elsewhere a line now and then on standard error. If it is stopped,
the same command goes on where it was."""
EPILOG = (
    """\
examples:
  askless fit data.csv --target y -o m.askless
  askless fit triage.csv --target destination --groups triage.groups.json --costs triage.costs.json -o m.askless
  askless fit large.parquet --target y --scratch /tmp -o m.askless
  askless fit data.csv --target y --features features.json -o m.askless

groups.json:  {"blood pressure": ["systolic", "diastolic"]}      columns that are asked together
costs.json:   {"age": 1, "blood pressure": 5}                    prices by feature; 1 where not given
panels.json:  {"blood": {"sugar": 3, "cholesterol": 5}}          prices once one of the panel was asked
order.json:   {"biopsy": ["consent", "scan"]}                    what is asked only after what
features.json:  {"age": {"text": "How old is the patient?", "unit": "a", "loinc": "30525-0", "low": 0, "high": 120}}

methods:
  default:   auto, which fits greedy, value and forward_selection and keeps the best on held-out rows
  dynamic:   greedy, value, cmi_marginal, cmi_pvae, opportunistic
  static:    forward_selection, mutual_information, permutation, sage, deeplift, integrated_gradients,
             concrete_autoencoder, stochastic_gates, lassonet
  controls:  random, fixed_order, all_features, oracle_order, center_crop (of images)
Some need more packages: pip install 'askless[baselines]'

"""
    + STOP_HELP
)


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser("fit", help="learn from a table", **text_help(DESCRIPTION, EPILOG))
    add = parser.add_argument
    add("data", help="the table: a CSV or Parquet file with a row for each case")
    add("--target", required=True, metavar="COL", help="the column to predict")
    add("-o", "--output", required=True, metavar="FILE", help="where the model goes, such as m.askless")
    add("--budget", type=positive, metavar="K", help="how many features may be asked of a case (default: 10)")
    add("--task", choices=("auto", "classification", "regression"), default="auto", help="default: see the target")
    add("--groups", metavar="JSON", help="columns that are asked together, as one feature")
    add("--costs", metavar="JSON", help="prices of features; what is asked is weighed against them")
    add("--panels", metavar="JSON", help="features that are cheaper once another one of their panel was asked")
    add("--precedence", metavar="JSON", help="features that are asked only after others")
    add("--features", metavar="JSON", help="wording, units (UCUM), codes (LOINC) and valid ranges of features, which "
        "the model keeps for askless ask and serve")  # fmt: skip
    add("--stop", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="stopping rules beside the "
        "budget, such as confidence=0.95 max_cost=20 (see below)")  # fmt: skip
    add("--drop", nargs="+", action="extend", default=[], metavar="COL", help="columns to leave out, such as an id")
    add("--category", nargs="+", action="extend", default=[], metavar="COL", help="columns of numbers that are codes")
    add("--missing", choices=("skip", "answer"), default="skip", help="a missing value cannot be asked (skip, the "
        'default), or is asked and answered by "unknown" (answer)')  # fmt: skip
    add_missing_words(parser)
    add("--drop-missing-target", action="store_true", help="leave out rows whose target is missing")
    add("--test-fraction", type=fraction, default=0.2, metavar="SHARE", help="share of the rows that is kept from "
        "training to score the model on (default: 0.2); 0 trains on all rows and prints no score")  # fmt: skip
    add("--validation", metavar="FILE", help="another table, on which training chooses the best weights; otherwise "
        "it holds out a fifth of its rows")  # fmt: skip
    add("--method", default="auto", metavar="NAME", help="how to learn (default: auto); all are listed below")
    add("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="settings of the method, such as "
        "hidden=[256,256] or epochs=50")  # fmt: skip
    add("--reference-rows", type=natural, default=256, metavar="N", help="encoded training rows that the model "
        "keeps, for batches and decision_stable (default: 256); 0 if the file must hold no rows")  # fmt: skip
    add("--seed", type=natural, default=0, help="the same seed gives the same model (default: 0)")
    add("--checkpoint", metavar="FILE", help="where progress is kept until the model is saved (default: the model's "
        "name with .part)")  # fmt: skip
    add("--scratch", metavar="DIR", help="a folder for temporary files, for tables larger than memory: encoded rows "
        "are kept there, and a Parquet file is read some rows at a time")  # fmt: skip
    parser.set_defaults(run=run)


@dataclass(frozen=True)
class _Rows:
    """Cases and what is known of them."""

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
    """What is to be learned."""

    rows: _Rows
    places: np.ndarray  # (n,) of the rows in the file
    n_columns: int  # to ask for: those with a value
    task: str
    why: str  # it is that task
    estimator: DynamicClassifier | DynamicRegressor
    descriptions: dict[str, dict[str, Any]]  # of features, for the service


def run(args: argparse.Namespace) -> None:
    """Read, train, save, score."""
    inputs = (args.data, args.validation, args.costs, args.groups, args.panels, args.precedence, args.features)
    import pandas as pd

    output = check_writable(args.output, inputs=inputs)
    if output.suffix.lower() in (".csv", ".gz", ".parquet", ".json"):
        raise UsageError(f"-o: {output} looks like a table; a model's file is best called something.askless")
    checkpoint = check_checkpoint(args.checkpoint, output)
    if args.scratch is not None and not os.path.isdir(args.scratch):
        raise UsageError(f"--scratch: there is no folder {args.scratch}")
    console = make_console()
    job = _prepare(args)
    train, test = _split(job, args)
    validation = _validation(job, args)
    say(console, f"{args.data}: {count(len(job.rows), 'row')}, {count(job.n_columns, 'column')} to ask for")
    say(console, f"{args.target}: {job.task}, because {job.why}")
    _say_remarks(console, job, args)
    start = time.perf_counter()
    named = pd.Series(train.y, name=args.target)  # the model remembers what its target is called
    fit_or_go_on(job.estimator, train.X, named, checkpoint, validation=validation, scratch=args.scratch)
    _keep_what_was_said(job, args)
    job.estimator.save(output)
    remove(checkpoint)
    say(console, f"trained on {count(len(train), 'row')} in {time.perf_counter() - start:.0f} s; saved {output}")
    if (explanation := job.estimator.model_.summary.get("explanation")) is not None and args.method == "auto":
        say(console, explanation)
    if _report(console, job, train, test, held_out=args.test_fraction > 0.0):
        say(console, f"next: askless ask {quoted(output)}", style="dim")


def _say_remarks(console: Console, job: _Job, args: argparse.Namespace) -> None:
    """Tell what looks odd in the table, unless it is too large to be looked through."""
    import pandas as pd

    from askless.cli.remarks import rare_classes, remarks, remarks_on_lines
    from askless.cli.tables import CsvTable, open_table

    y = pd.Series(job.rows.y, name=args.target)
    for remark in rare_classes(y) if job.estimator._task == "classification" else ():
        say(console, remark)
    if isinstance(job.rows.X, pd.DataFrame):
        source = open_table(args.data, args.na)
        for remark in remarks_on_lines(source, job.rows.X) if isinstance(source, CsvTable) else ():
            say(console, remark)
        groups = (job.estimator.groups or {}).values()
        for remark in remarks(job.rows.X, y, list(groups), job.places):
            say(console, remark)


def _prepare(args: argparse.Namespace) -> _Job:
    """The cases, and an estimator for them."""
    from askless.cli.settings import configured_method, read_groups, read_precedence, read_prices
    from askless.cli.tables import errors_of, is_parquet
    from askless.cli.target import as_spelled, choose_task
    from askless.service.descriptions import read_descriptions

    costs, groups = read_prices(args.costs, args.panels), read_groups(args.groups)
    stopping, precedence = read_stop(args.stop), read_precedence(args.precedence)
    method = configured_method(args.method, args.set)
    X, y, rows, dropped = _read(args, args.data)
    if args.task != "auto":
        task, why = args.task, "--task says so"
    else:
        y = y if is_parquet(args.data) else as_spelled(y, args.data, rows)
        task, why = choose_task(y)
    if dropped:
        why += f" ({count(dropped, 'row')} without a target left out)"
    from askless.estimators import DynamicClassifier, DynamicRegressor

    kind = DynamicClassifier if task == "classification" else DynamicRegressor
    how = {"missing": args.missing, "random_state": args.seed, "precedence": precedence, "verbose": True}
    estimator = kind(args.budget, method, groups, costs, stopping, reference_rows=args.reference_rows, **how)
    with errors_of(args.data, "--category COL reads a column as categories", "--drop COL leaves it out"):
        schema = _check_whole(X, rows, groups, costs, precedence, args.seed)
    descriptions = {} if args.features is None else read_descriptions(args.features, schema.all_names)
    n_columns = sum(len(feature.parts) for feature in schema.features)
    return _Job(_Rows(X, _target(y, task, args.data, rows)), rows, n_columns, task, why, estimator, descriptions)


def _keep_what_was_said(job: _Job, args: argparse.Namespace) -> None:
    """Let the model keep what is said of its features, and which words stand for missing values.

    A column that was empty in the training rows is no feature.
    """
    model = job.estimator.model_
    kept = {name: each for name, each in job.descriptions.items() if name in model.schema.all_names}
    job.estimator.model_ = replace(model, descriptions=kept, settings=model.settings | {"na": args.na})


def _check_whole(
    X: pd.DataFrame | ParquetTable, rows: np.ndarray, groups: Any, costs: Any, precedence: Any, seed: int
) -> Schema:
    """Let errors name the rows of the file, not of the part that is trained on; warnings come later."""
    import warnings

    import numpy as np

    from askless.acquisition import Precedence, cost_model
    from askless.acquisition.costs import split_costs
    from askless.encoded import SAMPLE, learn_encoder, rows_at_once
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
    """The features, the target, which rows of the file these are, and how many had no target."""
    from askless.cli.tables import ParquetFile, check_columns, open_table

    if args.target in (*args.drop, *args.category):
        raise UsageError(f"the target {args.target!r} cannot be given to --drop or --category as well")
    source = open_table(path, args.na)
    check_columns([args.target], source.names, "--target", path)
    check_columns(args.drop, source.names, "--drop", path)
    check_columns(args.category, source.names, "--category", path)
    if not set(source.names) - {args.target, *args.drop}:
        raise UsageError(f"{path} has no columns left beside the target")
    if args.scratch is not None and isinstance(source, ParquetFile):
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
        if isinstance(source, CsvTable) and (told := short_lines(source, frame)) is not None:
            raise TableError(f"{error}; {told}") from None
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

    return numbers(y, path, rows) if task == "regression" else y.to_numpy()


def _split(job: _Job, args: argparse.Namespace) -> tuple[_Rows, _Rows | None]:
    """The rows to train on, and those to score on, if any."""
    import numpy as np

    from askless.tables import holdout

    if args.test_fraction == 0.0:
        return job.rows, None
    stratify = job.task == "classification"
    strata = np.unique(job.rows.y.astype(str), return_inverse=True)[1] if stratify else job.rows.y
    kept, held = holdout(strata, args.test_fraction, stratify, args.seed)
    if len(kept) == len(job.rows):  # too few rows, or of some classes, to hold any out
        return job.rows, None
    return job.rows.take(kept), job.rows.take(held)


def _validation(job: _Job, args: argparse.Namespace) -> tuple[pd.DataFrame | ParquetTable, np.ndarray] | None:
    """The validation table, with labels of the type that training has."""
    import numpy as np

    from askless.cli.target import class_codes

    if args.validation is None:
        return None
    X, y, rows, _ = _read(args, args.validation)
    if job.task == "regression":
        return X, _target(y, job.task, args.validation, rows)
    classes = np.unique(job.rows.y)
    return X, classes[class_codes(y, classes.tolist(), args.validation, rows)]


def _report(console: Console, job: _Job, train: _Rows, test: _Rows | None, *, held_out: bool) -> bool:
    """Say how good the model is on rows it has not seen, and what it asks; whether it can be used."""
    from askless.cli import scores as telling
    from askless.exceptions import TruthError

    try:
        trajectory = job.estimator.rollout((test or train).X)
    except TruthError as error:  # a control for experiments, which can be saved but not used
        say(console, f"no score: {error}")
        return False
    money = telling.tells_of_money(job.estimator.model_)
    if test is None and held_out:
        say(console, "no score: there are too few rows, for as many classes, to keep some of each apart")
    if test is not None:
        say(console, f"\nScore on {count(len(test), 'row')} that training did not see:")
        try:
            scores = telling.score(trajectory, _truth(job, test), telling.choose_metric(None, job.task))
            console.print(telling.score_table(scores, money=money))
            if (told := telling.gives_away(trajectory, scores)) is not None:
                parts = " ".join(quoted(name) for name in job.estimator.schema_.columns_of(told))
                say(console, f"{told} alone tells the target: --drop {parts} if it comes after it")
        except ValueError as error:  # the model is saved all the same; these rows are too few to tell
            say(console, f"no score: {error}")
        say(console, "The saved model is the one trained without these rows; --test-fraction 0 trains on all rows.\n")
    console.print(telling.spending_table(trajectory, money=money))
    console.print(telling.most_asked(trajectory))
    return True


def _truth(job: _Job, rows: _Rows) -> np.ndarray:
    import numpy as np

    if job.task == "regression":
        return rows.y
    return np.searchsorted(np.unique(job.rows.y), rows.y)
