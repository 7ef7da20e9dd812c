"""What is known of the tables that have to be fetched, each against the file that its source gives."""

import gzip
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from askless.datasets import DatasetDamaged, DatasetNotFound, describe, load_dataset
from askless.encoding import TableEncoder
from askless.exceptions import ParameterError
from tests.coded import raises
from tests.datasets.real_files import needs, sets_module

# Heart


@needs("heart/costs_turney_1995.csv")
def test_hearts_costs_are_turneys(real):
    table = pd.read_csv(real / "heart/costs_turney_1995.csv").set_index("feature")
    info = describe("heart")
    assert info.costs == table["cost_cad"].to_dict()
    cheaper = table[table["discounted_cost_cad"] < table["cost_cad"]]
    assert info.discounted_costs == cheaper["discounted_cost_cad"].to_dict()
    panels = {frozenset(panel) for panel in info.panels.values()}
    assert panels == {frozenset(p) for p in (("chol", "fbs"), ("thalach", "thal"), ("exang", "oldpeak", "slope"))}


@needs("heart/processed.cleveland.data")
def test_hearts_first_rows_by_hand():
    data = load_dataset("heart")
    assert data.frame.iloc[0].tolist() == [
        63, "male", "typical angina", 145, 233, True, "left ventricular hypertrophy", 150, False, 2.3, "down", 0,
        "fixed defect",
    ]  # fmt: skip
    assert data.target.tolist()[:2] == ["no disease", "disease"]
    assert data.target.value_counts().to_dict() == {"no disease": 164, "disease": 139}
    assert data.frame.isna().sum().loc[lambda s: s > 0].to_dict() == {"ca": 4, "thal": 2}


# Thyroid


@needs("thyroid/ann-thyroid.cost")
def test_thyroids_costs_are_turneys_and_leave_the_index_out(real):
    lines = (real / "thyroid/ann-thyroid.cost").read_text().split()
    assert describe("thyroid").costs == {name: float(cost) for name, cost in (line.split(":") for line in lines)}
    data = load_dataset("thyroid")
    assert list(data.frame.columns) == list(describe("thyroid").costs)
    assert "FTI" not in data.frame


@needs("thyroid/ann-train.data.gz")
def test_thyroids_rows():
    data = load_dataset("thyroid")
    assert data.target.value_counts().to_dict() == {3: 6666, 2: 368, 1: 166}
    first = data.frame.iloc[0]
    assert first[["age", "sex", "TSH", "T3", "TT4", "T4U"]].tolist() == [0.73, 0, 0.0006, 0.015, 0.12, 0.082]
    assert [name for name in data.frame if first[name] is np.True_] == ["on_thyroxine", "I131_treatment"]
    by_class = data.frame["TSH"].groupby(data.target).mean()
    assert by_class[1] > by_class[2] > by_class[3]  # the gland is driven hardest where it works least


# MiniBooNE


@needs("miniboone/miniboone_subset.csv.gz")
def test_the_subset_of_miniboone():
    for options in ({}, {"subset": True}):
        data = load_dataset("miniboone", **options)
        assert data.target.value_counts().to_dict() == {"background": 8103, "signal": 3116}
        assert data.info.rows == len(data.frame) == 11_219
        assert "subset" in data.source
        assert "A subset of the complete table" in data.description
    with raises(DatasetNotFound, "file_not_found", name="miniboone") as caught:
        load_dataset("miniboone", subset=False, download=False)
    assert "41150" in str(caught.value)


def test_an_option_of_miniboone_that_is_none():
    with raises(ParameterError, "invalid_choice", name="subset", value="small", choices=[True, False, None]):
        load_dataset("miniboone", subset="small")


# NHANES


@needs("nhanes/feature_costs.json")
def test_the_costs_of_nhanes_name_exactly_its_features(real):
    costs = json.loads((real / "nhanes/feature_costs.json").read_text())
    data = load_dataset("nhanes")
    assert data.costs == costs
    assert list(data.frame.columns) == list(costs)
    assert not set(data.frame.columns) & {
        "SEQN", "survey_nr", "fasting_hr", "hba1c", "ever_diabetes", "glucose_mgdl", "Outcome"
    }  # fmt: skip
    assert data.target.value_counts().to_dict() == {"normal": 44_252, "pre-diabetes": 8_958, "diabetes": 4_860}


@needs("nhanes/nhanes_diabetes.csv.gz")
def test_the_words_of_nhanes_belong_to_their_codes(real):
    data, raw = load_dataset("nhanes"), pd.read_csv(real / "nhanes/nhanes_diabetes.csv.gz")
    height = data.frame["height"].groupby(data.frame["gender"]).mean()
    assert height["male"] > height["female"] + 10
    pressure = data.frame["SBP1"].groupby(data.frame["ever_hypertension"]).mean()
    assert pressure["yes"] > pressure["no"] + 10
    np.testing.assert_array_equal(data.frame.isna(), raw[list(data.frame)].isna())
    glucose = raw["glucose_mgdl"].groupby(data.target).mean()
    assert glucose["normal"] < glucose["pre-diabetes"] < glucose["diabetes"]


def test_a_rebuilt_nhanes(home):
    module = sets_module("nhanes")
    table = pd.DataFrame({name: [1.0, 2.0, np.nan] for name in module.COSTS}).assign(Outcome=[0, 1, 2])
    (home / "nhanes").mkdir(parents=True)

    def write(table):
        (home / module.REBUILT).write_bytes(gzip.compress(table.to_csv(index=False).encode()))

    write(table)
    data = load_dataset("nhanes")
    assert data.target.tolist() == ["normal", "pre-diabetes", "diabetes"]
    assert data.info.rows == 3
    write(table.drop(columns="waist"))
    with raises(DatasetDamaged, "missing_column", path=str(home / module.REBUILT), column="waist"):
        load_dataset("nhanes")
    write(table.assign(Outcome=[0, 1, 3]))
    with raises(DatasetDamaged, "unknown_label", path=str(home / module.REBUILT), column="Outcome", row=2):
        load_dataset("nhanes")


# PhysioNet 2012


@needs("physionet2012/physionet2012_first.csv.gz")
def test_physionets_features(real):
    data, raw = load_dataset("physionet2012"), pd.read_csv(real / "physionet2012/physionet2012_first.csv.gz")
    columns = list(raw.columns)
    assert list(data.frame.columns) == columns[columns.index("Age") : columns.index("TroponinT") + 1]
    assert (data.target == "died").sum() == 1707
    np.testing.assert_array_equal(data.target == "died", raw["In-hospital_death"] == 1)
    height = data.frame["Height"].groupby(data.frame["Gender"]).mean()
    assert height["male"] > height["female"]
    deaths = (data.target == "died").groupby(data.frame["ICUType"]).mean()
    assert deaths.idxmax() == "medical"
    assert deaths.idxmin() == "cardiac surgery recovery"
    assert data.frame["Gender"].isna().sum() == 12


# Diabetes 130


@needs("diabetes130/diabetic_data.csv.zip")
def test_diabetes130_against_slow_code(real):
    data = load_dataset("diabetes130")
    with zipfile.ZipFile(real / "diabetes130/diabetic_data.csv.zip") as archive:
        lines = archive.read("diabetic_data.csv").decode().splitlines()
    names = lines[0].split(",")
    first: dict[str, dict[str, str]] = {}
    for line in lines[1:]:
        row = dict(zip(names, line.split(","), strict=True))
        known = first.get(row["patient_nbr"])
        if known is None or int(row["encounter_id"]) < int(known["encounter_id"]):
            first[row["patient_nbr"]] = row
    kept = [
        row for row in first.values() if row["discharge_disposition_id"] not in {"11", "13", "14", "19", "20", "21"}
    ]
    kept.sort(key=lambda row: int(row["encounter_id"]))
    assert len(kept) == len(data.frame) == 69_973
    assert [row["readmitted"] == "<30" for row in kept] == (data.target == "within 30 days").tolist()
    assert [row["age"] for row in kept] == data.frame["age"].tolist()
    assert [f"code {row['admission_type_id']}" for row in kept] == data.frame["admission_type_id"].tolist()
    assert [row["race"] == "?" for row in kept] == data.frame["race"].isna().tolist()
    assert [row["A1Cresult"] == "None" for row in kept] == (data.frame["A1Cresult"] == "not measured").tolist()
    assert not {"encounter_id", "patient_nbr", "readmitted"} & set(data.frame.columns)


@pytest.mark.parametrize(
    ("code", "group"),
    [
        ("250", "diabetes"), ("250.83", "diabetes"), ("251", "other"), ("390", "circulatory"), ("459", "circulatory"),
        ("785", "circulatory"), ("460", "respiratory"), ("786", "respiratory"), ("577", "digestive"),
        ("787", "digestive"), ("850", "injury"), ("999", "injury"), ("715", "musculoskeletal"),
        ("599", "genitourinary"), ("788", "genitourinary"), ("239", "neoplasms"), ("139", "other"), ("780", "other"),
        ("V57", "other"), ("E888", "other"),
    ],
)  # fmt: skip
def test_groups_of_diagnoses(code, group):
    assert sets_module("diabetes130").icd9_group(code) == group


@needs("diabetes130/diabetic_data.csv.zip")
@pytest.mark.parametrize("name", ["diabetes130", "physionet2012", "nhanes", "heart"])
def test_what_was_written_to_a_file_is_read_as_the_same_kinds(name):
    frame = load_dataset(name).frame
    frame = frame.sample(min(len(frame), 3000), random_state=0)
    written = pd.read_csv(io.StringIO(frame.to_csv(index=False)))
    ours, theirs = (TableEncoder.fit(table) for table in (frame, written))
    assert ours.schema == theirs.schema


# MNIST


@needs("mnist/train-images-idx3-ubyte.gz")
class TestMnist:
    def test_images_and_labels_of_the_files(self, real):
        data = load_dataset("mnist")
        raw = gzip.decompress((real / "mnist/train-images-idx3-ubyte.gz").read_bytes())
        labels = gzip.decompress((real / "mnist/t10k-labels-idx1-ubyte.gz").read_bytes())
        for i in (0, 7, 59_999):
            assert data.images[i].tobytes() == raw[16 + 784 * i : 16 + 784 * (i + 1)]
        assert data.target.tolist()[60_000:60_010] == list(labels[8:18]) == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
        assert data.target.tolist()[:5] == [5, 0, 4, 1, 9]
        np.testing.assert_array_equal(data.frame["row 15, column 8"], data.images[:, 14, 7])

    def test_patches(self):
        data = load_dataset("mnist", patch_size=2)
        assert data.info.features == len(data.groups) == 196
        assert data.groups["rows 3-4, columns 27-28"] == [
            "row 3, column 27", "row 3, column 28", "row 4, column 27", "row 4, column 28"
        ]  # fmt: skip
        assert describe("mnist").features == 784

    def test_some_pixels(self):
        data, whole = load_dataset("mnist", pixels=[154, 153, 655]), load_dataset("mnist")
        assert list(data.frame.columns) == ["row 6, column 15", "row 6, column 14", "row 24, column 12"]
        np.testing.assert_array_equal(data.frame["row 6, column 15"], whole.images.reshape(-1, 784)[:, 154])
        assert (data.info.columns, data.info.features) == (3, 3)
        with raises(ParameterError, "not_supported", name="images", value="mnist"):
            _ = data.images

    @pytest.mark.parametrize(
        ("options", "code", "fields"),
        [
            ({"patch_size": 3}, "out_of_range", {"name": "patch_size", "value": 3, "shape": (28, 28)}),
            ({"patch_size": 2.0}, "out_of_range", {"name": "patch_size", "value": 2.0}),
            ({"pixels": [784]}, "out_of_range", {"name": "pixels", "value": 784, "low": 0, "high": 783}),
            ({"pixels": [1, 1]}, "duplicate_name", {"name": "pixels"}),
            ({"pixels": []}, "required", {"name": "pixels"}),
            ({"pixels": [1], "patch_size": 2}, "conflicting_settings", {"name": "pixels"}),
            (
                {"pixel": [1]},
                "unknown_name",
                {"name": "pixel", "choices": ["patch_size", "pixels"], "nearest": "pixels"},
            ),
        ],
    )
    def test_options_that_cannot_be(self, options, code, fields):
        with raises(ParameterError, code, **fields):
            load_dataset("mnist", **options)

    def test_a_changed_pixel(self, real, home):
        (home / "mnist").mkdir(parents=True)
        for path in (real / "mnist").iterdir():
            (home / "mnist" / path.name).write_bytes(path.read_bytes())
        path = home / "mnist/t10k-labels-idx1-ubyte.gz"
        content = bytearray(gzip.decompress(path.read_bytes()))
        content[100] ^= 1
        path.write_bytes(gzip.compress(bytes(content)))
        with raises(DatasetDamaged, "damaged_file", expected=sets_module("images").PIXELS_SHA256):
            load_dataset("mnist")
        path.write_bytes(path.read_bytes()[:-50])
        with raises(DatasetDamaged, "unreadable_file", path=str(path)):
            load_dataset("mnist")


# CIFAR-10


@needs("cifar10/cifar10.npz")
def test_cifar10(real):
    data = load_dataset("cifar10", patch_size=4)
    with np.load(real / "cifar10/cifar10.npz") as file:
        np.testing.assert_array_equal(data.images[50_003], file["x_test"][3])
    assert data.info.features == 64
    assert data.target.value_counts().to_dict() == dict.fromkeys(describe("cifar10").classes, 6000)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("miniboone", "miniboone/miniboone_subset.csv.gz"),
        ("nhanes", "nhanes/nhanes_diabetes.csv.gz"),
        ("physionet2012", "physionet2012/physionet2012_first.csv.gz"),
        ("heart", "heart/processed.cleveland.data"),
        ("diabetes130", "diabetes130/diabetic_data.csv"),
        ("cifar10", "cifar10/cifar10.npz"),
        ("mnist", "mnist/mnist.npz"),
    ],
)
def test_a_damaged_file_is_named(name, file, home):
    (home / file).parent.mkdir(parents=True)
    (home / file).write_bytes(b"1,2,3\n")
    with pytest.raises(DatasetDamaged) as caught:
        load_dataset(name)
    assert caught.value.fields["path"] == str(home / file)
    assert str(home / file) in str(caught.value)
    assert caught.value.code in ("damaged_file", "unreadable_file")
