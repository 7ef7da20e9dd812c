"""An experiment's file: what it means, and what is said of a wrong one."""

from pathlib import Path

import pytest

from askless.exceptions import AsklessError
from askless.experiments import read_experiment

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
EXPERIMENTS = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return path

    return write


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


@pytest.mark.parametrize(("top", "first"), [('metric = "auroc"', "'auroc'"), ("", "not given")])
def test_two_metrics_of_one_data_set_are_refused(top, first, write):
    text = f'name = "a"\n{top}\nseeds = [0]\nmethods = ["random"]\n'
    path = write(text + 'datasets = ["wine", { name = "wine", rows = 100, metric = "accuracy" }]')
    with pytest.raises(AsklessError) as error:
        read_experiment(path)
    assert str(error.value).startswith(str(path))
    told = f"is 'accuracy'; where the data set is named before, it is {first}: use one for both"
    assert f"metric of the data set 'wine' {told}" in str(error.value)
    both = read_experiment(write(text + 'datasets = ["wine", { name = "wine", rows = 100 }]'))
    assert both.metrics == ({"wine": "auroc"} if top else {})


def test_methods_of_one_data_set(write):
    text = GOOD.replace("rows = 500}", 'rows = 500, methods = ["random subsets"], seeds = [5]}')
    tasks = read_experiment(write(text)).tasks()
    assert {(task.label, task.seed) for task in tasks if task.dataset == "triage"} == {("random subsets", 5)}


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ('"wine"', '"wien"', "line 5", "there is no data set 'wien' (did you mean 'wine'?)"),
        ('"wine"', '"clinic.csv"', "line 5", "'clinic.csv' looks like a file, and an experiment takes the built-in"),
        ('"wine"', "'c:\\data\\clinic'", "line 5", "run `askless fit` once for each --method"),
        ('"wine"', '"data/clinic"', "line 5", "with a table of your own"),
        ('name = "random"', 'name = "randon"', "line 16", "there is no method 'randon' (did you mean 'random'?)"),
        ('"auroc"', '"auroq"', "line 2", "there is no metric 'auroq' (did you mean 'auroc'?)"),
        ("metric =", "metrik =", "line 2", "there is no key 'metrik' (did you mean 'metric'?)"),
        ("[split]", "[splitt]", "line 22", "there is no key 'splitt' (did you mean 'split'?)"),
        ("test = 0.25", "tests = 0.25", "line 23", "[split] has no key 'tests' (did you mean 'test'?)"),
        ("label =", "lable =", "line 12", "the method 'greedy' has no key 'lable' (did you mean 'label'?)"),
        ("missing = ", "mising = ", "line 5", "the data set 'triage' has no key 'mising' (did you mean 'missing'?)"),
        ("{n = 600}", "{m = 600}", "", "options of the data set 'triage' has 'm'"),
        ('"answer"', '"answr"', "line 5", "is 'answr' (did you mean 'answer'?)"),
        ("[3, 1, 3]", "[3, -1]", "", "seeds is [3, -1]; it must be one or more whole numbers"),
        ("[3, 1, 3]", "[]", "", "seeds is []"),
        ("[3, 1, 3]", "true", "", "seeds is True"),
        ("= 4\n", "= 14\n", "", "max_features of the data set 'wine' is 14, but the data set has 13 features"),
        ("[2, 5]", "[2, 50]", "", "max_features of the data set 'triage' is 50, but the data set has 18 features"),
        ("rows = 500", "rows = 601", "", "rows of the data set 'triage' is 601, but the data set has 600 rows"),
        ("test = 0.25", "test = 1.5", "line 23", "test of [split] is 1.5; it must be a number between 0 and 1"),
        ("test = 0.25", "test = 0.8", "line 23", "must leave rows to train on"),
        ('subsets = "random"', 'subset = "random"', "", "'greedy' has no setting 'subset' (did you mean 'subsets'?)"),
        ('subsets = "random"', 'subsets = "rand"', "", "the method 'greedy': subsets is 'rand'; it must be one of"),
        ("epochs = 7", "epochs = 0", "", "the method 'greedy': epochs is 0; it must be an integer of at least 1"),
        ("pretrain_epochs =", "pretrain_epoch =", "line 20", "none of the methods (did you mean 'pretrain_epochs'?)"),
        ('label = "random subsets"', 'label = "random"', "", "two methods are called 'random'"),
        ('["greedy"]', '["greed"]', "", "none of the experiment's methods (did you mean 'greedy'?)"),
        ('name = "mine"', 'name = "my/own"', "", "name is 'my/own'"),
        ('name = "mine"', 'name = ".."', "", "name is '..'"),
        ('name = "mine"', 'name = "."', "", "name is '.'"),
        ("{n = 600}", '{n = "abc"}', "line 5", "n of options of the data set 'triage' is 'abc'; it must be a whole"),
        ("{n = 600}", "{n = [1]}", "line 5", "n of options of the data set 'triage' is [1]; it must be a whole"),
        ("{n = 600}", "{n = 0}", "line 5", "is 0; it must be a whole number of at least 1"),
        ("{n = 600}", "{n = -5}", "line 5", "is -5; it must be a whole number of at least 1"),
        ("{n = 600}", "{n = 1.5}", "line 5", "is 1.5; it must be a whole number of at least 1"),
        ('"auroc"', '"rmse"', "", "metric of the data set 'wine' is 'rmse', which is for a regression"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_the_file_the_line_and_the_nearest_match(old, new, where, what, write):
    assert old in GOOD
    path = write(GOOD.replace(old, new, 1))
    with pytest.raises(AsklessError) as error:
        read_experiment(path, quick=True)
    assert str(error.value).startswith(f"{path}, {where}: " if where else str(path))
    assert what in str(error.value)


def test_what_auto_tries_is_checked_too(write):
    methods = 'methods = [{ name = "auto", options = { methods = ["greedy", "valeu"] } }]'
    with pytest.raises(AsklessError, match=r"the method 'auto': .*'valeu'.*did you mean 'value'"):
        read_experiment(write(f'name = "a"\ndatasets = ["wine"]\nmax_features = 3\n{methods}\n'))


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
    with pytest.raises(AsklessError) as error:
        read_experiment(path)
    assert str(error.value).startswith(f"{path}, {where}")


def test_not_text(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_bytes(b'name = "a"\nmetric = "\xff"\n')
    with pytest.raises(AsklessError, match="line 2: the file is not UTF-8"):
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
    with pytest.raises(AsklessError, match=key):
        read_experiment(write("\n".join(line for name, line in lines.items() if name != key)))


def test_no_quick_variant(write):
    with pytest.raises(AsklessError, match=r"no table \[quick\]"):
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
    with pytest.raises(AsklessError, match="must be one of 'used', 'ignored'"):
        read_experiment(path)
