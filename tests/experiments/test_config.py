"""The file of an experiment and its errors."""

from pathlib import Path

import pytest

from askless.exceptions import AsklessError
from askless.experiments import Task, read_experiment
from askless.methods.settings import DEVICES
from tests.coded import raises

GOOD = """\
name = "mine"
metric = "auroc"
seeds = [3, 1, 3]
max_features = 4
datasets = ["wine", {name = "triage", options = {n = 600}, max_features = [2, 5], missing = "answer", rows = 500}]

[[methods]]
name = "greedy"

[[methods]]
name = "greedy"
label = "random subsets"
options = {subsets = "random", epochs = 7}

[[methods]]
name = "random"

[options]
epochs = 9
pretrain_epochs = 2

[split]
test = 0.25

[quick]
seeds = [0]
rows = 150
max_features = 3
methods = ["greedy"]
options = {epochs = 1}
"""
GREEDY, WINE, TRIAGE = "the method 'greedy'", "the data set 'wine'", "the data set 'triage'"  # sections
OPTIONS = f"options of {TRIAGE}"
EXPERIMENTS = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return path

    return write


def test_the_device(write):
    assert {task.device for task in read_experiment(write(GOOD)).tasks()} == {"cpu"}
    on_gpu = read_experiment(write('device = "auto"\n' + GOOD)).tasks()
    assert {task.device for task in on_gpu} == {"auto"}
    assert Task.from_json(on_gpu[0].to_json()) == on_gpu[0]
    assert "device" not in read_experiment(write(GOOD)).tasks()[0].to_json()  # keys of before stay
    with raises(AsklessError, "invalid_choice", name="device", value="gpu", choices=list(DEVICES)):
        read_experiment(write('device = "gpu"\n' + GOOD))


def test_the_cross_product(write):
    tasks = read_experiment(write(GOOD)).tasks()
    assert len(tasks) == 2 * 3 * 3  # seeds x (wine, triage with two budgets) x methods
    assert [task.seed for task in tasks] == [3] * 9 + [1] * 9
    assert len({task.key for task in tasks}) == len(tasks)
    first, second, third = tasks[:3]
    assert (first.dataset, first.method, first.label, first.max_features) == ("wine", "greedy", "greedy", 4)
    assert first.method_options == {"epochs": 9, "pretrain_epochs": 2}
    assert (second.label, second.method_options["epochs"]) == ("random subsets", 7)  # its own word counts
    assert third.method_options == {"epochs": 9}  # it has no such setting as pretrain_epochs
    assert (first.test_fraction, first.validation_fraction, first.split_seed) == (0.25, 0.2, 3)
    triage = tasks[3]
    assert (triage.dataset_options, triage.missing, triage.rows) == ({"n": 600}, "answer", 500)
    assert {task.max_features for task in tasks if task.dataset == "triage"} == {2, 5}


def test_the_quick_variant_is_smaller(write):
    path = write(GOOD)
    quick = read_experiment(path, quick=True)
    tasks = quick.tasks()
    assert quick.name == "mine-quick"
    assert {task.seed for task in tasks} == {0}
    assert {(task.dataset, task.rows) for task in tasks} == {("wine", 150), ("triage", 150)}
    assert {(task.dataset, task.max_features) for task in tasks} == {("wine", 3), ("triage", 2), ("triage", 3)}
    assert {task.method_options["epochs"] for task in tasks} == {1}
    assert {task.label for task in tasks} == {"greedy", "random subsets"}  # by name: both of them
    assert not {task.key for task in tasks} & {task.key for task in read_experiment(path).tasks()}


def test_one_split_for_all_seeds(write):
    text = GOOD.replace("test = 0.25", "seed = 7")
    assert {task.split_seed for task in read_experiment(write(text)).tasks()} == {7}


def test_a_data_set_s_own_split(write):
    tasks = read_experiment(write(GOOD.replace("rows = 500}", "rows = 500, split = {validation = 0.1}}"))).tasks()
    splits = {(task.dataset, task.test_fraction, task.validation_fraction) for task in tasks}
    assert splits == {("wine", 0.25, 0.2), ("triage", 0.25, 0.1)}


def test_what_is_there_twice_counts_once(write):
    twice = GOOD.replace('datasets = ["wine", ', 'datasets = ["wine", "wine", ')
    assert len(read_experiment(write(twice)).tasks()) == len(read_experiment(write(GOOD)).tasks())


@pytest.mark.parametrize(("top", "first"), [('metric = "auroc"', "auroc"), ("", None)])
def test_two_metrics_of_one_data_set_are_refused(top, first, write):
    text = f'name = "a"\n{top}\nseeds = [0]\nmethods = ["random"]\n'
    path = write(text + 'datasets = ["wine", { name = "wine", rows = 100, metric = "accuracy" }]')
    fields = {"name": "metric", "section": WINE, "value": "accuracy", "expected": first, "path": str(path)}
    with raises(AsklessError, "conflicting_settings", **fields):
        read_experiment(path)
    both = read_experiment(write(text + 'datasets = ["wine", { name = "wine", rows = 100 }]'))
    assert both.metrics == ({"wine": "auroc"} if top else {})


def test_methods_of_one_data_set(write):
    text = GOOD.replace("rows = 500}", 'rows = 500, methods = ["random subsets"], seeds = [5]}')
    tasks = read_experiment(write(text)).tasks()
    assert {(task.label, task.seed) for task in tasks if task.dataset == "triage"} == {("random subsets", 5)}


@pytest.mark.parametrize(
    ("old", "new", "line", "code", "fields"),
    [
        ('"wine"', '"wien"', 5, "unknown_name", {"nearest": "wine"}),
        ('"wine"', '"clinic.csv"', 5, "not_supported", {"name": "datasets", "value": "clinic.csv"}),
        ('"wine"', "'c:\\data\\clinic'", 5, "not_supported", {"value": "c:\\data\\clinic"}),
        ('"wine"', '"data/clinic"', 5, "not_supported", {"value": "data/clinic"}),
        ('name = "random"', 'name = "randon"', 16, "unknown_name", {"nearest": "random"}),
        ('"auroc"', '"auroq"', 2, "unknown_name", {"nearest": "auroc"}),
        ("metric =", "metrik =", 2, "unknown_name", {"name": "metrik", "nearest": "metric", "section": ""}),
        ("[split]", "[splitt]", 22, "unknown_name", {"name": "splitt", "nearest": "split"}),
        ("test = 0.25", "tests = 0.25", 23, "unknown_name", {"nearest": "test", "section": "[split]"}),
        ("label =", "lable =", 12, "unknown_name", {"name": "lable", "nearest": "label", "section": GREEDY}),
        ("missing = ", "mising = ", 5, "unknown_name", {"name": "mising", "nearest": "missing", "section": TRIAGE}),
        ("{n = 600}", "{m = 600}", None, "unknown_name", {"name": "m", "section": TRIAGE}),
        ('"answer"', '"answr"', 5, "invalid_choice", {"name": "missing", "value": "answr", "nearest": "answer"}),
        ("[3, 1, 3]", "[3, -1]", None, "out_of_range", {"name": "seeds", "value": [3, -1], "low": 0}),
        ("[3, 1, 3]", "[]", None, "out_of_range", {"name": "seeds", "value": []}),
        ("[3, 1, 3]", "true", None, "wrong_type", {"name": "seeds", "value": True}),
        ("= 4\n", "= 14\n", None, "out_of_range", {"name": "max_features", "section": WINE, "value": 14, "high": 13}),
        ("[2, 5]", "[2, 50]", None, "out_of_range", {"section": TRIAGE, "value": 50, "high": 18}),
        ("rows = 500", "rows = 601", None, "out_of_range", {"name": "rows", "value": 601, "high": 600}),
        ("test = 0.25", "test = 1.5", 23, "out_of_range", {"name": "test", "section": "[split]", "value": 1.5}),
        ("test = 0.25", "test = 0.8", 23, "conflicting_settings", {"name": "test", "section": "[split]"}),
        ("test = 0.25", 'test = "a"', 23, "wrong_type", {"name": "test", "section": "[split]", "value": "a"}),
        ('subsets = "random"', 'subset = "random"', None, "unknown_name", {"method": "greedy", "nearest": "subsets"}),
        ('subsets = "random"', 'subsets = "rand"', None, "invalid_choice", {"method": "greedy", "value": "rand"}),
        ("epochs = 7", "epochs = 0", None, "out_of_range", {"method": "greedy", "name": "epochs", "value": 0}),
        ("pretrain_epochs =", "pretrain_epoch =", 20, "unknown_name", {"nearest": "pretrain_epochs"}),
        ('label = "random subsets"', 'label = "random"', None, "duplicate_name", {"name": "random"}),
        ('["greedy"]', '["greed"]', None, "unknown_name", {"name": "greed", "nearest": "greedy"}),
        ('name = "mine"', 'name = "my/own"', None, "invalid_choice", {"name": "name", "value": "my/own"}),
        ('name = "mine"', 'name = ".."', None, "invalid_choice", {"name": "name", "value": ".."}),
        ('name = "mine"', 'name = "."', None, "invalid_choice", {"name": "name", "value": "."}),
        ("{n = 600}", '{n = "abc"}', 5, "wrong_type", {"name": "n", "section": OPTIONS, "value": "abc"}),
        ("{n = 600}", "{n = [1]}", 5, "wrong_type", {"name": "n", "section": OPTIONS, "value": [1]}),
        ("{n = 600}", "{n = 0}", 5, "out_of_range", {"name": "n", "section": OPTIONS, "value": 0, "low": 1}),
        ("{n = 600}", "{n = -5}", 5, "out_of_range", {"name": "n", "section": OPTIONS, "value": -5, "low": 1}),
        ("{n = 600}", "{n = 1.5}", 5, "wrong_type", {"name": "n", "section": OPTIONS, "value": 1.5}),
        ('"auroc"', '"rmse"', 2, "conflicting_settings", {"section": WINE, "value": "rmse"}),
    ],
)  # fmt: skip
def test_errors_have_the_file_the_line_and_the_nearest_name(old, new, line, code, fields, write):
    assert old in GOOD
    path = write(GOOD.replace(old, new, 1))
    with raises(AsklessError, code, path=str(path), line=line, **fields) as error:
        read_experiment(path, quick=True)
    assert str(error.value).startswith(f"{path}: " if line is None else f"{path}, line {line}: ")


def test_the_message_names_the_key_the_value_and_the_hint(write):
    path = write(GOOD.replace('"answer"', '"answr"'))
    with pytest.raises(AsklessError, match=r"missing of the data set 'triage' .*'answr' \(did you mean 'answer'\?\)"):
        read_experiment(path)


def test_what_auto_tries_is_checked_too(write):
    methods = 'methods = [{ name = "auto", options = { methods = ["greedy", "valeu"] } }]'
    path = write(f'name = "a"\ndatasets = ["wine"]\nmax_features = 3\n{methods}\n')
    with raises(AsklessError, "unknown_name", method="auto", nearest="value", path=str(path)):
        read_experiment(path)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('name = "a"\nseeds = [0, 1\n', "line 2"),
        ('name = "a"\nseeds = [0,, 1]\n', "line 2, column 12"),
        ('name = "a"\nname = "b"\n', "line 2"),
        ('name = "a"\nseeds: 5\n', "line 2, column 6"),
    ],
)
def test_a_syntax_error_names_the_line(text, where, write):
    path = write(text)
    with raises(AsklessError, "unreadable_file", path=str(path), line=2) as error:
        read_experiment(path)
    assert str(error.value).startswith(f"{path}, {where}")


def test_not_text(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_bytes(b'name = "a"\nmetric = "\xff"\n')
    with raises(AsklessError, "unreadable_file", path=str(path), line=2):
        read_experiment(path)


@pytest.mark.parametrize("key", ["name", "seeds", "datasets", "methods"])
def test_what_must_be_there(key, write):
    lines = {
        "name": 'name = "a"',
        "seeds": "seeds = [0]",
        "datasets": 'datasets = ["wine"]',
        "methods": 'methods = ["random"]',
    }
    assert read_experiment(write("\n".join(lines.values()))).tasks()
    with raises(AsklessError, "required", name=key):
        read_experiment(write("\n".join(line for name, line in lines.items() if name != key)))


def test_no_quick_variant(write):
    with raises(AsklessError, "required", name="quick"):
        read_experiment(write('name = "a"\nseeds = 1\ndatasets = ["wine"]\nmethods = ["random"]'), quick=True)


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_the_experiments_that_come_with_the_project_are_right(path):
    experiment = read_experiment(path)
    quick = read_experiment(path, quick=True)
    assert experiment.name == path.stem
    assert 0 < len(quick.tasks()) <= len(experiment.tasks())
    assert not {task.key for task in quick.tasks()} & {task.key for task in experiment.tasks()}  # each is smaller


def test_the_paper_s_experiments_are_there():
    tables, images = {"tabular", "ablation", "standins"}, {"mnist", "mnist-superpixels", "cifar10"}
    expected = {f"paper-{name}" for name in tables | images | {f"{name}-cpu" for name in images}} | {"sefa", "costs"}
    assert {path.stem for path in EXPERIMENTS} == expected


def test_prices_can_be_ignored_on_a_data_set(tmp_path):
    path = tmp_path / "e.toml"
    path.write_text(
        'name = "e"\nseeds = [0]\nmethods = ["greedy", { name = "greedy", label = "blind", costs = "ignored" }]\n'
        'datasets = ["heart", { name = "thyroid", costs = "ignored" }]\n'
    )
    told = {(task.dataset, task.label): task.costs for task in read_experiment(path).tasks()}
    assert told == {
        ("heart", "greedy"): "used",
        ("heart", "blind"): "ignored",
        ("thyroid", "greedy"): "ignored",
        ("thyroid", "blind"): "ignored",
    }
    path.write_text(
        path.read_text().replace('{ name = "thyroid", costs = "ignored" }', '{ name = "heart", costs = "no" }')
    )
    with raises(AsklessError, "invalid_choice", name="costs", value="no", choices=["used", "ignored"]):
        read_experiment(path)
