"""What a session states once: a batch that says otherwise is refused, before it costs anything."""

import csv

import numpy as np
import pytest

from private_ensembles import Session
from private_ensembles.command.main import main
from private_ensembles.release import session_export
from private_ensembles.release.pool import Names, names_of
from tests.release import flat

SIZES = {"teachers": 40, "classes": 2, "labels": 20, "epsilon": 8, "delta": 1e-3}
SIZES |= {"mechanisms": ["gnmax_analytic"], "shards": "disjoint", "anyway": True}
NAMED = {"class_names": "benign,malignant", "id_column": "case"}
COUNTS = np.array([[40, 0], [0, 40]])
CREATE = ["session", "create", "w.session", "--teachers", "40", "--classes", "2", "--labels", "20"]
CREATE += ["--epsilon", "20", "--shards", "disjoint", "--mechanism", "gnmax_analytic"]


def votes(path, words=("benign", "malignant"), column="case", queries=2):
    """A file in which all 40 teachers agree: on the first word, the second, the first, ..."""
    rows = [[f"{path.stem}{at}", *([words[at % 2]] * 40)] for at in range(queries)]
    with open(path, "w", encoding="utf-8", newline="") as file:
        header = [column, *(f"teacher{at}" for at in range(40))]
        csv.writer(file).writerows([header, *rows])
    return str(path)


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_names_are_read_again_as_they_were_stated(tmp_path):
    with flat.named(tmp_path / "a.session", **SIZES, **NAMED, first_class=1) as session:
        named = session.names
        proof = session.terms.proof
    assert named == Names(("benign", "malignant"), 1, "case")
    with Session.open(tmp_path / "a.session") as session:
        assert session.names == named
        assert session.terms.proof == proof
        assert session.cost_of(30).epsilon > 8
        session.extend(30, epsilon=100.0)
        assert session.names == named


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"class_names": "malignant,benign"}, "class_names = 'malignant,benign': must be"),
        ({"class_names": "benign,malign"}, "class_names = 'benign,malign': must be"),
        ({"first_class": 1}, "first_class = 1: must be 0, which the session states"),
        ({"id_column": "image"}, "id_column = 'image': must be 'case', which the session states"),
    ],
)
def test_a_batch_that_says_otherwise_is_refused(said, message):
    names = names_of(2, "benign,malignant", 0, "case")
    with pytest.raises(ValueError, match=message):
        names.require_unchanged(**said)
    assert names.require_unchanged() == names
    same = {"class_names": ["benign", "malignant"], "first_class": 0, "id_column": "case"}
    assert names.require_unchanged(**same) == names


def test_a_batch_names_nothing_that_the_session_has_not(tmp_path):
    """Else two batches could name the same class differently."""
    for said in ({"class_names": "a,b"}, {"id_column": "case"}):
        with pytest.raises(ValueError, match="must be left out, as the session states none"):
            Names().require_unchanged(**said)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"class_names": "a,b,c"}, "class_names: 3 of them: must be 2"),
        ({"class_names": "a,a"}, "'a' comes twice"),
        ({"first_class": 2}, "first_class = 2"),
        ({"id_column": " "}, "id_column = ' ': must be the name of a column"),
    ],
)
def test_names_that_cannot_be_are_refused_and_nothing_is_left(tmp_path, stated, message):
    with pytest.raises(ValueError, match=message):
        flat.named(tmp_path / "a.session", **SIZES, **stated)
    assert not list(tmp_path.iterdir())


def test_a_session_that_names_its_queries_wants_their_names(tmp_path):
    with flat.named(tmp_path / "a.session", **SIZES, **NAMED) as session:
        with pytest.raises(ValueError, match="ids: must be"):
            session.release(COUNTS, key="one")
        assert session.state.batches == 0
        session.release(COUNTS, key="one", ids=["a", "b"])
        assert session.batch("one").ids == ["a", "b"]


def test_an_export_has_batch_identifier_and_label_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*CREATE, "--class-names", "benign,malignant", "--id", "case"]) == 0
    release = ["session", "release", "w.session"]
    march, april = votes(tmp_path / "march.csv"), votes(tmp_path / "april.csv")
    assert main([*release, march, "--key", "march"]) == 0
    same = ["--class-names", "benign,malignant", "--id", "case", "--first-class", "0"]
    assert main([*release, april, "--key", "april", *same]) == 0
    assert main(["session", "export", "w.session", "--out", "out"]) == 0
    rows = rows_of("out/labels.csv")
    assert list(rows[0]) == ["batch", "query", "id", "label", "class_name"]
    assert [(row["batch"], row["id"]) for row in rows] == [
        ("march", "march0"),
        ("march", "march1"),
        ("april", "april0"),
        ("april", "april1"),
    ]
    for row in rows:
        assert row["class_name"] == ("benign", "malignant")[int(row["label"])]
    batch = rows_of("w.session.march.csv")
    assert [row["class_name"] for row in batch] == [row["class_name"] for row in rows[:2]]


def test_the_command_refuses_in_one_line_what_the_session_states_otherwise(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main([*CREATE, "--class-names", "benign,malignant", "--id", "case"]) == 0
    file = votes(tmp_path / "march.csv")
    for words, message in (
        (["--class-names", "malignant,benign"], "--class-names = 'malignant,benign': must be"),
        (["--first-class", "1"], "--first-class = 1: must be 0, which the session states"),
        (["--id", "image"], "= 'image': must be 'case', which the session states"),
    ):
        capsys.readouterr()
        assert main(["session", "release", "w.session", file, "--key", "march", *words]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
    with Session.open("w.session") as session:
        assert session.state.batches == 0


def test_queries_that_some_batches_name_stand_beside_those_that_none_does(tmp_path):
    with flat.create(tmp_path / "a.session", **SIZES) as session:
        session.release(COUNTS, key="one")
        session.release(COUNTS, key="two", ids=["a", "b"])
        files = session_export.export(session, tmp_path / "out")
    rows = rows_of(files["labels.csv"])
    assert [row["id"] for row in rows] == ["", "", "a", "b"]
    assert list(rows[0]) == ["batch", "query", "id", "label"]
