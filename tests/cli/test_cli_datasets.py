import json

import pandas as pd

from askless.cli.tables import open_table
from askless.datasets import list_datasets, load_dataset
from askless.encoding import TableEncoder


def test_list(run, monkeypatch, tmp_path):
    monkeypatch.setenv("ASKLESS_DATA", str(tmp_path))
    result = run("datasets", "list")
    assert result.code == 0
    assert all(name in result.out for name in list_datasets())
    assert str(tmp_path) in result.out.replace("\n", "")  # where what is not available belongs


def test_get_writes_what_fit_takes(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = run("datasets", "get", "triage", "--rows", 300, "--seed", 3)
    assert result.code == 0, result.err
    words = (
        "fit triage.csv --target destination --groups triage.groups.json --costs triage.costs.json -o triage.askless"
    )
    assert words in result.out.replace("\n", "")
    data = load_dataset("triage", n=300, random_state=3)
    assert json.loads((tmp_path / "triage.groups.json").read_text()) == data.groups
    assert json.loads((tmp_path / "triage.costs.json").read_text()) == data.costs
    read = open_table("triage.csv").read()
    pd.testing.assert_series_equal(read["destination"], data.target, check_dtype=False)
    ours, theirs = (TableEncoder.fit(frame) for frame in (data.frame, read.drop(columns="destination")))
    assert ours.schema == theirs.schema


def test_get_a_table_without_groups(run, tmp_path):
    result = run("datasets", "get", "wine", "-o", tmp_path / "my wine.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my wine.csv"]
    assert "'" in result.out.split("next:")[1]  # quoted for the shell
