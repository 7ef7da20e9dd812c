"""What people do with files of their own."""

import numpy as np
import pandas as pd
import pytest

from askless.cli.csv_table import CsvTable
from askless.cli.remarks import rare_classes
from askless.model_file import read_model
from tests.cli.cli_helpers import QUICK, refused


def simple(n=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"height": rng.normal(170, 9, n).round(1), "weight": rng.normal(70, 9, n).round(1)})
    return frame.assign(tall=np.where(frame["height"] > 170, "yes", "no"))


def test_no_command_overwrites_its_input(run, table, model):
    before = table.read_bytes()
    fit = ["fit", table, "--target", "ill", "--force", "-o"]
    refused("conflicting_settings", *fit, table, option="-o", path=str(table))
    refused("conflicting_settings", "predict", model, table, "-o", table, option="-o", path=str(table))
    refused("wrong_file", *fit, table.with_name("other.csv"), option="-o")
    assert table.read_bytes() == before


def test_evaluate_knows_the_target_of_the_fit(run, tmp_path):
    data, model = tmp_path / "d.csv", tmp_path / "m.askless"
    simple().to_csv(data, index=False)
    assert run("fit", data, "--target", "tall", "--budget", 1, *QUICK, "-o", model).code == 0
    result = run("evaluate", model, data)
    assert result.code == 0, result.err
    assert "AUROC" in result.out


def test_no_decimal_point_is_asked_for_where_commas_are_for_decimals(run, tmp_path):
    data, model = tmp_path / "d.csv", tmp_path / "m.askless"
    frame = simple().assign(price=[f"{2872 + i},0 €" for i in range(120)])
    frame.to_csv(data, index=False, sep=";", decimal=",")
    complaint = run("fit", data, "--target", "tall", "--budget", 1, *QUICK, "-o", model).complaint
    assert "'2872,0 €' looks like a number with a unit" in complaint
    assert "decimal point" not in complaint
    frame.assign(price=frame["price"].str.removesuffix(" €")).to_csv(data, index=False, sep=";", decimal=",")
    assert run("fit", data, "--target", "tall", "--budget", 1, *QUICK, "-o", model).code == 0


def test_semicolons_come_with_decimal_commas(run, tmp_path):
    data, model = tmp_path / "d.csv", tmp_path / "m.askless"
    simple().to_csv(data, index=False, sep=";", decimal=",")
    assert run("fit", data, "--target", "tall", "--budget", 1, *QUICK, "-o", model).code == 0
    assert [feature.kind for feature in read_model(model).schema.features] == ["number", "number"]


@pytest.mark.parametrize(
    ("column", "value", "called"),
    [
        (pd.date_range("2020-01-01", periods=120).strftime("%Y-%m-%d"), "2020-01-01", "a date"),
        (pd.date_range("2020-01-01", periods=120).strftime("%d.%m.%Y"), "01.01.2020", "a date"),
        ([f"{i},5" for i in range(120)], "0,5", "a number with a decimal comma"),
        ([f"{i + 1},250.5" for i in range(120)], "1,250.5", "thousands"),
        ([f"{i + 1},250" for i in range(120)], "1,250", "thousands"),
        ([f"{i} €" for i in range(120)], "0 €", "a number with a unit"),
        ([f"{i}%" for i in range(120)], "0%", "a number with a unit"),
        ([f"{i}.5 kg" for i in range(120)], "0.5 kg", "a number with a unit"),
        ([f"{i}mg/dl" for i in range(120)], "0mg/dl", "a number with a unit"),
        (pd.date_range("2010-01-01", periods=120, freq="MS").strftime("%m/%Y"), "01/2010", "a month"),
        (
            [["0,5", "1.012,33", "7"][i % 3].replace("0,5", f"{i},5") for i in range(120)],
            "0,5",
            "a number with a decimal comma",
        ),
    ],
)
def test_text_that_is_no_category(column, value, called, tmp_path):
    data = tmp_path / "d.csv"
    simple().assign(when=column).to_csv(data, index=False)
    fit = ["fit", data, "--target", "tall", "-o", tmp_path / "m.askless"]
    message = refused("bad_cell", *fit, path=str(data), column="when", row=0, value=value)
    assert called in message


@pytest.mark.parametrize(
    "words",
    [
        ["5 %", "10 %", "20 %"] * 40,
        ["5mg", "10mg", "20mg"] * 40,
        ["2023-11", "2023-12", "2024-01"] * 40,
        [f"{i}{'ABCD'[i % 4]}" for i in range(120)],  # codes
    ],
)
def test_what_only_looks_like_a_number_is_a_category(words, run, tmp_path):
    data, model = tmp_path / "d.csv", tmp_path / "m.askless"
    simple().assign(rebate=words).to_csv(data, index=False)
    assert run("fit", data, "--target", "tall", "--budget", 1, *QUICK, "-o", model).code == 0
    assert read_model(model).schema.features[-1].kind == "category"


def test_points_beside_decimal_commas_are_not_guessed(run, tmp_path):
    """4.647 is 4647 in one country and less than 5 in another."""
    data = tmp_path / "d.csv"
    frame = simple().assign(income=["735", "4.647", "10.029"] * 40)
    frame.to_csv(data, index=False, sep=";", decimal=",")
    fit = ["fit", data, "--target", "tall", "--budget", 1, *QUICK, "-o", tmp_path / "m.askless"]
    message = refused("bad_cell", *fit, column="income", value="4.647", path=str(data))
    assert "decimal comma" in message
    assert run(*fit, "--category", "income").code == 0
    assert run(*fit, "--force", "--drop", "income").code == 0
    frame.to_csv(data, index=False, sep=";", decimal=".")  # points are for decimals here
    assert run(*fit, "--force").code == 0
    income = next(f for f in read_model(tmp_path / "m.askless").schema.features if f.name == "income")
    assert income.parts[0].high == 735


@pytest.mark.parametrize(
    ("values", "row", "value"),
    [
        ([f"{i + 1}.012,33" for i in range(120)], 0, "1.012,33"),
        (["7.5", "unknown", *map(str, range(118))], 1, "unknown"),
    ],
)
def test_a_target_of_numbers_that_are_not_read(values, row, value, tmp_path):
    data = tmp_path / "d.csv"
    simple().assign(y=values).to_csv(data, index=False)
    fit = ["fit", data, "--target", "y", "-o", tmp_path / "m.askless"]
    message = refused("bad_label", *fit, path=str(data), column="y", row=row, value=value)
    assert "if these are classes, add --task classification" in message


def test_errors_of_fit_name_the_row_of_the_file(run, tmp_path):
    data = tmp_path / "d.csv"
    frame = simple().astype({"height": object})
    frame.loc[[33, 77], "height"] = "tall"
    frame.to_csv(data, index=False)
    words = ["fit", data, "--target", "tall", "-o", tmp_path / "m.askless"]
    fields = {"path": str(data), "column": "height", "row": 33, "value": "tall"}
    message = refused("bad_cell", *words, **fields)
    assert message.startswith(f"{data}: column 'height', row 33 (0-based): 'tall' is not a number")
    assert run(*words).error == "bad_cell"


def test_all_words_of_a_column_that_are_not_numbers_are_told_at_once(run, tmp_path):
    data, model = tmp_path / "d.csv", tmp_path / "m.askless"
    frame = simple().astype({"height": object})
    for i, word in enumerate(["n. b.", "--", "k.A.", "k.A.", "k.A.", "-", "--"]):
        frame.loc[3 * i + 2, "height"] = word
    frame.to_csv(data, index=False)
    fit = ["fit", data, "--target", "tall", "-o", model, "--budget", 1, *QUICK]
    complaint = run(*fit).complaint
    shown = ["column 'height', row 2 ", "'n. b.'", "'k.A.' (3 times)", "'--' (2 times)", "'-' (once)", "113 of 120"]
    assert [words for words in shown if words not in complaint] == []
    assert "(--na 'n. b.' k.A. --na=-- --na=- reads these as missing, --category COL reads a column" in complaint
    assert run(*fit, "--na", "n. b.", "k.A.", "--na=--", "--na=-").code == 0
    frame.loc[[50, 51, 52], "height"] = ["1,70", "y", "y"]
    frame.to_csv(data, index=False)
    complaint = run(*fit, "--force").complaint
    assert "'--' (2 times), 'y' (2 times), '-' (once) and 1 more, but 110 of 120" in complaint
    complaint = run("predict", model, data).complaint
    assert complaint.startswith(f"askless: {data}: column 'height', row 50 ")
    assert "(--na WORD reads a word as missing)" in complaint


def test_an_identifier_is_noticed(run, tmp_path):
    data = tmp_path / "d.csv"
    simple(200).assign(id=[f"case {i}" for i in range(200)]).to_csv(data, index=False)
    result = run("fit", data, "--target", "tall", "--budget", 1, *QUICK, "-o", tmp_path / "m.askless")
    assert result.code == 0, result.err
    assert "identifier" in result.err


@pytest.mark.parametrize(("cut", "lines"), [([3], "1 line ends"), ([3, 7, 50], "3 lines end")])
def test_lines_that_end_too_early_are_a_note(cut, lines, run, tmp_path):
    data = tmp_path / "d.csv"
    table = simple()[["tall", *(name for name in simple() if name != "tall")]]
    rows = table.to_csv(index=False).splitlines()
    for i in cut:
        rows[i] = rows[i].rpartition(",")[0]
    data.write_text("\n".join(rows) + "\n\n")
    fit = ["fit", data, "--target", "tall", "--budget", 1, *QUICK, "-o", tmp_path / "m.askless", "--force"]
    (note,) = run(*fit).notes["short_lines"]
    assert note.startswith(f"{lines} before the last column (the first is line 4)")
    rows[3] += ","  # an empty cell is not a missing one
    data.write_text("\n".join(rows[:7]) + "\n" + "\n".join(rows[8:50]) + "\n" + "\n".join(rows[51:]))
    result = run(*fit)
    assert result.code == 0, result.err
    assert "short_lines" not in result.notes


def test_sodium_is_no_missing_value(run, tmp_path):
    ions = ["Na", "K", "Cl"] * 40
    frame = simple().assign(ion=ions, salt=["Na", "KCl", "NaN"] * 40)
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", tmp_path / "t.csv", "--target", "ion", "-o", tmp_path / "m.askless", *QUICK, "--method", "greedy"]
    result = run(*words)
    assert result.code == 0, result.err
    model = read_model(tmp_path / "m.askless")
    assert model.classes == ("Cl", "K", "Na")
    assert model.schema.features[model.schema.index("salt")].choices == ("KCl", "Na")


def test_a_column_without_a_name_is_a_note(run, tmp_path):
    frame = simple()
    frame.columns = ["height", "", "tall"]
    frame.to_csv(tmp_path / "t.csv")
    result = run("fit", tmp_path / "t.csv", "--target", "tall", "-o", tmp_path / "m.askless", *QUICK)
    (note,) = result.notes["unnamed_column"]
    assert note.startswith("column 3 of ")  # the first column has the row numbers of pandas


def test_a_first_column_without_a_name_is_reported_unless_it_numbers_the_rows(tmp_path):
    for cells, places in ((range(120), []), (range(300, 60, -2), []), (["0.5", "7"] * 60, [1]), ([3] * 120, [1])):
        simple().set_index(pd.Index(cells)).to_csv(tmp_path / "t.csv")
        assert CsvTable(str(tmp_path / "t.csv")).nameless == places


def test_the_row_of_a_bad_cell_is_that_of_the_file(run, tmp_path):
    frame = simple().astype({"height": object})
    frame.loc[:9, "tall"] = None
    frame.loc[29, "height"] = "bad"
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", tmp_path / "t.csv", "--target", "tall", "-o", tmp_path / "m.askless", "--drop-missing-target"]
    assert "column 'height', row 29 " in run(*words).complaint
    frame = simple().assign(height=[None] * 10 + [f"{i}.5" for i in range(19)] + ["9,9 m"] + ["1.5"] * 90)
    frame.to_csv(tmp_path / "t.csv", index=False)
    words[words.index("tall")] = "height"
    refused("bad_label", *words, column="height", row=29, value="9,9 m")


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_many_small_classes_are_scored_on_rows_of_their_own(run, tmp_path):
    frame = simple(40).assign(tall=[f"case {i % 20}" for i in range(40)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = run("fit", tmp_path / "t.csv", "--target", "tall", "-o", tmp_path / "m.askless", *QUICK)
    assert result.code == 0, result.err
    assert "Scores on 8 test rows" in result.out


def test_too_few_rows_leave_nothing_to_score_on(run, tmp_path):
    simple(4).assign(tall=["yes", "no", "yes", "no"]).to_csv(tmp_path / "t.csv", index=False)
    words = ["--target", "tall", "-o", tmp_path / "m.askless", "--test-fraction", 0.1, *QUICK]
    result = run("fit", tmp_path / "t.csv", *words)
    assert result.code == 0, result.err
    assert "no score: there are too few rows" in result.out


@pytest.mark.parametrize(("separator", "named"), [("|", "'|'"), (" ", "' '")])
def test_other_separators_are_named(tmp_path, model, separator, named):
    simple().to_csv(tmp_path / "t.csv", index=False, sep=separator)
    for words in (
        ("fit", tmp_path / "t.csv", "--target", "tall", "-o", tmp_path / "m.askless"),
        ("predict", model, tmp_path / "t.csv", "-o", tmp_path / "o.csv"),
    ):
        assert f"separated by {named}" in refused("unreadable_file", *words, value=separator)


def test_advice_for_sixteen_bits(run, tmp_path):
    simple().to_csv(tmp_path / "t.csv", index=False, encoding="utf-16")
    words = ["fit", tmp_path / "t.csv", "--target", "tall", "-o", tmp_path / "m.askless"]
    assert "iconv -f utf-16" in run(*words).complaint


def test_classes_of_a_few_rows_are_a_note(run, tmp_path):
    frame = simple().astype({"tall": object})
    frame.loc[[3, 50], "tall"] = "giant"
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = run("fit", tmp_path / "t.csv", "--target", "tall", "-o", tmp_path / "m.askless", *QUICK)
    (note,) = result.notes["rare_class"]
    assert "'giant'" in note


def test_classes_of_a_few_rows_are_a_note_if_others_have_more():
    labels = pd.Series(["a"] * 9 + ["b"] * 5 + ["c"] * 4, name="y")
    assert [(code, "'c'" in message, "'b'" in message) for code, message in rare_classes(labels)] == [
        ("rare_class", True, False)
    ]
    assert list(rare_classes(labels[:14])) == []
    assert list(rare_classes(labels[-4:])) == []  # a table of a few rows has other troubles
