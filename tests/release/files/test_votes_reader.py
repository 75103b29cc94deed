"""Own votes: four formats, one result; one clear line for everything that is no vote matrix."""

import gzip
import io as memory
import os
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from private_ensembles.release.files import arrays, tables, votes_reader
from private_ensembles.release.files.votes_reader import read_own_votes

VOTES = np.array([[0, 2, 2, 1], [1, 1, 1, 1], [2, 0, 0, 0]])
COUNTS = np.array([[1, 1, 2], [0, 4, 0], [3, 0, 1]])
LABELS = np.array([2, 1, -1])


def write_csv(path, rows, header=None):
    lines = [",".join(map(str, row)) for row in ([header] if header else []) + [*rows]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def same_votes(tmp_path):
    """The same votes in every accepted form: path, keyword arguments, whether it has labels."""
    np.savez(tmp_path / "v.npz", votes=VOTES, labels=LABELS, n_classes=3)
    np.savez_compressed(tmp_path / "c.npz", counts=COUNTS.astype(np.uint8))
    np.save(tmp_path / "v.npy", VOTES.astype(np.int16))
    np.save(tmp_path / "c.npy", COUNTS)
    write_csv(tmp_path / "v.csv", VOTES)
    write_csv(
        tmp_path / "vh.csv",
        np.column_stack([VOTES, LABELS]),
        ["teacher 0", "Teacher 1", "teacher2", "teacher3", "label"],
    )
    write_csv(
        tmp_path / "ch.csv",
        np.column_stack([LABELS, COUNTS]),
        ["label", "class0", "class1", "class2"],
    )
    return [
        (tmp_path / "v.npz", {}, True),
        (tmp_path / "c.npz", {}, False),
        (tmp_path / "v.npy", {}, False),
        (tmp_path / "c.npy", {"kind": "counts"}, False),
        (tmp_path / "v.csv", {}, False),
        (tmp_path / "vh.csv", {}, True),
        (tmp_path / "ch.csv", {}, True),
    ]


def test_every_form_of_the_same_votes_gives_the_same_counts(same_votes):
    for path, options, labelled in same_votes:
        found = read_own_votes(path, n_classes=3, teachers=4, **options)
        assert found.histogram().tolist() == COUNTS.tolist(), path
        assert list(found.labels) == (list(LABELS) if labelled else [-1, -1, -1]), path
        assert (found.n_classes, found.n_teachers) == (3, 4)


ROWS = "0,2,2,1\n1,1,1,1\n2,0,0,0"
HEADER = "teacher0,teacher1,teacher2,teacher3\n"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (ROWS + "\n\n", {}),  # as editors leave it
        (ROWS + "\n\n  \r\n", {}),
        (ROWS.replace(",", ";"), {}),
        (ROWS.replace(",", "\t"), {}),
        (ROWS.replace(",", "  "), {}),
        ((HEADER + ROWS).replace(",", ";"), {}),
        (ROWS.replace("2", "2.0").replace("1", "1."), {}),
        (ROWS.replace(",", ";").replace("2", "2,0"), {}),
        ("sep=;\n" + ROWS.replace(",", ";"), {}),
        (HEADER + ROWS.replace("2", "2.0"), {}),
        ("\ufeff" + ROWS, {}),
    ],
)
def test_what_editors_and_spreadsheets_write_is_read(tmp_path, text, options):
    (tmp_path / "v.csv").write_text(text, encoding="utf-8", newline="")
    found = read_own_votes(tmp_path / "v.csv", n_classes=3, teachers=4, **options)
    assert found.histogram().tolist() == COUNTS.tolist()


@pytest.mark.parametrize("type_", [np.float16, np.float64, np.uint8, np.uint64, ">i4", "U5", "S3"])
def test_numbers_of_any_type_are_read(tmp_path, type_):
    np.save(tmp_path / "v.npy", VOTES.astype(type_))
    np.savez(tmp_path / "c.npz", counts=COUNTS.astype(type_))
    for found in (
        read_own_votes(tmp_path / "v.npy", n_classes=3, teachers=4),
        read_own_votes(tmp_path / "c.npz", n_classes=3, teachers=4),
    ):
        assert found.histogram().tolist() == COUNTS.tolist()


def test_the_number_of_classes_is_stated_and_not_read_off_the_votes(tmp_path):
    np.save(tmp_path / "v.npy", VOTES)
    with pytest.raises(ValueError, match="n_classes = None: must be an integer >= 2"):
        read_own_votes(tmp_path / "v.npy")
    found = read_own_votes(tmp_path / "v.npy", n_classes=5, teachers=4)
    assert found.histogram().shape == (3, 5)


def _npz(**arrays):
    buffer = memory.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _npy(array, **options):
    buffer = memory.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def _zip_of_pickle():
    buffer = memory.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("votes.npy", _npy(np.array([{}, []], object), allow_pickle=True))
    return buffer.getvalue()


NAN = np.array([[0.0, np.nan], [1, 1], [1, 1]])
BAD = {
    "three dimensions": ("v.npy", _npy(np.zeros((2, 2, 2), int)), {}, "has shape (2, 2, 2)"),
    "one dimension": ("v.npy", _npy(np.zeros(3, int)), {}, "has shape (3,)"),
    "no queries": ("v.npy", _npy(np.zeros((0, 3), int)), {}, "has shape (0, 3)"),
    "NaN": ("v.npy", _npy(NAN), {}, "row 0, column 2: is empty: if ballots may be absent say"),
    "infinity": (
        "v.npz",
        _npz(votes=np.full((3, 2), np.inf)),
        {},
        "column 1: 'inf' is not a whole",
    ),
    "complex numbers": (
        "v.npy",
        _npy(np.ones((3, 2), complex)),
        {},
        "has type complex128: must be",
    ),
    "fractions": (
        "v.npy",
        _npy(np.full((2, 3), 0.5)),
        {"kind": "votes"},
        "row 0, column 1: '0.5' is not a whole number",
    ),
    "text": ("v.npy", _npy(np.array([["a", "b"]])), {}, "'a' is not a whole number: if these are"),
    "negative vote": (
        "v.npy",
        _npy(np.array([[0, 1], [2, -1], [0, 0]])),
        {},
        "row 1, column 2: '-1' is",
    ),
    "vote beyond the classes": (
        "v.npy",
        _npy(VOTES),
        {"n_classes": 2, "teachers": 4},
        "row 0, column 2: '2' is none of the classes 0 to 1",
    ),
    "label out of range": (
        "v.npz",
        _npz(votes=VOTES, labels=np.array([0, 1, 3]), n_classes=3),
        {"teachers": 4},
        "label of row 2 is '3': must be a class, or -1 if unknown",
    ),
    "labels of another length": (
        "v.npz",
        _npz(votes=VOTES, labels=np.array([0, 1])),
        {"teachers": 4},
        "labels has shape (2,)",
    ),
    "pickled array": (
        "v.npy",
        _npy(np.array([{}, []], object), allow_pickle=True),
        {},
        "it holds pickled Python objects, which are never loaded",
    ),
    "pickle": ("v.npy", pickle.dumps([1, 2]), {}, "neither npy nor npz; pickles are never loaded"),
    "pickle called npz": ("v.npz", pickle.dumps([1, 2]), {}, "pickles are never loaded"),
    "long header": (
        "v.npy",
        _npy(np.zeros(1, [(f"f{i}", "i4") for i in range(1000)])),
        {},
        "its header is longer than any array of numbers needs",
    ),
    "pickle in an archive": ("v.npz", _zip_of_pickle(), {}, "not a readable npz file"),
    "archive called npy": ("v.npy", _npz(votes=VOTES), {}, "call it .npz"),
    "nothing known in the archive": (
        "v.npz",
        _npz(arr_0=VOTES, arr_1=LABELS),
        {},
        "exactly one of the arrays votes, counts; it has arr_0, arr_1: write it with np.savez(FILE",
    ),
    "both in the archive": ("v.npz", _npz(votes=VOTES, counts=COUNTS), {}, "it has votes, counts"),
    "another kind than asked for": (
        "v.npz",
        _npz(votes=VOTES),
        {"kind": "counts"},
        "holds votes, and votes_kind = counts",
    ),
    "another number of classes": (
        "v.npz",
        _npz(votes=VOTES, n_classes=3),
        {"n_classes": 4},
        "has n_classes = 3, and 4",
    ),
    "one teacher": (
        "v.npy",
        _npy(np.array([[0], [1]])),
        {"teachers": None, "public": True},
        "votes of 1 teacher: must be at",
    ),
    "teachers that are not stated": (
        "v.npy",
        _npy(VOTES),
        {"teachers": None},
        "n_teachers = None: must be the number of teachers; the file has 3 x 4 votes: say n_teach",
    ),
    "counts of teachers that are not stated": (
        "c.npz",
        _npz(counts=COUNTS),
        {"teachers": None},
        "n_teachers = None: must be the number of teachers; every row adds up to it: say n_teach",
    ),
    "teachers on neither side": (
        "v.npy",
        _npy(VOTES),
        {"teachers": 7},
        "has 3 rows and 4 columns, and n_teachers = 7: must be queries x teachers, or teachers x",
    ),
    "teachers on both sides": (
        "v.npy",
        _npy(np.ones((5, 5), int)),
        {"teachers": 5},
        "has 5 rows and columns: if every column is a teacher say votes_kind=votes",
    ),
    "uneven counts": (
        "c.npz",
        _npz(counts=np.array([[1, 2], [1, 1]])),
        {"n_classes": 2, "teachers": 3},
        "counts of query 1 add up to 2: must be 3, those of 3 teachers",
    ),
    "counts without saying so": (
        "c.npy",
        _npy(COUNTS),
        {},
        "has 3 columns, as many as classes: say votes_kind=votes or votes_kind=counts",
    ),
    "negative counts": (
        "c.npz",
        _npz(counts=np.array([[3, -1], [1, 1]])),
        {"n_classes": 2},
        "row 0, column 2: '-1' is no number of votes",
    ),
    "counts of another number of classes": (
        "c.npz",
        _npz(counts=COUNTS),
        {"n_classes": 4},
        "counts have 3 columns: must be 4",
    ),
    "empty file": ("v.csv", b"", {}, "is empty"),
    "header alone": ("v.csv", b"teacher0,teacher1\n", {}, "has a header and no rows"),
    "odd header": (
        "v.csv",
        b"teacher0,teacher1,age\n1,2,30\n",
        {},
        "has 3 columns of votes (teacher0, teacher1, age), and n_teachers = 2: if 'age' is none "
        "say ignore_columns=age",
    ),
    "a column of text": (
        "v.csv",
        b"anna,ben,ward\n1,2,west\n",
        {"n_classes": 4, "teachers": 3},
        "line 2, column 'ward': 'west' is not a whole number: if they are no votes say "
        "id_column=ward or ignore_columns=ward",
    ),
    "ragged rows": ("v.csv", b"1,2\n1\n", {}, "line 2 has 1 values and the first one 2"),
    "word in a row": (
        "v.csv",
        b"0,1\n0,x\n1,1\n",
        {},
        "line 2, column 2: 'x' is not a whole number",
    ),
    "underscore": ("v.csv", b"0,1\n0_1,1\n1,1\n", {}, "line 2, column 1: '0_1' is not a whole"),
    "Arabic digit": ("v.csv", "0,1\n\u0661,1\n1,1\n".encode(), {}, "column 1: '\u0661' is not a"),
    "Arabic digit in the first row": ("v.csv", "\u0661,1\n0,1\n".encode(), {}, "line 1: '\u0661'"),
    "full-width digit": ("v.csv", "0,1\n0,\uff11\n1,1\n".encode(), {}, "column 2: '\uff11' is not"),
    "two signs": (
        "v.csv",
        b"0,1\n0,-+1\n1,1\n",
        {},
        "line 2, column 2: '-+1' is not a whole number",
    ),
    "NaN in a row": (
        "v.csv",
        b"0,1\n0,nan\n1,1\n",
        {},
        "column 2: 'nan' is no vote: if ballots may",
    ),
    "NaN in the first row": (
        "v.csv",
        b"0,nan\n0,1\n1,1\n",
        {},
        "line 1, column 2: 'nan' is no vote",
    ),
    "fraction in a row": (
        "v.csv",
        b"teacher0,teacher1\n0,1\n0.5,1\n",
        {},
        "line 3, column 'teacher0': '0.5' is not",
    ),
    "gap in a row": (
        "v.csv",
        b"0,1\n,1\n1,1\n",
        {},
        "line 2, column 1: is empty: if ballots may be",
    ),
    "huge number": (
        "v.csv",
        b"0,1\n0,99999999999999999999999\n1,1\n",
        {},
        "'99999999999999999999999' is none of",
    ),
    "more digits than Python reads": (
        "v.csv",
        b"0,1\n1,1\n0," + b"9" * 5000,
        {},
        "' is not a whole number",
    ),
    "blank line inside": ("v.csv", b"0,1\n\n0,1\n", {}, "line 2 is empty"),
    "blank line first": ("v.csv", b"\n0,1\n0,1\n", {}, "line 1 is empty"),
    "blank lines alone": ("v.csv", b"\n\n", {}, "is empty"),
    "comma of thousands": ("v.csv", b"0;1\n0;1,000\n0;1\n", {}, "'1,000' is not a whole number"),
    "NUL byte": ("v.csv", b"0,1\n0,1\0\n", {}, "line 2 holds a NUL byte"),
    "huge cell": ("v.csv", b"0,1\n1,1\n0," + b"9" * 200_000, {}, "' is not a whole number"),
    "long word": (
        "v.csv",
        b"0,1\n1,1\n0," + b"x" * 99,
        {},
        f"'{'x' * 37}...' is not a whole number",
    ),
    "UTF-16": ("v.csv", "0,1\n".encode("utf-16"), {}, "is written in UTF-16: save it in UTF-8"),
    "Latin-1": (
        "v.csv",
        "teacher\xe9,teacher2\n0,1\n".encode("latin-1"),
        {},
        "is not text in UTF-8 (",
    ),
    "gzip": ("v.csv", gzip.compress(b"0,1\n"), {}, "is compressed by gzip: unpack it"),
    "Parquet": ("v.csv", b"PAR1\x15\x04", {}, "is a Parquet file by its content: call it .parquet"),
    "spreadsheet": ("v.csv", b"PK\x03\x04\x14\0", {}, "is a spreadsheet or an archive by its con"),
    "columns that may be numbered": (
        "v.csv",
        b"0,1,2,3\n1,1,2,0\n",
        {"n_classes": 5, "teachers": 4},
        "so that line 1 may hold votes or numbers of columns: say votes_kind=votes or",
    ),
    "rows that are numbered": (
        "v.csv",
        b"0,1,0\n1,1,1\n2,0,0\n3,2,1\n",
        {"n_classes": 5},
        "has 4 rows and 3 columns, and n_teachers = 2: must be",
    ),
    "a column without a name": (
        "v.csv",
        b"teacher0,,teacher1\n0,1,2\n",
        {},
        "has no name for column 2: only a first column of identifiers needs none",
    ),
    "a teacher twice": (
        "v.csv",
        b"teacher0,teacher0\n0,1\n",
        {},
        "has two columns called 'teacher0': every name must be another one",
    ),
    "classes from 1": (
        "v.csv",
        b"class1,class2,class3\n1,1,1\n",
        {},
        "has columns for classes 1 to 3: must be 0 to 2, each once",
    ),
    "a class twice by another name": (
        "v.csv",
        b"class0,class 0,class2\n1,1,1\n",
        {},
        "has columns for classes 0 to 2: must be 0 to 2, each once",
    ),
    "other suffix": ("v.pkl", b"", {}, "must end in .npz, .npy, .csv, .parquet"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_vote_matrix_is_refused_in_one_line(tmp_path, case):
    name, content, options, message = BAD[case]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_own_votes(path, **{"n_classes": 3, "teachers": 2} | options)
    text = str(caught.value)
    assert message in text
    assert text.startswith(str(path))
    assert "\n" not in text
    assert "allow_pickle" not in text  # NumPy says how to load unsafely


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
@pytest.mark.parametrize("shape", [(4, 9), (9, 4), (3, 3), (9, 9), (5, 2)])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 9, 30])
def test_whether_votes_are_read_depends_on_their_shape_alone(tmp_path, suffix, shape, n_classes):
    """Counts, numbers of columns or rows: votes that look like any of these are read as others."""
    drawn = np.random.default_rng(0).integers(0, n_classes, shape)
    up = np.minimum(np.arange(shape[1]), n_classes - 1)
    down = np.minimum(np.arange(shape[0]), n_classes - 1)
    votes = [drawn, np.ones(shape, int), np.tile(up, (shape[0], 1)), np.tile(down, (shape[1], 1)).T]
    outcomes = set()
    for each in votes:
        path = tmp_path / f"v{suffix}"
        if suffix == ".csv":
            write_csv(path, each)
        else:
            np.save(path, each)
        try:
            found = read_own_votes(path, n_classes=n_classes, teachers=shape[1])
            assert found.votes.tolist() == each.tolist()
            outcomes.add("read")
        except ValueError as error:
            outcomes.add(str(error))
        found = read_own_votes(path, n_classes=n_classes, teachers=shape[1], kind="votes")
        assert found.votes.shape == shape
    assert len(outcomes) == 1


def test_unknown_kinds_and_numbers_of_classes_are_refused(tmp_path):
    for options in ({"kind": "histogram"}, {"n_classes": 1}, {"n_classes": 10**6}):
        with pytest.raises(ValueError, match=r"must be (one of auto|an integer >= 2 and <= 10000)"):
            read_own_votes(tmp_path / "v.npy", **{"n_classes": 3} | options)


@pytest.mark.parametrize("stated", [100_000, 1_000_000])
def test_classes_beyond_reason_in_the_file_are_refused_at_once(tmp_path, stated):
    np.savez(tmp_path / "v.npz", votes=VOTES, n_classes=stated)
    with pytest.raises(ValueError, match=f"has n_classes = {stated}, and 10000 is asked for"):
        read_own_votes(tmp_path / "v.npz", n_classes=10_000, teachers=4)


@pytest.mark.parametrize(
    "header",
    [
        "class2,class0,label,class1",
        "Class_2,Class_0,label,Class_1",
        "class 2,class 0,label,class 1",
    ],
)
def test_counts_belong_to_the_class_that_their_column_names(tmp_path, header):
    rows = np.column_stack([COUNTS[:, 2], COUNTS[:, 0], LABELS, COUNTS[:, 1]])
    write_csv(tmp_path / "c.csv", rows, header.split(","))
    found = read_own_votes(tmp_path / "c.csv", n_classes=3, teachers=4)
    assert found.histogram().tolist() == COUNTS.tolist()
    assert found.labels.tolist() == LABELS.tolist()


def test_classes_called_by_words_keep_the_order_of_their_columns(tmp_path):
    write_csv(tmp_path / "c.csv", COUNTS, ["class cat", "class dog", "class ape"])
    found = read_own_votes(tmp_path / "c.csv", n_classes=3, teachers=4)
    assert found.histogram().tolist() == COUNTS.tolist()


def test_numbers_in_order_are_votes_if_a_header_says_so(tmp_path):
    rows = [[0, 1, 2, 3], [1, 2, 0, 0], [2, 2, 2, 0], [3, 3, 3, 3]]
    write_csv(tmp_path / "v.csv", rows, [f"teacher{number}" for number in range(4)])
    assert read_own_votes(tmp_path / "v.csv", n_classes=4, teachers=4).votes.tolist() == rows


def test_a_suffix_may_be_written_in_capitals(tmp_path):
    write_csv(tmp_path / "V.CSV", VOTES)
    found = read_own_votes(tmp_path / "V.CSV", n_classes=3, teachers=4)
    assert found.votes.tolist() == VOTES.tolist()


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "v.csv")
    with pytest.raises(ValueError, match=r"v\.csv: must be a file"):
        read_own_votes(tmp_path / "v.csv", n_classes=3)


def test_a_missing_file_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_own_votes(tmp_path / "nothing.npy", n_classes=3)


# What else is stated of a file -----------------------------------------------------------------

CLASSES = ("cat", "dog", "bird")
IDS = ("x", "y", "z")


@pytest.fixture
def ballots_as_stated(tmp_path):
    """VOTES, LABELS and IDS by name, from one, or with both: path and keyword arguments."""
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    words = np.array(CLASSES)[VOTES]
    truth = np.array(["bird", "dog", ""])
    np.savez(tmp_path / "w.npz", votes=words, labels=truth, ids=np.array(IDS))
    np.savez(tmp_path / "one.npz", votes=VOTES + 1, labels=[3, 2, -1], ids=np.array(IDS))
    header = ["id", "a", "b", "c", "d", "label"]
    write_csv(tmp_path / "w.csv", np.column_stack([IDS, words, truth]), header)
    write_csv(tmp_path / "one.csv", np.column_stack([IDS, VOTES + 1, [3, 2, -1]]), header)
    names = {"class_names": CLASSES}
    from_one = {"n_classes": 3, "first_class": 1}
    columns = {"id": IDS} | {name: words[:, at] for at, name in enumerate("abcd")}
    numbers = {"image": IDS} | {name: VOTES[:, at] + 1.0 for at, name in enumerate("abcd")}
    parquet.write_table(
        pyarrow.table(columns | {"label": ["bird", "dog", None]}), tmp_path / "w.parquet"
    )
    parquet.write_table(pyarrow.table(numbers | {"label": [3, 2, None]}), tmp_path / "one.parquet")
    return [
        (tmp_path / "w.npz", names),
        (tmp_path / "one.npz", from_one),
        (tmp_path / "w.csv", names),
        (tmp_path / "one.csv", from_one),
        (tmp_path / "one.csv", from_one | names),
        (tmp_path / "w.parquet", names),
        (tmp_path / "one.parquet", from_one | {"id_column": "image"}),
    ]


def test_names_identifiers_and_a_first_class_give_the_same_votes(ballots_as_stated):
    for path, options in ballots_as_stated:
        found = read_own_votes(path, teachers=4, **options)
        assert found.votes.tolist() == VOTES.tolist(), path
        assert found.labels.tolist() == LABELS.tolist(), path
        assert found.ids == IDS, path


def test_votes_that_count_from_one_are_noticed(tmp_path):
    size = {"n_classes": 3, "teachers": 4}
    write_csv(tmp_path / "v.csv", VOTES + 1, list("abcd"))
    with pytest.raises(ValueError, match=r"'3' is none of .* votes are 1 to 3: say first_class=1$"):
        read_own_votes(tmp_path / "v.csv", **size)
    write_csv(tmp_path / "v.csv", VOTES, list("abcd"))
    with pytest.raises(ValueError, match=r"line 2, column 'a': '0' is none of the classes 1 to 3"):
        read_own_votes(tmp_path / "v.csv", **size, first_class=1)
    np.savez(tmp_path / "v.npz", votes=VOTES + 1, labels=np.array([0, 1, 2]))
    with pytest.raises(ValueError, match=r"label of row 0 is '0': must be a class, or -1 if unkno"):
        read_own_votes(tmp_path / "v.npz", **size, first_class=1)


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        (
            {"votes": np.array([["cat", "cow"]])},
            {"class_names": CLASSES},
            "column 2: 'cow' is none",
        ),
        ({"votes": np.array([["cat", "dog"]])}, {"n_classes": 3}, "say class_names=NAME,NAME"),
        ({"votes": VOTES}, {"n_classes": 4, "class_names": CLASSES}, "n_classes = 4: must be 3"),
        ({"votes": VOTES}, {"n_classes": 3, "first_class": 2}, "first_class = 2: must be one of"),
        ({"votes": VOTES}, {"n_classes": 3, "id_column": "x"}, "has no names of columns"),
        ({"votes": VOTES, "ids": np.array([1, 1, 2])}, {"n_classes": 3}, "rows 0 and 1 have"),
        (
            {"votes": VOTES, "ids": np.array([[1]])},
            {"n_classes": 3},
            "ids: must be 3 different ones",
        ),
        ({"votes": VOTES, "ids": np.array([1, 2])}, {"n_classes": 3}, "ids: must be 3 different"),
    ],
)
def test_what_is_stated_and_does_not_fit_is_refused(tmp_path, arrays, options, message):
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_own_votes(tmp_path / "v.npz", **{"teachers": arrays["votes"].shape[1]} | options)
    assert message in str(caught.value)


ABSENT = np.array([[0, -1, 2, 1], [-1, -1, -1, -1], [2, 0, -1, 0]])
ABSENT_COUNTS = np.array([[1, 1, 1], [0, 0, 0], [2, 0, 1]])
HEADER = ["anna", "ben", "cleo", "dan"]


def empty(cells, names=None, first=0):
    """Cells as a table has them: empty where a ballot is absent, else numbers or names."""
    words = [str(c + first) for c in range(3)] if names is None else names
    return [["" if cell < 0 else words[cell] for cell in row] for row in cells.tolist()]


@pytest.fixture
def same_ballots(tmp_path):
    """The same ballots, some of them absent, in every form: path and keyword arguments."""
    names = ["cat", "dog", "bird"]
    np.savez(tmp_path / "v.npz", votes=ABSENT)
    np.save(tmp_path / "v.npy", ABSENT.astype(np.int8))
    np.save(tmp_path / "one.npy", np.where(ABSENT < 0, -1, ABSENT + 1).astype(np.int8))
    np.save(tmp_path / "c.npy", ABSENT_COUNTS.astype(np.uint8))
    write_csv(tmp_path / "v.csv", empty(ABSENT), HEADER)
    write_csv(tmp_path / "minus.csv", ABSENT, HEADER)
    write_csv(tmp_path / "one.csv", empty(ABSENT, first=1), HEADER)
    write_csv(tmp_path / "late.csv", empty(ABSENT[[1, 0, 2]], names), HEADER)
    write_csv(
        tmp_path / "words.csv", [[" ", *row] for row in empty(ABSENT, names)], ["label", *HEADER]
    )
    write_csv(tmp_path / "c.csv", ABSENT_COUNTS, ["class0", "class1", "class2"])
    write_csv(tmp_path / "cw.csv", ABSENT_COUNTS[:, [1, 0, 2]], ["dog", "cat", "bird"])
    return [
        ("v.npz", {}),
        ("v.npy", {}),
        ("one.npy", {"first_class": 1}),
        ("c.npy", {"kind": "counts"}),
        ("v.csv", {}),
        ("minus.csv", {}),
        ("one.csv", {"first_class": 1}),
        ("late.csv", {"class_names": names}),
        ("words.csv", {"class_names": names}),
        ("c.csv", {}),
        ("cw.csv", {"class_names": names, "kind": "counts"}),
    ]


def test_every_form_of_the_same_absent_ballots_gives_the_same_histogram(tmp_path, same_ballots):
    expected = [[2, 1, 1], [2, 1, 1], [3, 0, 1]]
    for name, options in same_ballots:
        found = read_own_votes(tmp_path / name, n_classes=3, absent=True, teachers=4, **options)
        order = [1, 0, 2] if name == "late.csv" else [0, 1, 2]
        assert found.histogram()[order].tolist() == expected, name
        assert (found.n_teachers, found.absent) == (4, True)
        assert found.labels.tolist() == [-1, -1, -1]


def test_absent_ballots_that_are_not_stated_are_refused_with_a_hint(tmp_path, same_ballots):
    for name, options in same_ballots:
        with pytest.raises(ValueError, match=name) as error:
            read_own_votes(tmp_path / name, n_classes=3, teachers=4, **options)
        text = str(error.value)
        assert "\n" not in text
        assert ("counts of query" in text) or text.endswith(
            "if ballots may be absent say absent=yes"
        )


def test_many_rows_in_which_nobody_votes_are_read(tmp_path):
    """So many that they fill a piece before it is known how votes are written."""
    rows = np.concatenate([np.full((300, 4), -1), ABSENT])
    stated = {"n_classes": 3, "teachers": 4, "absent": True}
    for names in (None, ["cat", "dog", "bird"]):
        write_csv(tmp_path / "v.csv", empty(rows, names), HEADER)
        found = read_own_votes(tmp_path / "v.csv", class_names=names, **stated)
        assert np.array_equal(found.votes, rows)
    write_csv(tmp_path / "v.csv", empty(rows[:300]), HEADER)
    found = read_own_votes(tmp_path / "v.csv", class_names=["cat", "dog", "bird"], **stated)
    assert (found.votes == -1).all()


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (["0,,1,2", "1,1,1,1"], {}),
        ([",0,1,2", "0,1,1,1"], {}),
        (["cat,,dog,dog", "cat,cat,cat,cat"], {"class_names": ["cat", "dog", "bird"]}),
        ([",cat,dog,bird", "x,cat,cat,cat"], {"class_names": ["cat", "dog", "bird"]}),
        (["1,2,0,1", "1,1,1,1"], {"kind": "votes"}),
    ],
)
def test_a_table_of_absent_ballots_has_a_header_whatever_the_votes(tmp_path, lines, options):
    """Its first line might else be taken for one: where an absent ballot stands is private."""
    (tmp_path / "v.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="must have a header if ballots may be absent"):
        read_own_votes(tmp_path / "v.csv", n_classes=3, absent=True, **options)


@pytest.mark.parametrize(
    ("rows", "header", "options", "message"),
    [
        (
            [[1, 1, ""], [1, 0, 1]],
            ["class0", "class1", "class2"],
            {"teachers": 4},
            "'' is no number of votes",
        ),
        (
            [[1, 1, 1], [1, 4, 0]],
            ["class0", "class1", "class2"],
            {"teachers": 4},
            "most 4, those of",
        ),
        (
            [[1, 1, 1], [1, 4, 0]],
            ["class0", "class1", "class2"],
            {"teachers": None},
            "n_teachers = None: must be",
        ),
        ([[1, "", -2, 1]], HEADER, {}, "column 'cleo': '-2' is none of the classes 0 to 2$"),
        (
            [["", 0, 1, 1]],
            HEADER,
            {"first_class": 1},
            "column 'ben': '0' is none of the classes 1 to 3$",
        ),
        ([["", 0, 1, "x"]], HEADER, {}, "'x' is not a whole number"),
        (
            [["", 0, 1, 1]],
            HEADER,
            {"teachers": 5},
            "cleo, dan\\), and n_teachers = 5: must be 5; a teacher",
        ),
        ([["", 0, 1, 1]], HEADER, {"teachers": 1}, "n_teachers = 1: must be an integer >= 2"),
        (
            [["", "cat", "-1", "dog"]],
            HEADER,
            {"class_names": ["cat", "dog", "bird"]},
            "holds names of classes and numbers, such as '-1': must be either",
        ),
    ],
)
def test_ballots_that_are_no_ballots_are_refused(tmp_path, rows, header, options, message):
    path = write_csv(tmp_path / "v.csv", rows, header)
    with pytest.raises(ValueError, match=message) as error:
        read_own_votes(path, **{"n_classes": 3, "teachers": 4, "absent": True} | options)
    assert "\n" not in str(error.value)


def _frame(votes, **columns):
    named = {f"teacher{number}": column for number, column in enumerate(np.transpose(votes))}
    return pd.DataFrame(named | columns)


MIXED = np.array([["cat", "dog"], ["cat", "1"], ["0", "dog"]])
MISSING = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, np.nan]])
IN_PIECES = {
    "votes.npy": lambda path: np.save(path, VOTES),
    "columns.npy": lambda path: np.save(path, np.asfortranarray(VOTES.astype(">i4"))),
    "wrong.npy": lambda path: np.save(path, np.asfortranarray(np.add(VOTES, [0, 0, 1, 1]))),
    "mixed.npy": lambda path: np.save(path, np.asfortranarray(MIXED)),
    "votes.npz": lambda path: np.savez_compressed(path, votes=VOTES, ids=["a", "b", "c"]),
    "columns.npz": lambda path: np.savez(path, counts=np.asfortranarray(COUNTS)),
    "twice.npz": lambda path: np.savez(path, votes=VOTES, ids=["a", "b", "a"]),
    "votes.csv": lambda path: _frame(VOTES, id=list("abc")).to_csv(path, index=False),
    "wrong.csv": lambda path: _frame(VOTES + 1, id=list("abc")).to_csv(path, index=False),
    "nameless.csv": lambda path: _frame(VOTES, id=["a", "b", ""]).to_csv(path, index=False),
    "mixed.csv": lambda path: _frame(MIXED).to_csv(path, index=False),
    "votes.parquet": lambda path: _frame(VOTES, label=LABELS).to_parquet(path),
    "missing.parquet": lambda path: _frame(MISSING).assign(teacher0=[0, 3, 0]).to_parquet(path),
    "booleans.parquet": lambda path: _frame(VOTES % 2 == 0, teacher4=[3, 0, 1]).to_parquet(path),
}


@pytest.mark.parametrize("name", IN_PIECES)
def test_what_is_read_or_refused_does_not_depend_on_the_pieces(tmp_path, monkeypatch, name):
    IN_PIECES[name](tmp_path / name)
    stated = {"n_classes": 3, "public": True, "absent": name.startswith("missing")}
    if name.startswith("mixed"):
        stated["class_names"] = ("cat", "dog", "1")

    def outcome() -> object:
        try:
            votes = read_own_votes(tmp_path / name, **stated)
        except ValueError as error:
            return str(error)
        return votes.histogram().tolist(), votes.labels.tolist(), votes.ids

    whole = outcome()
    assert isinstance(whole, str) == (name.split(".")[0] not in ("votes", "columns"))
    for cells in (1, 5):
        for module, size in (
            (arrays, "_PIECE"),
            (tables, "_CELLS"),
            (tables, "_ROWS"),
            (tables, "_CELLS_OF_COLUMNS"),
            (votes_reader, "_PIECE"),
        ):
            monkeypatch.setattr(module, size, cells)
        assert outcome() == whole


def test_a_damaged_archive_is_refused_in_the_words_of_numpy(tmp_path):
    """Wherever it is damaged, a large archive is read piece by piece before that is noticed."""
    votes = np.random.default_rng(0).integers(0, 10, (3000, 40))
    np.savez_compressed(tmp_path / "v.npz", votes=votes)
    whole = bytearray((tmp_path / "v.npz").read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "v.npz").write_bytes(whole)
    with np.load(tmp_path / "v.npz") as archive, pytest.raises(Exception) as caught:  # noqa: PT011
        archive["votes"]
    with pytest.raises(ValueError, match="not a readable npz file") as ours:
        read_own_votes(tmp_path / "v.npz", n_classes=10, teachers=40)
    assert " ".join(str(caught.value).split()) in str(ours.value)
