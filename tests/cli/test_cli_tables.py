import gzip
import unicodedata

import numpy as np
import pandas as pd
import pytest

from askless import load
from askless.cli.parser import UsageError
from askless.cli.tables import as_category, open_table
from askless.encoding.cells import key
from askless.exceptions import TableError
from tests.cli.cli_helpers import refused
from tests.coded import raises


def written(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_found(tmp_path, separator):
    path = written(tmp_path, f'"a, b"{separator} c \n1{separator} x\n2{separator}"y;z,"\n')
    table = open_table(path)
    assert table.names == ["a, b", "c"]
    assert table.read().to_dict("list") == {"a, b": [1, 2], "c": ["x", "y;z,"]}


def test_byte_order_mark_gzip_and_row_numbers(tmp_path):
    content = "\ufeff,a,b\n0,1,x\n1,2,y\n".encode()
    for path in (written(tmp_path, content), written(tmp_path, gzip.compress(content), "t.csv.gz")):
        assert open_table(path).read().to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
        chunks = list(open_table(path).chunks(1, {"b"}))
        assert [(chunk.start, chunk.frame["b"].tolist()) for chunk in chunks] == [(0, ["x"]), (1, ["y"])]
        assert chunks[-1].read == 1.0


def test_decimal_commas_beside_words_are_points(tmp_path):
    path = written(tmp_path, "a;b;c\n4,7;x, y;true\nunknown;1,5;\n-0,5 ;z;false\n")
    for text in ((), ("a", "b")):
        frame = open_table(path).read(text=text)
        assert [cell.strip() for cell in frame["a"]] == ["4.7", "unknown", "-0.5"]
        assert frame["b"].tolist() == ["x, y", "1.5", "z"]
    assert frame["c"].dropna().tolist() == [True, False]
    chunks = open_table(path).chunks(2, {"a"}, {"a"})
    assert [chunk.frame["a"].str.strip().tolist() for chunk in chunks] == [["4.7", "unknown"], ["-0.5"]]
    lone = written(tmp_path, 'a,b\n"4,7",x\n')
    assert open_table(lone).read()["a"].tolist() == ["4,7"]  # commas separate: it may be two numbers


def test_missing_values_are_the_encoders(tmp_path):
    frame = open_table(written(tmp_path, "a,b\nNA,None\n?,x\n3,\n")).read()
    assert frame["a"].isna().tolist() == [True, True, False]
    assert frame["b"].isna().tolist() == [False, False, True]  # "None" may be a category


def test_other_words_can_stand_for_missing_values(tmp_path):
    path = written(tmp_path, "a,b\n-999,unknown\n2,x\n?,y\n")
    frame = open_table(path, ["unknown", "-999"]).read()
    assert frame["a"].isna().tolist() == [True, False, True]
    assert frame["a"].dtype == float
    assert frame["b"].isna().tolist() == [True, False, False]
    chunks = open_table(path, ["unknown", "-999"]).chunks(1, {"a"}, {"a"})
    assert [pd.isna(chunk.frame["a"].iloc[0]) for chunk in chunks] == [True, False, True]
    with raises(UsageError, "not_supported", option="--na", path="t.parquet"):
        open_table("t.parquet", ["unknown"])


def test_the_commands_take_words_for_missing_values(run, tmp_path):
    lines = [
        f"{'unknown' if i == 3 else i % 40},{'-' if i == 5 else 'fm'[i % 2]},{'ab'[i % 40 > 20]}" for i in range(80)
    ]
    path = written(tmp_path, "\n".join(["age,sex,y", *lines]))
    model = tmp_path / "m.askless"
    settings = [
        "--target",
        "y",
        "-o",
        model,
        "--method",
        "greedy",
        "--set",
        "epochs=1",
        "pretrain_epochs=1",
        "polish=false",
    ]
    assert "'unknown' is not a number" in run("fit", path, *settings).complaint
    run("fit", path, *settings, "--na", "unknown", "-")
    assert load(model).schema_.features[1].choices == ("f", "m")
    told = run("predict", model, path).out.splitlines()  # the model keeps the words
    assert len(told) == 81
    assert "80 rows" in run("evaluate", model, path).out
    lines[7] = "-999,f,a"  # a number like any other, unless it is said to be none
    path = written(tmp_path, "\n".join(["age,sex,y", *lines]))
    assert (
        run("predict", model, path, "--na", "-999").out.splitlines()[8]
        != run("predict", model, path).out.splitlines()[8]
    )


def test_a_model_keeps_what_stands_for_missing_numbers(run, tmp_path):
    lines = [f"{-999 if i == 3 else i % 40},{'ab'[i % 40 > 20]}" for i in range(80)]
    path = written(tmp_path, "\n".join(["age,y", *lines]))
    model = tmp_path / "m.askless"
    method = ["--method", "greedy", "--set", "epochs=1", "pretrain_epochs=1", "polish=false"]
    run("fit", path, "--target", "y", "-o", model, *method, "--na", "-999")
    assert load(model).schema_.names == ("age",)  # the words are no parameter of an estimator
    lines = run("predict", model, path).out.splitlines()
    asked = [line.split(",") for line in lines]
    assert asked[4] != asked[5]
    assert "nothing left to ask" in lines[4]
    assert "nothing left to ask" not in lines[5]


def test_text_stays_text_in_every_chunk(tmp_path):
    path = written(tmp_path, "code,n\n007,1\n8,\n3+,x\n,4\n")
    chunks = [chunk.frame for chunk in open_table(path).chunks(1, {"code", "n"}, {"code"})]
    assert [frame["code"].iloc[0] for frame in chunks[:3]] == ["007", "8", "3+"]
    assert pd.isna(chunks[3]["code"].iloc[0])


@pytest.mark.parametrize(
    ("content", "code", "shown"),
    [
        ("", "unreadable_file", "is empty"),
        ("\n", "unreadable_file", "is empty"),
        ("a,b\n1,2\n1,2,3\n", "unreadable_file", "line 3"),
        ("a,b\n1,2,3\n1,2,3\n", "unreadable_file", "header"),
        ('a,b\n1,"2\n', "unreadable_file", "EOF inside string"),
        ("a,a,b\n1,2,3\n", "duplicate_name", "same name: 'a'"),
        ("a,b\nä,1\n".encode("latin-1"), "unreadable_file", "UTF-8"),
        (b"\x00\xff\xfe\x01", "unreadable_file", "UTF-8"),
        (b"sep=;\na;b\n1;2\n", "unreadable_file", "begins with 'sep='"),
        (
            "Umfrage 2024 – Leben\na;b;c\n1;2;x\n",
            "unreadable_file",
            "line 1 ('Umfrage 2024 – Leben') looks like a title; the column ",
        ),
        ("Umfrage 2024;;\na b;b c;c d\n1;2;x\n", "unreadable_file", "in line 2: delete the line above it"),
        (
            "Umfrage 2024;;\n\nStand;Mai;;\nid;2019;2020;a;b\n1,5;2;3,5;x;y\n",
            "unreadable_file",
            "line 4: delete the lines above it",
        ),
        (";;;;\na;b;c;d;e\n1;2;3;4;5\n", "unreadable_file", "line 1 is empty; the column names seem to be in line 2"),
        ("\na,b\n1,2\n", "unreadable_file", "line 1 is empty; the column names seem to be in line 2"),
        ("Study 7\na\tb\n1\t2\n", "unreadable_file", "('Study 7') looks like a title"),
        ("a b c\n1,5 2,5 x\n1,5 2,5 y\n", "unreadable_file", "separated by ' '"),
        (";;;;\n;;;;\n", "unreadable_file", "is empty"),
    ],
)
def test_what_is_not_a_table(tmp_path, content, code, shown):
    path = written(tmp_path, content)
    with raises(TableError, code, path=path) as error:
        open_table(path).read()
    assert path in str(error.value)
    assert shown in str(error.value)
    with raises(TableError, code, path=path):
        list(open_table(path).chunks(10, {"a", "b"}))


def test_files_of_other_kinds(tmp_path):
    with raises(TableError, "wrong_file", path="data.xlsx"):
        open_table("data.xlsx")
    path = written(tmp_path, b"not gzip", "t.csv.gz")
    with raises(TableError, "damaged_file", path=path):
        open_table(path).read()
    with pytest.raises(TableError) as caught:
        open_table(written(tmp_path, b"not parquet", "t.parquet")).read()
    assert "t.parquet" in str(caught.value)


def test_parquet_without_the_index(tmp_path):
    pytest.importorskip("pyarrow")
    path = str(tmp_path / "t.parquet")
    frame = pd.DataFrame({"a": [1, None, 3], "b": pd.Categorical(["x", "y", None])}, index=[5, 6, 7])
    frame.to_parquet(path)
    table = open_table(path)
    assert table.names == ["a", "b"]
    assert table.read()["a"].isna().tolist() == [False, True, False]
    assert [len(chunk.frame) for chunk in table.chunks(2, {"b"})] == [2, 1]
    frame.iloc[:0].to_parquet(path)
    assert [len(chunk.frame) for chunk in open_table(path).chunks(2, {"b"})] == [0]


def test_categories_are_sorted_as_numbers_where_they_are_some():
    assert as_category(pd.Series(["10", "2", None])).cat.categories.tolist() == [2, 10]
    assert as_category(pd.Series(["10", "2", "3+"])).cat.categories.tolist() == ["10", "2", "3+"]
    assert as_category(pd.Series(["01", "2"])).cat.categories.tolist() == ["01", "2"]
    assert as_category(pd.Series(np.array([3, -1]))).cat.categories.tolist() == [-1, 3]


def test_accents_may_be_characters_of_their_own(tmp_path):
    """As file systems and programs of Apple write them."""
    path = tmp_path / "t.csv"
    path.write_text(unicodedata.normalize("NFD", "größe,farbe\n1,grün\n2,gruen\n"), encoding="utf-8")
    assert open_table(str(path)).names != ["größe", "farbe"]
    table = open_table(str(path), names=["größe", "farbe"])
    assert table.names == ["größe", "farbe"]
    assert key(table.read()["farbe"][0]) == "grün"


def test_points_that_seem_to_separate_thousands_are_refused(tmp_path):
    for separator in (";", ",", "\t"):
        rows = [f"{cell}{separator}{i}" for i, cell in enumerate(["850", "1.250", "12.547", "", "7"])]
        table = open_table(written(tmp_path, "\n".join([f"amount{separator}b", *rows])))
        for learned in ((), ("b",)):
            with raises(TableError, "bad_cell", column="amount", value="1.250"):
                table.read(learned=learned)
        assert table.read(learned=["amount"])["amount"].astype(float).tolist()[:2] == [850, 1.25]
        assert next(table.chunks(2, {"amount"})).frame["amount"].astype(float).tolist() == [850, 1.25]
        assert len(table.read(["b"])) == 5
        assert len(table.read(text=["amount"])) == 5


@pytest.mark.parametrize(
    "cells",
    [
        ["850.000", "1.250", "12.547"],
        ["850", "1.25", "12.547", "7"],
        ["0", "1.250", "1.500"],
        ["5", "81.301", "9", "77.125"],
    ],
)
def test_decimals_with_three_digits_are_read(tmp_path, cells):
    table = open_table(written(tmp_path, "\n".join(["x,y", *(f"{cell},1" for cell in cells)])))
    assert table.read()["x"].tolist() == [float(cell) for cell in cells]


def test_a_few_rows_are_read_as_training_has_learned_them(run, tmp_path):
    rng = np.random.default_rng(0)
    x = [str(round(each, 3)) if i % 2 else str(int(each)) for i, each in enumerate(rng.uniform(1, 99, 120))]
    y = [str(round(2 * float(cell), 3)) for cell in x]
    path = written(tmp_path, "\n".join(["x,y", *map(",".join, zip(x, y, strict=True))]))
    model = tmp_path / "m.askless"
    assert run("fit", path, "--target", "y", "-o", model, "--method", "fixed_order").code == 0
    few = written(tmp_path, "x,y\n5,10\n81.300,162.602\n9,18\n77.125,154.25\n", "few.csv")
    for command in ("predict", "evaluate"):
        result = run(command, model, few)
        assert result.code == 0, result.err


def test_many_points_without_a_zero_at_the_end_are_refused(tmp_path):
    cells = [f"{i}.{100 + i}" for i in range(1, 10)]
    table = open_table(written(tmp_path, "\n".join(["x,y", *(f"{cell},1" for cell in ["850", "7", *cells])])))
    assert table.read()["x"].tolist()[2] == 1.101
    table = open_table(
        written(tmp_path, "\n".join(["x,y", *(f"{cell},1" for cell in ["850", "7", *cells, "12.345"])]))
    )
    with raises(TableError, "bad_cell", column="x", value="1.101") as caught:
        table.read()
    assert "seems to separate thousands" in str(caught.value)


def test_neither_names_nor_words_for_missing_values_tell_how_numbers_are_written(tmp_path):
    cells = ["850", "1.250", "9999", "12.547", "7"]
    table = open_table(written(tmp_path, "\n".join(["2020,y", *(f"{cell},1" for cell in cells)])), ["9999"])
    with raises(TableError, "bad_cell", column="2020", value="1.250"):
        table.read()
    assert open_table(written(tmp_path, "007,y\n1,2\n0999,3\n"), ["0999"]).padded(["007", "y"]) == {}


def test_a_table_of_one_column_has_no_title(tmp_path):
    assert open_table(written(tmp_path, "age\n4\n5\n")).names == ["age"]
    assert open_table(written(tmp_path, "age\nyes, very\nno\n"), names=["age"]).names == ["age"]
    with raises(TableError, "unreadable_file"):
        open_table(written(tmp_path, "age\n4,5\n5,5\n")).read()


def test_every_command_refuses_a_title(table, model, tmp_path):
    titled = written(tmp_path, "Survey 2024\n" + table.read_text(), "titled.csv")
    for words in (
        ("fit", titled, "--target", "ill", "-o", tmp_path / "m.askless"),
        ("predict", model, titled),
        ("evaluate", model, titled, "--target", "ill"),
    ):
        refused("unreadable_file", *words, path=titled, line=2)
