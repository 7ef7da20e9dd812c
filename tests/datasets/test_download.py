"""Downloads, from a server on this machine and from fakes that hand out what the real sources would."""

import gzip
import inspect
import io
import re
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import askless.datasets.files as download
from askless.datasets import DatasetDamaged, DatasetNotFound, describe, load_dataset
from tests.coded import raises
from tests.datasets.real_files import needs, sets_module

REAL_OPEN_URL, REAL_OPEN_OPENML = download.open_url, download.open_openml  # before a fixture replaces them


# Web addresses


class Server(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.agents.append(self.headers["User-Agent"])
        self.send_response(404 if self.path == "/lost" else 200)
        length = 500 if self.path == "/cut" else 300_000
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(b"x" * (100 if self.path == "/cut" else length))

    def log_message(self, *words):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "open_url", REAL_OPEN_URL)
    http = HTTPServer(("127.0.0.1", 0), Server)
    http.agents = []
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    yield http
    http.shutdown()
    http.server_close()
    thread.join()


def address(server, path):
    return f"http://127.0.0.1:{server.server_port}{path}"


def test_a_file(server):
    assert download.fetched(address(server, "/file")) == b"x" * 300_000
    assert server.agents[0].startswith("askless/")


@pytest.mark.parametrize(("path", "words"), [("/lost", "404"), ("/cut", r"ended after 100 of 500|IncompleteRead")])
def test_an_answer_that_is_none(server, path, words):
    with raises(download.DownloadFailed, "download_failed", url=address(server, path)) as caught:
        download.fetched(address(server, path))
    assert re.search(words, str(caught.value))


def test_no_server(monkeypatch):
    monkeypatch.setattr(download, "open_url", REAL_OPEN_URL)
    with raises(download.DownloadFailed, "download_failed", url="http://127.0.0.1:9/x"):
        download.fetched("http://127.0.0.1:9/x")


def test_a_disk_that_is_full_is_no_failed_download(home, monkeypatch, served):
    def full(*what):
        raise OSError(28, "No space left on device")

    served["processed.cleveland.data"] = b"63.0,1.0"
    monkeypatch.setattr(sets_module("heart"), "_parse", lambda content, where: None)
    monkeypatch.setattr(download, "write_atomic", full)
    with pytest.raises(OSError, match="No space left") as caught:
        load_dataset("heart")
    assert not isinstance(caught.value, DatasetNotFound)


@pytest.fixture
def served(monkeypatch):
    """What the web holds, by the end of its address."""
    web = {}

    def open_url(url):
        content = web.get(url.rpartition("/")[2])
        if content is None:
            raise ConnectionError(f"no {url}")
        answer = io.BytesIO(content)
        answer.headers = {"Content-Length": str(len(content))}
        return answer

    monkeypatch.setattr(download, "open_url", open_url)
    return web


@needs("heart/processed.cleveland.data")
def test_heart(real, served, home):
    original = (real / "heart/processed.cleveland.data").read_bytes()
    served["processed.cleveland.data"] = original.partition(b"\n")[2].replace(b"\n", b"\r\n")  # without names
    data = load_dataset("heart")
    assert data.target.value_counts().to_dict() == {"no disease": 164, "disease": 139}
    served.clear()
    pd.testing.assert_frame_equal(load_dataset("heart").frame, data.frame)  # from the data home
    assert describe("heart").available


@needs("heart/processed.cleveland.data")
def test_what_is_not_the_table_does_not_enter_the_data_home(real, served, home):
    lines = (real / "heart/processed.cleveland.data").read_bytes().split(b"\n")
    lines[5] = lines[5].replace(b"37.0", b"38.0").replace(b"41.0", b"42.0").replace(b"56.0", b"57.0")
    served["processed.cleveland.data"] = b"\n".join(lines)
    with raises(DatasetDamaged, "damaged_file", path=sets_module("heart").URL):
        load_dataset("heart")
    served["processed.cleveland.data"] = b"<html>gone</html>"
    with raises(DatasetDamaged, "unreadable_file", path=sets_module("heart").URL):
        load_dataset("heart")
    assert not home.exists()


@needs("thyroid/ann-train.data.gz")
def test_thyroid(real, served, home):
    plain = {part: gzip.decompress((real / f"thyroid/ann-{part}.data.gz").read_bytes()) for part in ("train", "test")}
    served["ann-train.data"] = plain["train"]
    url = f"{sets_module('thyroid').URL}/ann-test.data"
    with raises(DatasetNotFound, "download_failed", name="thyroid", url=url):
        load_dataset("thyroid")
    assert not home.exists()  # all or nothing
    served["ann-test.data"] = plain["test"]
    assert load_dataset("thyroid").target.value_counts().to_dict() == {3: 6666, 2: 368, 1: 166}
    served.clear()
    assert len(load_dataset("thyroid").frame) == 7200


@needs("diabetes130/diabetic_data.csv.zip")
def test_diabetes130_in_the_archive_of_uci(real, served, home):
    with zipfile.ZipFile(real / "diabetes130/diabetic_data.csv.zip") as archive:
        content = archive.read("diabetic_data.csv")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("dataset_diabetes/IDs_mapping.csv", "1,2\n")
        archive.writestr("dataset_diabetes/diabetic_data.csv", content)
    served["dataset_diabetes.zip"] = packed.getvalue()[:-100]
    with raises(DatasetDamaged, "unreadable_file", path=sets_module("diabetes130").URL):
        load_dataset("diabetes130")
    assert not home.exists()
    served["dataset_diabetes.zip"] = packed.getvalue()
    assert len(load_dataset("diabetes130").frame) == 69_973


# PhysioNet's stays, which are put together

STAYS = {
    "132539": "00:00,RecordID,132539\n00:00,Age,54\n00:00,Gender,0\n00:00,Height,-1\n00:00,ICUType,4\n"
    "00:00,Weight,-1\n00:07,GCS,15\n00:07,HR,73\n00:37,HR,77\n03:00,Weight,80.5\n",
    "132540": "00:00,RecordID,132540\n00:00,Age,76\n00:00,Gender,1\n00:00,Height,175.3\n00:00,ICUType,2\n"
    "00:00,Weight,76\n00:42,MechVent,1\n00:42,Temp,-17.8\n01:11,Temp,35.2\n02:00,,3\n",
}


def archive_of(stays):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in stays.items():
            content = ("Time,Parameter,Value\n" + text).encode()
            member = tarfile.TarInfo(f"set-a/{name}.txt")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def test_the_first_known_value_of_a_stay_counts():
    table = sets_module("physionet2012").first_values(archive_of(STAYS), "here")
    assert table.index.tolist() == [132539, 132540]
    assert table.shape == (2, 41)
    assert table["HR"].tolist()[0] == 73
    assert table["Weight"].tolist() == [80.5, 76]
    assert table["Temp"].tolist()[1] == 35.2
    assert table["MechVent"].tolist() == [0, 1]
    assert np.isnan(table.loc[132539, "Height"])
    assert table.loc[132539].notna().sum() == 7  # Age, Gender, ICUType, GCS, HR, Weight, MechVent


def test_physionet2012(served, home, monkeypatch):
    module = sets_module("physionet2012")
    for name, value in {"ROWS": 6, "DEATHS": 2}.items():
        monkeypatch.setattr(module, name, value)
    for i, part in enumerate("abc"):
        stays = {str(100 * i + k): text.replace("1325", f"9{i}") for k, text in enumerate(STAYS.values())}
        served[f"set-{part}.tar.gz"] = archive_of(stays)
        outcomes = f"RecordID,SAPS-I,In-hospital_death\n9{i}40,1,{int(i > 0)}\n9{i}39,1,0\n"
        served[f"Outcomes-{part}.txt"] = outcomes.encode()
    data = load_dataset("physionet2012")
    assert data.target.tolist() == ["survived", "survived", "survived", "died", "survived", "died"]
    assert data.frame["Gender"].tolist() == ["female", "male"] * 3
    assert data.frame["ICUType"].tolist() == ["surgical", "cardiac surgery recovery"] * 3
    assert data.frame["MechVent"].tolist() == [False, True] * 3
    served.clear()
    pd.testing.assert_frame_equal(load_dataset("physionet2012").frame, data.frame)
    monkeypatch.setattr(module, "DEATHS", 3)
    with raises(DatasetDamaged, "damaged_file", path=str(home / module.BUILT), rows=6):
        load_dataset("physionet2012")


def test_an_archive_that_is_none(served, home):
    served["set-a.tar.gz"] = b"nonsense"
    with raises(DatasetDamaged, "unreadable_file", path=f"{sets_module('physionet2012').URL}/set-a.tar.gz"):
        load_dataset("physionet2012")


# OpenML


@pytest.fixture
def openml(monkeypatch):
    """What OpenML holds, by number: (data, target)."""
    web = {}

    def open_openml(data_id):
        if data_id not in web:
            raise ValueError(f"no data set {data_id}")  # as OpenMLError is one
        return SimpleNamespace(data=web[data_id][0], target=web[data_id][1])

    monkeypatch.setattr(download, "open_openml", open_openml)
    return web


def test_scikit_learns_client_takes_what_it_is_given(monkeypatch):
    import sklearn.datasets

    signature, calls = inspect.signature(sklearn.datasets.fetch_openml), []
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *a, **k: calls.append(signature.bind(*a, **k)))
    REAL_OPEN_OPENML(44)
    assert calls[0].arguments["data_id"] == 44
    assert calls[0].arguments["cache"] is False  # the data home keeps it


@needs("spam/spam.csv.gz")
def test_spam(real, openml, home):
    table = pd.read_csv(real / "spam/spam.csv.gz").sample(frac=1, random_state=0).reset_index(drop=True)
    openml[44] = table.iloc[:, :-1], pd.Series(pd.Categorical(table["Outcome"].astype(str)))
    data = load_dataset("spam")
    assert data.target.value_counts().to_dict() == {"not spam": 2788, "spam": 1813}
    openml.clear()
    np.testing.assert_allclose(load_dataset("spam").frame, table.iloc[:, :-1])


def test_an_openml_table_that_is_not_spam(openml, home):
    openml[44] = pd.DataFrame(np.zeros((4601, 57))), pd.Series(["0"] * 4601)
    with raises(DatasetDamaged, "damaged_file", path="OpenML 44"):
        load_dataset("spam")
    assert not home.exists()


@needs("mnist/train-images-idx3-ubyte.gz")
def test_mnist(openml, home, monkeypatch, real):
    monkeypatch.setenv("ASKLESS_DATA", str(real))
    stored = load_dataset("mnist")
    monkeypatch.setenv("ASKLESS_DATA", str(home))
    openml[554] = stored.frame, pd.Series(pd.Categorical(stored.target.astype(str)))
    data = load_dataset("mnist")
    openml.clear()
    again = load_dataset("mnist")
    pd.testing.assert_frame_equal(data.frame, stored.frame)
    pd.testing.assert_frame_equal(again.frame, stored.frame)
    pd.testing.assert_series_equal(again.target, stored.target)
    (home / "mnist/mnist.npz").write_bytes((home / "mnist/mnist.npz").read_bytes()[:100_000])
    with raises(DatasetDamaged, "unreadable_file", path=str(home / "mnist/mnist.npz")):
        load_dataset("mnist")


def test_miniboone_says_which_table_it_is(openml, home):
    rng = np.random.default_rng(0)
    signal = np.arange(130_064) < 36_499
    openml[41150] = pd.DataFrame(rng.random((130_064, 50)).round(2)), pd.Series(signal)
    data = load_dataset("miniboone")
    assert len(data.frame) == data.info.rows == 130_064
    assert data.target.value_counts()["signal"] == 36_499
    assert "complete table" in data.description
    with raises(DatasetNotFound, "file_not_found", path=str(home / sets_module("miniboone").SUBSET)):
        load_dataset("miniboone", subset=True)
    openml.clear()
    pd.testing.assert_frame_equal(load_dataset("miniboone", subset=False).frame, data.frame)


def test_a_miniboone_of_another_size(openml, home):
    openml[41150] = pd.DataFrame(np.zeros((10, 50))), pd.Series([True] * 10)
    with raises(DatasetDamaged, "damaged_file", path="OpenML 41150", shape=(10, 50)):
        load_dataset("miniboone")


@pytest.mark.parametrize("scale", [1, 255])  # bytes, or shares of 255
def test_cifar10(openml, home, monkeypatch, scale):
    module = sets_module("images")
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (60, 32, 32, 3)).astype(np.uint8)
    labels = np.r_[np.tile(np.arange(10), 5), np.arange(10)]
    settings = {"CIFAR_ROWS": 60, "CIFAR_TRAINING": 50, "CIFAR_MEANS": images[:50].mean(axis=(0, 1, 2)) / 255}
    for name, value in settings.items():
        monkeypatch.setattr(module, name, value)
    flat = images.transpose(0, 3, 1, 2).reshape(60, -1)  # the red values of all pixels first
    openml[40927] = pd.DataFrame(flat / scale if scale > 1 else flat), pd.Series(pd.Categorical(labels.astype(str)))
    data = load_dataset("cifar10", patch_size=4)
    np.testing.assert_array_equal(data.images, images)
    assert data.target.tolist()[:3] == ["airplane", "automobile", "bird"]
    assert data.info.features == 64
    assert data.frame.columns[:4].tolist() == [f"row 1, column 1, {c}" for c in ("red", "green", "blue")] + [
        "row 1, column 2, red"
    ]
    openml.clear()
    np.testing.assert_array_equal(load_dataset("cifar10").images, images)
    monkeypatch.setattr(module, "CIFAR_TRAINING", 40)  # not five of each class
    with raises(DatasetDamaged, "damaged_file", path=str(home / module.CIFAR_FILE)):
        load_dataset("cifar10")
