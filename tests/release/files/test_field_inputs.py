"""Files as people have them: small ones in the forms that real tools write, and what comes of them.

Those in field_inputs/ were collected; of each kind there are more here, written as the tool that is
named writes them. What a hint proposes is then done, and helps.
"""

import decimal
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from private_ensembles.command.main import main
from private_ensembles.release.files.votes_reader import read_own_votes

HERE = Path(__file__).parent / "field_inputs"
FIVE = {"n_classes": 5, "teachers": 25}


def read(name, **stated):
    return read_own_votes(HERE / name, **stated)


def said(path, **stated):
    """What a file is refused with, in a line."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_own_votes(path, **stated)
    text = str(caught.value)
    assert "\n" not in text
    return text.removeprefix(f"{path}: ")


# Identifiers, strangers and names ----------------------------------------------------------------


def test_plain():
    found = read("plain.csv", **FIVE)
    assert (found.n_queries, found.n_teachers, found.ids[0]) == (12, 25, "q00")


def test_with_prediction():
    unstated = said(HERE / "with_prediction.csv", n_classes=5)
    assert "the file has id, site00 ... site24, prediction: say n_teachers=NUMBER" in unstated
    stranger = said(HERE / "with_prediction.csv", **FIVE)
    assert stranger.endswith(
        "n_teachers = 25: if 'prediction' is none say ignore_columns=prediction"
    )
    found = read("with_prediction.csv", **FIVE, ignore_columns="prediction")
    assert np.array_equal(found.votes, read("plain.csv", **FIVE).votes)
    found = read("with_prediction.csv", **FIVE, truth_column="prediction")
    assert found.n_teachers == 25
    assert (found.labels >= 0).all()


def test_id_image():
    assert "say id_column=image" in said(HERE / "id_image.csv", n_classes=3, teachers=4)
    wrong = said(HERE / "id_image.csv", n_classes=3, teachers=5)
    assert wrong == (
        "line 2, column 'image': 'x.png' is not a whole number: if they are no votes say "
        "id_column=image or ignore_columns=image"
    )
    found = read("id_image.csv", n_classes=3, teachers=4, id_column="image")
    assert (found.ids, found.votes.tolist()) == (("x.png", "y.png"), [[0, 1, 2, 2], [1, 1, 1, 0]])


PLAIN = pd.DataFrame([[0, 1, 2, 2], [1, 1, 1, 0]], columns=["anna", "ben", "cleo", "dan"])
FOUR = {"n_classes": 3, "teachers": 4}


@pytest.mark.parametrize(
    ("frame", "options", "say"),
    [
        # An index that was written twice, and one that has a name.
        (PLAIN.assign(**{"Unnamed: 0": [0, 1]}), {"index": False}, "ignore_columns='Unnamed: 0'"),
        (PLAIN.assign(fold=[0, 1], y_true=[0, 1]), {"index": False}, None),
        (PLAIN.assign(majority=[2, 1]), {"index": True}, "ignore_columns=majority"),
        (
            PLAIN.set_index(pd.Index([7, 9], name="patient_id")),
            {"index": True},
            "id_column=patient_id",
        ),
        (PLAIN.assign(gold=["0", "1"]), {"index": False, "sep": ";"}, "truth_column=gold"),
        (PLAIN.assign(ensemble_mode=[2, 1]), {"index": False, "sep": "\t"}, "ignore_columns=ensem"),
    ],
)
def test_columns_that_pandas_users_have_beside_the_votes(tmp_path, frame, options, say):
    frame.to_csv(tmp_path / "v.csv", **options)
    text = said(tmp_path / "v.csv", **FOUR)
    assert say is None or say in text
    given = dict(word.split("=") for word in shlex.split(text.rpartition(" say ")[2]))
    found = read_own_votes(tmp_path / "v.csv", **FOUR, **given)
    assert found.votes.tolist() == PLAIN.to_numpy().tolist()


@pytest.mark.parametrize(
    ("name", "ids", "say"),
    [
        ("path", ["x/1.dcm", "x/2.dcm"], "if 'path' is none say id_column=path"),
        ("date", ["2026-01-02", "2026-01-03"], "say which are none with id_column=NAME"),
        ("uuid", ["9a", "8b"], "say which are none with id_column=NAME"),
        ("text", ["a, b", 'so-called "c"'], "say which are none with id_column=NAME"),
        ("scan", ["1e5", "2e5"], "say which are none with id_column=NAME"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_columns_of_identifiers(tmp_path, name, ids, say, first):
    frame = PLAIN.assign(**{name: ids})
    frame = frame[[name, *PLAIN.columns]] if first else frame
    for path in (tmp_path / "v.csv", tmp_path / "v.parquet"):
        frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
        assert say in said(path, **FOUR)
        found = read_own_votes(path, **FOUR, id_column=name)
        assert (found.ids, found.votes.tolist()) == (tuple(ids), PLAIN.to_numpy().tolist())


# One vote a line ---------------------------------------------------------------------------------


def test_crowd_long():
    stated = {"class_names": "cat,dog", "teachers": 2}
    proposed = said(HERE / "crowd_long.csv", **stated)
    assert proposed.endswith("say long_columns=task,worker,label")
    found = read("crowd_long.csv", **stated, long_columns="task,worker,label")
    assert (found.ids, found.votes.tolist()) == (("t1", "t2"), [[0, 1], [1, 1]])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("columns", "more"),
    [
        ("task,worker,label", {}),  # crowd-kit
        ("id,annotator,choice", {"lead_time": 1.5, "created_at": "2026-11-28"}),  # Label Studio
        ("HITId,WorkerId,answer", {"AcceptTime": "now"}),  # Mechanical Turk
        ("query,variable,value", {}),  # pandas.melt
    ],
)
def test_one_vote_a_line_as_tools_export_it(tmp_path, suffix, columns, more):
    task, worker, label = columns.split(",")
    wide = pd.DataFrame({"q": ["a", "b"], "w1": ["cat", "dog"], "w2": ["dog", "dog"]})
    long = wide.melt(id_vars="q").set_axis([task, worker, label], axis=1).assign(**more)
    path = tmp_path / f"v{suffix}"
    long.to_csv(path, index=False) if suffix == ".csv" else long.to_parquet(path)
    stated = {"class_names": "cat,dog", "teachers": 2}
    assert said(path, **stated).endswith(f"say long_columns={columns}")
    found = read_own_votes(path, **stated, long_columns=columns)
    assert (found.ids, found.votes.tolist()) == (("a", "b"), [[0, 1], [1, 1]])


# What a class and an absent ballot are called -----------------------------------------------------


def test_pm1_votes():
    hint = said(HERE / "pm1_votes.csv", n_classes=2, teachers=40)
    assert hint.endswith("if -1 is a class say class_names=-1,1")
    found = read("pm1_votes.csv", class_names="-1,1", teachers=40)
    assert set(found.histogram()[:, 0]) == {0, 40}


def test_snorkel08():
    stated = {"n_classes": 3, "teachers": 40}
    assert "absent_as=0 and first_class=1" in said(HERE / "snorkel08.csv", **stated)
    found = read("snorkel08.csv", **stated, first_class=1, absent=True, absent_as="0")
    assert found.histogram().argmax(axis=1)[:3].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("cells", "stated", "votes"),
    [
        (
            [["-1", "1"], ["1", "1"], ["-1", "-1"]],
            {"class_names": "-1,1"},
            [[0, 1], [1, 1], [0, 0]],
        ),
        ([["-1.0", "1.0"], ["1.0", "1.0"], ["1.0", "1.0"]], {"class_names": "-1,1"}, [[0, 1]]),
        ([["-1", "0"], ["1", "0"], ["0", "0"]], {"class_names": "-1,0,1"}, [[0, 1], [2, 1]]),
        ([["10", "20"], ["20", "20"], ["30", "10"]], {"class_names": "10,20,30"}, [[0, 1], [1, 1]]),
        # Snorkel: -1 abstains, since 0.9.
        ([["-1", "1"], ["0", "1"], ["-1", "-1"]], {"n_classes": 2, "absent": True}, [[-1, 1]]),
        ([["99", "1"], ["0", "1"]], {"n_classes": 2, "absent": True, "absent_as": "99"}, [[-1, 1]]),
        ([["?", "1"], ["0", "1"]], {"n_classes": 2, "absent": True, "absent_as": "?"}, [[-1, 1]]),
        (
            [[".", "no"], ["yes", "no"]],
            {"class_names": "no,yes", "absent": True, "absent_as": "."},
            [[-1, 0]],
        ),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npy"])
def test_classes_and_absent_ballots_by_any_name(tmp_path, suffix, cells, stated, votes):
    path = tmp_path / f"v{suffix}"
    frame = pd.DataFrame(cells, columns=["anna", "ben"])
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(path)
    else:
        np.save(path, np.array(cells))
    found = read_own_votes(path, teachers=2, kind="votes", **stated)
    assert found.votes[: len(votes)].tolist() == votes


def test_r_factor_words():
    stated = {"class_names": "cat,dog", "teachers": 3}
    hint = said(HERE / "r_factor_words.csv", **stated)
    assert hint == "line 2, column 'cleo': 'NA' is no vote: if ballots may be absent say absent=yes"
    found = read("r_factor_words.csv", **stated, absent=True)
    assert (found.votes.tolist(), found.ids) == ([[0, 1, -1], [1, 1, 0]], ("1", "2"))


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        # R: write.csv(votes, row.names = FALSE), write.csv2, write.table(sep = "\t", quote = FALSE)
        ('"anna","ben"\n0,NA\n1,1\n', {"n_classes": 3}),
        ('"";"anna";"ben"\n"1";"cat";NA\n"2";"dog";"dog"\n', {"class_names": "cat,dog"}),
        ("anna\tben\n0\tNA\n1\t1\n", {"n_classes": 3}),
        ("anna,ben\nTRUE,NA\nFALSE,FALSE\n", {"class_names": "TRUE,FALSE,maybe"}),
        # pandas: whole numbers became floats, as some are missing; polars; a database.
        ("anna,ben\n0.0,\n1.0,1.0\n", {"n_classes": 3}),
        ("anna,ben\n0,null\n1,1\n", {"n_classes": 3}),
        ("anna,ben\n0,NULL\n1,1\n", {"n_classes": 3}),
        ("anna,ben\n0,NaN\n1,1\n", {"n_classes": 3}),
        ("anna,ben\n0,<NA>\n1,1\n", {"n_classes": 3}),
    ],
)
def test_what_is_missing_is_an_absent_ballot_as_tools_write_it(tmp_path, text, stated):
    (tmp_path / "v.csv").write_text(text)
    assert said(tmp_path / "v.csv", teachers=2, **stated).endswith(
        "ballots may be absent say absent=yes"
    )
    found = read_own_votes(tmp_path / "v.csv", teachers=2, absent=True, **stated)
    assert found.votes.tolist() == [[0, -1], [1, 1]]


# How numbers are written --------------------------------------------------------------------------


def test_nan_absent():
    stated = {"n_classes": 3, "teachers": 5}
    assert said(HERE / "nan_absent.npy", **stated).endswith("ballots may be absent say absent=yes")
    found = read("nan_absent.npy", **stated, absent=True)
    assert found.votes.tolist() == [[0, 1, -1, 2, 1], [2, 2, 1, -1, 2]]


@pytest.mark.parametrize("kind", ["f4", "f2", ">f8"])
@pytest.mark.parametrize(
    "write",
    [
        np.save,
        lambda path, array: np.save(path, array.T),
        lambda path, array: np.save(path, np.asfortranarray(array)),
        lambda path, array: np.savez_compressed(path.with_suffix(".npz"), votes=array),
    ],
)
def test_nan_is_an_absent_ballot_in_any_type_of_array(tmp_path, write, kind):
    votes = np.array([[0, 1, np.nan, 2, 1], [2, 2, 1, np.nan, 2]], kind)
    write(tmp_path / "v.npy", votes)
    (path,) = tmp_path.iterdir()
    stated = {"n_classes": 3, "teachers": 5}
    assert said(path, **stated).endswith("ballots may be absent say absent=yes")
    found = read_own_votes(path, **stated, absent=True)
    assert found.votes.tolist() == [[0, 1, -1, 2, 1], [2, 2, 1, -1, 2]]


def test_savetxt_c():
    found = read("savetxt_c.csv", n_classes=3, teachers=5)
    assert found.votes.tolist() == [[0, 1, 2, 2, 1], [1, 1, 1, 0, 0]]


@pytest.mark.parametrize("form", ["%.18e", "%.1f", "%d", "%g", "%5d"])
@pytest.mark.parametrize(
    "options", [{}, {"delimiter": ","}, {"delimiter": ";"}, {"delimiter": "\t"}]
)
def test_numbers_as_savetxt_writes_them(tmp_path, form, options):
    np.savetxt(tmp_path / "v.csv", PLAIN.to_numpy(), fmt=form, **options)
    found = read_own_votes(tmp_path / "v.csv", **FOUR)
    assert found.votes.tolist() == PLAIN.to_numpy().tolist()


def test_excel_sep():
    found = read("excel_sep.csv", n_classes=3, teachers=4)
    assert (found.ids, found.votes.tolist()) == (("a", "b"), [[0, 1, 2, 2], [1, 1, 1, 0]])


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\r\nid;anna;ben;cleo;dan\r\na;0;1;2;2\r\nb;1;1;1;0\r\n",
        "\ufeffsep=,\r\nid,anna,ben,cleo,dan\r\na,0,1,2,2\r\nb,1,1,1,0\r\n",
        "sep=\t\nid\tanna\tben\tcleo\tdan\na\t0\t1\t2\t2\nb\t1\t1\t1\t0\n",
        '"sep=;"\nid;anna;ben;cleo;dan\na;0;1;2;2\nb;1;1;1;0\n',
        # A decimal comma, as in most of Europe, and quoted beside commas.
        "id;anna;ben;cleo;dan\na;0,0;1,0;2,0;2,00\nb;1;1;1;0\n",
        'id,anna,ben,cleo,dan\na,"0,0","1,0","2,0","2,0"\nb,1,1,1,0\n',
    ],
)
def test_what_spreadsheets_write(tmp_path, text):
    (tmp_path / "v.csv").write_text(text, encoding="utf-8", newline="")
    found = read_own_votes(tmp_path / "v.csv", **FOUR)
    assert (found.ids, found.votes.tolist()) == (("a", "b"), PLAIN.to_numpy().tolist())


def test_bool_votes():
    found = read("bool_votes.parquet", n_classes=2, teachers=4)
    assert found.histogram().tolist() == [[1, 3], [1, 3]]


@pytest.mark.parametrize(
    "write",
    [
        lambda path, frame: frame.to_csv(path / "v.csv", index=False),
        lambda path, frame: frame.astype("boolean").to_parquet(path / "v.parquet"),
        lambda path, frame: np.savetxt(path / "v.csv", frame, fmt="%s", delimiter=","),
        lambda path, frame: (path / "v.csv").write_text("a b\nTRUE FALSE\nFALSE FALSE\n"),  # R
    ],
)
def test_true_and_false_are_classes_1_and_0(tmp_path, write):
    write(tmp_path, pd.DataFrame({"anna": [True, False], "ben": [False, False]}))
    (path,) = tmp_path.iterdir()
    found = read_own_votes(path, n_classes=2, teachers=2, kind="votes")
    assert found.votes.tolist() == [[1, 0], [0, 0]]


def _arrow(kind, cells):
    import pyarrow

    return pyarrow.array(cells).cast(kind) if kind else pyarrow.array(cells)


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (None, [True, False, None]),
        ("string_view", ["1", "0", None]),  # polars
        ("large_string", ["1", "0", None]),
        ("binary", [b"1", b"0", None]),  # Spark, Impala
        ("dictionary<values=string, indices=int32>", ["1", "0", None]),
        ("uint8", [1, 0, None]),
        ("float", [1.0, 0.0, float("nan")]),
        ("halffloat", [1.0, 0.0, None]),
        (None, [decimal.Decimal("1.00"), decimal.Decimal("0.00"), None]),  # DuckDB, Postgres
        (None, ["true", "false", ""]),
    ],
)
def test_types_of_parquet_as_databases_write_them(tmp_path, kind, cells):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    if kind and kind.startswith("dictionary"):
        column = pyarrow.array(cells).dictionary_encode()
    else:
        column = _arrow(
            kind
            and getattr(pyarrow, {"float": "float32", "halffloat": "float16"}.get(kind, kind))(),
            cells,
        )
    parquet.write_table(pyarrow.table(dict.fromkeys("abcd", column)), tmp_path / "v.parquet")
    stated = {"n_classes": 2, "teachers": 4}
    found = read_own_votes(tmp_path / "v.parquet", **stated, absent=True)
    assert found.votes.tolist() == [[1] * 4, [0] * 4, [-1] * 4]
    assert "say absent=yes" in said(tmp_path / "v.parquet", **stated)


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int8, np.float32, "U1", "S1", ">i8"])
def test_arrays_of_any_type(tmp_path, kind):
    votes = np.array([[1, 0, 1, 1, 1], [0, 0, 1, 0, 0]])
    np.save(tmp_path / "v.npy", votes.astype(kind))
    np.savez(tmp_path / "v.npz", votes.astype(kind))
    for name in ("v.npy", "v.npz"):
        found = read_own_votes(tmp_path / name, n_classes=2, teachers=5)
        assert found.votes.tolist() == votes.tolist()


# Which axis has the teachers ----------------------------------------------------------------------


def test_teachers_by_queries():
    rows = np.load(HERE / "teachers_by_queries.npy")
    found = read("teachers_by_queries.npy", n_classes=3, teachers=25)
    assert np.array_equal(found.votes, rows.T)
    assert "n_teachers = None: must be" in said(HERE / "teachers_by_queries.npy", n_classes=3)
    refused = said(HERE / "teachers_by_queries.npy", n_classes=3, teachers=24)
    assert refused.startswith("has 25 rows and 100 columns, and n_teachers = 24: must be")


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv"])
def test_the_axis_of_the_teachers_is_found_or_asked_for(tmp_path, suffix):
    votes = np.random.default_rng(0).integers(0, 3, (9, 5))
    path = tmp_path / f"v{suffix}"

    def write(array):
        if suffix == ".csv":
            np.savetxt(path, array, fmt="%d", delimiter=",")
        else:
            np.save(path, array) if suffix == ".npy" else np.savez(path, votes=array)

    for array in (votes, votes.T):
        write(array)
        found = read_own_votes(path, n_classes=3, teachers=5)
        assert found.votes.tolist() == votes.tolist()
    write(votes[:5])
    square = said(path, n_classes=3, teachers=5)
    assert square == "has 5 rows and columns: if every column is a teacher say votes_kind=votes"
    found = read_own_votes(path, n_classes=3, teachers=5, kind="votes")
    assert found.votes.tolist() == votes[:5].tolist()


def test_arr0():
    found = read("arr0.npz", n_classes=2, teachers=5)
    assert found.histogram().tolist() == [[5, 0]] * 30


@pytest.mark.parametrize("name", ["preds", "labels_of_teachers", "x.npy"])
def test_the_only_array_of_an_archive_may_have_any_name(tmp_path, name):
    np.savez(tmp_path / "v.npz", **{name: PLAIN.to_numpy()})
    found = read_own_votes(tmp_path / "v.npz", **FOUR)
    assert found.votes.tolist() == PLAIN.to_numpy().tolist()


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        (((5, 30), (5, 30)), "it has arr_0, arr_1: write it with np.savez(FILE, votes=VOTES)"),
        ((), "it has none"),
    ],
)
def test_arrays_of_which_nothing_says_which_are_the_votes(tmp_path, arrays, says):
    np.savez(tmp_path / "v.npz", *map(np.zeros, arrays))
    assert says in said(tmp_path / "v.npz", n_classes=2, teachers=5)


# The command -------------------------------------------------------------------------------------

REHEARSED = ["--epsilon", "60", "--noise", "reproducible", "--mechanism", "gnmax_analytic"]


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("plain.csv", "--teachers 25 --classes 5", "0,q00,2"),
        ("with_prediction.csv", "--teachers 25 --classes 5 --ignore prediction", "0,q00,2"),
        ("with_prediction.csv", "--teachers 25 --classes 5 --truth prediction", "0,q00,2"),
        ("pm1_votes.csv", "--teachers 40 --class-names=-1,1", "0,1,1"),
        ("snorkel08.csv", "--teachers 40 --classes 3 --absent-as 0 --first-class 1", "0,1"),
        ("teachers_by_queries.npy", "--teachers 25 --classes 3", None),
    ],
)
def test_the_command_takes_what_the_reader_does(
    tmp_path, monkeypatch, capsys, name, words, expected
):
    monkeypatch.chdir(tmp_path)
    command = ["release", str(HERE / name), *words.split(), *REHEARSED]
    if "absent" in words:
        command += ["--absent-share", "0.4"]
    assert main(command) == 0, capsys.readouterr().err
    labels = (tmp_path / "results/own/rehearsal/rehearsal_labels.csv").read_text().splitlines()
    assert expected is None or labels[1] == expected
    assert len(labels) > 10
    if name == "snorkel08.csv":  # as the file counts them, from 1
        assert [line.split(",")[1] for line in labels[1:4]] == ["1", "2", "3"]


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet"])
@pytest.mark.parametrize("epsilon", ["51", "75", "100"])
def test_plain_votes_of_every_format_are_released_beyond_50(tmp_path, monkeypatch, suffix, epsilon):
    monkeypatch.chdir(tmp_path)
    votes, path = read("plain.csv", **FIVE), tmp_path / f"v{suffix}"
    if suffix == ".parquet":
        pd.DataFrame(votes.votes).add_prefix("site").to_parquet(path)
    else:
        np.save(path, votes.votes) if suffix == ".npy" else np.savez(path, votes=votes.votes)
    words = ["--teachers", "25", "--classes", "5", *REHEARSED, "--epsilon", epsilon]
    assert main(["release", str(path), *words]) == 0
    labels = (tmp_path / "results/own/rehearsal/rehearsal_labels.csv").read_text().splitlines()
    released = [int(line.split(",")[1]) for line in labels[1:]]
    assert released == votes.histogram().argmax(axis=1).tolist()


@pytest.mark.parametrize(
    ("name", "words", "says"),
    [
        (
            "plain.csv",
            "--classes 5",
            "--teachers = None: must be the number of teachers; the file has id",
        ),
        (
            "with_prediction.csv",
            "--classes 5 --teachers 25",
            "if 'prediction' is none say --ignore=pre",
        ),
        ("id_image.csv", "--classes 3 --teachers 4", "if 'image' is none say --id=image"),
        ("crowd_long.csv", "--class-names cat,dog --teachers 2", "say --long=task,worker,label"),
        ("pm1_votes.csv", "--classes 2 --teachers 40", "if -1 is a class say --class-names=-1,1"),
        ("snorkel08.csv", "--classes 3 --teachers 40", "say --absent-as=0 and --first-class=1"),
        ("r_factor_words.csv", "--class-names cat,dog --teachers 3", "may be absent say --absent"),
        ("nan_absent.npy", "--classes 3 --teachers 5", "if ballots may be absent say --absent"),
        (
            "teachers_by_queries.npy",
            "--classes 3 --teachers 7",
            "--teachers = 7: must be queries x",
        ),
    ],
)
def test_the_command_s_hints_are_its_options(tmp_path, monkeypatch, capsys, name, words, says):
    monkeypatch.chdir(tmp_path)
    assert main(["release", str(HERE / name), *words.split(), *REHEARSED]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert not re.search(r"\b[a-z]+_(column|columns|class|as)=", error)
