import io
import json
from importlib import import_module

import numpy as np
import pandas as pd

from askless.cli.tables import open_table
from askless.datasets import list_datasets, load_dataset
from askless.datasets.files import values_sha256
from askless.encoding import TableEncoder


def test_list(run, monkeypatch, tmp_path):
    monkeypatch.setenv("ASKLESS_DATA", str(tmp_path))
    result = run("datasets", "list")
    assert result.code == 0
    assert all(name in result.out for name in list_datasets())
    assert str(tmp_path) in result.out.replace("\n", "")  # where what is not available belongs
    available = {line.split()[0]: line for line in result.out.splitlines() if line.split()}
    assert " download " in available["spam"]
    assert " by hand " in available["nhanes"]
    assert " yes " in available["triage"]


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


def test_get_downloads_what_is_absent(run, monkeypatch, tmp_path):
    home, web = tmp_path / "home", {"processed.cleveland.data": b"63,1,1,145,233,1,2,150,0,2.3,3,0,6,0\n" * 2}
    asked = []

    def open_url(url):
        asked.append(url)
        answer = io.BytesIO(web[url.rpartition("/")[2]])
        answer.headers = {}
        return answer

    module = import_module("askless.datasets.sets.heart")
    values = np.array([[63, 1, 1, 145, 233, 1, 2, 150, 0, 2.3, 3, 0, 6, 0]] * 2)
    monkeypatch.setattr(module, "ROWS", 2)
    monkeypatch.setattr(module, "VALUES_SHA256", values_sha256(values))
    monkeypatch.setattr("askless.datasets.files.open_url", open_url)
    monkeypatch.setenv("ASKLESS_DATA", str(home))
    monkeypatch.chdir(tmp_path)
    assert "heart" in run("datasets", "get", "heart", "--no-download").complaint
    assert asked == []
    result = run("datasets", "get", "heart")
    assert result.code == 0, result.err
    assert len(asked) == 1
    assert len(pd.read_csv(tmp_path / "heart.csv")) == 2
    assert json.loads((tmp_path / "heart.costs.json").read_text())["thal"] == 102.9
    assert json.loads((tmp_path / "heart.panels.json").read_text())["blood"] == {"chol": 5.17, "fbs": 3.10}
    assert "--panels heart.panels.json" in " ".join(result.out.split())
    assert sorted(path.name for path in home.rglob("*") if path.is_file()) == ["processed.cleveland.data"]
    assert run("datasets", "get", "heart", "-o", "again.csv").code == 0
    assert len(asked) == 1  # it is there now


def test_get_without_a_network(run, monkeypatch, tmp_path):
    monkeypatch.setenv("ASKLESS_DATA", str(tmp_path))
    complaint = run("datasets", "get", "mnist").complaint
    assert "OpenML 554" in complaint
    assert "tests do not use the network" in complaint
    assert str(tmp_path / "mnist") in complaint
