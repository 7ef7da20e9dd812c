"""Damaged and forged files: all raise `ModelFileError`; none loads, hangs, grows or runs anything."""

import io
import json
import os
import pickle
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from askless import DynamicClassifier, DynamicRegressor, load
from askless.acquisition import MaxFeatures
from askless.checks import example_table
from askless.exceptions import ModelFileError
from askless.methods import FixedOrder, Greedy
from askless.model_file import FORMAT_VERSION, read_model
from tests.coded import raises
from tests.model_files import forged, opened, stamped

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A classifier's and a regressor's file."""
    folder = tmp_path_factory.mktemp("models")
    quick = {"epochs": 2, "hidden": (8,)}
    groups = {"pressure": ["upper", "lower"]}
    greedy = DynamicClassifier(
        3, method=Greedy(pretrain_epochs=2, **quick), groups=groups, costs={"age": 2}, stopping=MaxFeatures(2)
    )
    greedy.fit(*example_table("classification")).save(folder / "a.askless")
    DynamicRegressor(3, method=FixedOrder(**quick)).fit(*example_table("regression")).save(folder / "b.askless")
    return folder / "a.askless", folder / "b.askless"


@pytest.fixture
def refused(tmp_path):
    """Assert that bytes are no model file, and return the error."""

    def assert_refused(content):
        path = tmp_path / "m.askless"
        path.write_bytes(content)
        with pytest.raises(ModelFileError) as info:
            read_model(path)
        assert str(path) in str(info.value)
        assert info.value.fields["path"] == str(path)
        return info.value

    return assert_refused


def test_a_thousand_damaged_files(files):
    started = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-m", "tests.model_files", *map(str, files), "1000"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    told = json.loads(ran.stdout)
    assert told["wrong"] == []
    assert told["peak"] < 200  # MB, of the whole process
    assert told["slowest"] < 2  # seconds
    assert time.perf_counter() - started < 60
    assert len(told["kinds"]) == 2  # no model file at all; damaged
    assert ran.stderr == ""


class Bomb:
    """A pickle that would leave a trace if it were loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def zip_of(content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("m.askless", content)
    return buffer.getvalue()


def test_files_of_another_kind(files, refused, tmp_path):
    content = files[0].read_bytes()
    trace = tmp_path / "trace"
    others = {
        "empty": b"",
        "seven bytes": content[:7],
        "eight bytes": content[:8],
        "zip": zip_of(content),
        "pickle": pickle.dumps(Bomb(str(trace))),
        "text": b"ask less, know enough\n" * 100,
        "json": json.dumps({"askless": 1}).encode(),
        "other tensors": save({"x": np.zeros(3)}),
        "other tensors with metadata": save({"x": np.zeros(3)}, {"format": "pt", "sha256": "0" * 64}),
        "model after a pickle": pickle.dumps(Bomb(str(trace))) + content,
    }
    for name, other in others.items():
        assert refused(other).code == ("damaged_file" if name == "other tensors with metadata" else "wrong_file"), (
            name
        )
    assert not trace.exists()


def test_no_file_at_all(tmp_path):
    with raises(ModelFileError, "wrong_file", path=str(tmp_path)):
        read_model(tmp_path)
    with raises(ModelFileError, "file_not_found", path=str(tmp_path / "nothing.askless")):
        read_model(tmp_path / "nothing.askless")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(ModelFileError):
        read_model(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")  # reading it would wait for ever
    with raises(ModelFileError, "file_not_found"):
        read_model(tmp_path / "pipe")


def test_a_file_that_may_not_be_read(files, tmp_path, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with raises(ModelFileError, "unreadable_file", path=str(files[0])):
        read_model(files[0])


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "huge.askless"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # sparse: it takes no room on the disk
    with raises(ModelFileError, "too_large", path=str(path)):
        read_model(path)


# Forged: a valid checksum over something else


def test_the_forger_can_forge(files, tmp_path):
    content = files[0].read_bytes()
    assert forged(content, lambda manifest: None) == content


@pytest.mark.parametrize("version", [FORMAT_VERSION + 1, 0, -1, "1", None, True, 1.0, [1], {}])
def test_another_version(files, refused, version):
    error = refused(forged(files[0].read_bytes(), lambda manifest: manifest.update(format=version)))
    if version == FORMAT_VERSION + 1:
        assert error.code == "newer_format"
        assert error.fields["version"] == version
        assert error.fields["supported"] == FORMAT_VERSION
    else:
        assert error.code == "unreadable_file"


@pytest.mark.parametrize("part", ["policy", "predictor"])
@pytest.mark.parametrize("name", ["NoSuch", "Network", "__doc__", "os.system", "", None, 3, ["NetPolicy"], {}])
def test_another_class(files, refused, part, name):
    refused(forged(files[0].read_bytes(), lambda manifest: manifest[part].update(name=name)))


def test_a_class_in_the_wrong_place(files, refused):
    def exchange(manifest):
        manifest["policy"], manifest["predictor"] = manifest["predictor"], manifest["policy"]

    for file in files:
        refused(forged(file.read_bytes(), exchange))
        refused(forged(file.read_bytes(), lambda manifest: manifest["policy"].update(name="NetPredictor")))
    for name in ("Progress", "StoppingRule", "as_rules", "NOTHING_LEFT", "np"):
        refused(forged(files[0].read_bytes(), lambda manifest, name=name: manifest["stopping"][0].update(name=name)))


KEYS = ["classes", "encoder", "format", "image_shape", "max_features", "missing"]
KEYS += ["policy", "predictor", "settings", "stopping", "summary", "task"]
WRONG = [None, True, -1, 0.5, 10**30, "x", "", [], {}, [[]], {"name": "x"}, float("nan"), float("inf")]
HARMLESS = {  # what another model might well have
    "classes": [],
    "settings": [{}, {"name": "x"}],
    "summary": [{}, {"name": "x"}],
    "stopping": [[]],
    "image_shape": [None, []],
}


@pytest.mark.parametrize("key", KEYS)
def test_another_type(files, refused, key):
    content = files[0].read_bytes()
    assert key in opened(content)[1]
    for value in WRONG:
        if value not in HARMLESS.get(key, []):
            refused(forged(content, lambda manifest, value=value: manifest.update({key: value})))
    refused(forged(content, lambda manifest: manifest.pop(key) and manifest))


def test_every_key_of_a_manifest_is_tried(files):
    assert sorted(opened(files[0].read_bytes())[1]) == KEYS


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(task="ranking"),
        lambda m: m.update(task="regression"),
        lambda m: m.update(classes=["a", "b"]),
        lambda m: m.update(classes=["a", "a", "b"]),
        lambda m: m.update(classes=["a", "b", None]),
        lambda m: m.update(max_features=0),
        lambda m: m.update(max_features=99),
        lambda m: m.update(missing="guess"),
        lambda m: m.update(surprise=1),
        lambda m: m["stopping"][0]["config"].update(limit=-1),
        lambda m: m["stopping"][0]["config"].update(other=1),
        lambda m: m["predictor"]["config"].update(classes=False),
        lambda m: m["predictor"]["config"].update(scale="1.0"),
        lambda m: m["policy"].update(config={"x": 1}),
        lambda m: m["encoder"]["features"].pop(),
        lambda m: m["encoder"]["features"].append(m["encoder"]["features"][0]),
        lambda m: m["encoder"].update(columns=[]),
        lambda m: m["encoder"]["features"][0].update(cost=-1.0),
        lambda m: m["encoder"]["features"][0].update(cost="1"),
        lambda m: m["encoder"]["features"][0]["parts"][0].update(kind="date"),
        lambda m: m["encoder"]["features"][0]["parts"][0].update(low="x"),
        lambda m: m["encoder"]["features"][0]["parts"][0].update(channels=[]),
        lambda m: m["encoder"]["features"][0]["parts"][0]["channels"][0].update(mean=[1.0, 2.0]),
        lambda m: m["encoder"]["features"][2]["parts"][0].update(choices=[[], {}, None]),
        lambda m: [m],
        lambda m: 3,
        lambda m: "{",
        lambda m: "[" * 200_000,
        lambda m: '{"format": 1' + "0" * 10_000 + "}",
        lambda m: m["policy"]["config"].update(other=1),
        lambda m: m["encoder"].update(other=1),
        lambda m: m["encoder"]["features"][0].update(other=1),
    ],
)
def test_a_manifest_that_makes_no_sense(files, refused, change):
    def edit(manifest):
        changed = change(manifest)
        return changed if isinstance(changed, (str, list, int)) and changed is not manifest else None

    content = files[0].read_bytes()
    refused(forged(content, edit))


def with_tensors(content, change):
    """The file with other tensors and a valid checksum."""
    from safetensors.numpy import load as load_tensors

    tensors = load_tensors(content)
    tensors = change(dict(tensors)) or tensors
    new, _, data = opened(save(tensors, {"askless": "{}"}))
    return stamped(new, opened(content)[0]["__metadata__"]["askless"], data)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: {**t, "extra": np.zeros(2)},
        lambda t: {**t, "policy.extra": np.zeros(2)},
        lambda t: {name: array for name, array in t.items() if name != "policy.bias0"},
        lambda t: {name: array for name, array in t.items() if not name.startswith("policy")},
        lambda t: {**t, "policy.value_weight": t["policy.value_weight"][1:]},
        lambda t: {**t, "policy.mask_weight": t["policy.mask_weight"][1:]},
        lambda t: {**t, "policy.weight1": t["policy.weight1"][:, 1:]},
        lambda t: {**t, "policy.weight1": t["policy.weight1"].T.copy()},
        lambda t: {**t, "policy.bias0": t["policy.bias0"][None]},
        lambda t: {**t, "policy.first": t["policy.first"][:1]},
        lambda t: {**t, "predictor.prior": t["predictor.prior"][:1]},
        lambda t: {**t, "predictor.prior": np.full_like(t["predictor.prior"], np.nan)},
        lambda t: {**t, "predictor.weight1": t["predictor.weight1"].astype(np.int32)},
        lambda t: {**t, "predictor.weight1": np.full_like(t["predictor.weight1"], np.inf)},
        lambda t: {"policy.value_weight": np.zeros((0, 3))},
    ],
)
def test_tensors_that_do_not_fit(files, refused, change):
    refused(with_tensors(files[0].read_bytes(), change))


@pytest.mark.parametrize(
    "claim",
    [
        {"shape": [10**9, 10**9]},
        {"shape": [2**63, 2]},
        {"shape": [-1, 4]},
        {"shape": [10**40]},
        {"dtype": "F8_E4M3"},
        {"dtype": "U128"},
        {"data_offsets": [0, 2**62]},
        {"data_offsets": [8, 0]},
        {"data_offsets": [2**63, 2**64]},
        {"data_offsets": "all"},
        {"shape": "big"},
    ],
)
def test_tensors_that_claim_too_much(files, refused, claim):
    header, manifest, data = opened(files[0].read_bytes())
    header["policy.value_weight"].update(claim)
    refused(stamped(header, json.dumps(manifest, sort_keys=True), data))


def test_metadata_that_is_not_there(files, refused):
    header, _, data = opened(files[0].read_bytes())
    for text in (None, 5, ["x"], {"format": 1}):
        refused(stamped(header, text, data))


def test_the_estimator_says_the_same(files, tmp_path):
    path = tmp_path / "m.askless"
    path.write_bytes(files[0].read_bytes()[:-1])
    with raises(ModelFileError, "damaged_file", path=str(path)):
        load(path)
