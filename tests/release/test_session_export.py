"""What a session shows: its labels, what they cost, and nothing else."""

import csv
import hashlib
import json

import numpy as np
import pytest

from private_ensembles.release import session_export
from private_ensembles.release.pool import labels_text
from private_ensembles.release.session_export import export
from tests.release import flat
from verify import verify


@pytest.fixture
def session(tmp_path):
    sizes = {"teachers": 30, "classes": 2, "labels": 10, "epsilon": 2, "delta": 1e-5}
    made = flat.create(
        tmp_path / "a.session", mechanisms=["gnmax_exact"], noise="reproducible", **sizes
    )
    with made:
        made.release(np.array([[30, 0], [0, 30]]), key="one")
        made.release(np.array([[0, 30]]), key="two")
        yield made


def test_an_export_holds_labels_batches_and_costs(session, tmp_path):
    files = session_export.export(session, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(files)
    with open(files["labels.csv"], encoding="utf-8") as file:
        labels = list(csv.DictReader(file))
    assert [(row["batch"], row["query"]) for row in labels] == [
        ("one", "0"),
        ("one", "1"),
        ("two", "0"),
    ]
    assert [int(row["label"]) for row in labels] == [
        label for batch in session.batches() for label in batch.labels
    ]
    with open(files["batches.csv"], encoding="utf-8") as file:
        first, second = csv.DictReader(file)
    text = labels_text(session.batch("one").labels)
    assert first["labels_sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert (first["queries"], second["labels"]) == ("2", "1")
    report = json.loads(files["session.json"].read_text())
    assert report["head"] == session.head
    assert (report["labels"], report["remaining"], report["lost"]) == (3, 7, 0)
    assert report["spent"]["least"] <= report["spent"]["epsilon"] <= session.spent.epsilon
    spent = [row["spent"] for row in report["curve"]]
    assert spent == sorted(spent)
    assert all(row["spent"] <= row["total"] for row in report["curve"])


def test_a_later_export_takes_the_place_of_an_earlier_one(session, tmp_path):
    session_export.export(session, tmp_path / "out")
    session.release(np.array([[0, 30]]), key="three")
    files = session_export.export(session, tmp_path / "out")
    assert len(files["labels.csv"].read_text().splitlines()) == 5
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_an_export_has_a_statement_and_a_certificate_that_is_accepted(tmp_path, capsys):
    file = tmp_path / "w.session"
    sizes = {"teachers": 21, "classes": 2, "labels": 10, "epsilon": 2, "delta": 1e-5}
    sizes |= {"shards": "disjoint", "mechanisms": ["permute_and_flip"]}
    with flat.create(file, **sizes) as session:
        session.release(np.array([[20, 1], [2, 19]]), key="one")
        files = export(session, tmp_path / "out")
    assert verify.main([files["certificate.json"]]) == 0
    said = capsys.readouterr().out
    assert "10 labels, asked adaptively, of 21 teachers" in said
    page = files["statement.html"].read_text()
    assert "2, of 2 classes, for 10 queries" in page
    assert "These are labels of a session" in page


def test_a_rehearsal_and_a_session_without_labels_have_none(tmp_path):
    sizes = {"teachers": 21, "classes": 2, "labels": 10, "epsilon": 2, "delta": 1e-5}
    names = ["permute_and_flip"]
    with flat.create(tmp_path / "a", **sizes, shards="disjoint", mechanisms=names) as session:
        assert "statement.html" not in export(session, tmp_path / "out_a")
    rehearsal = {"noise": "reproducible", "seed": 1}
    with flat.create(tmp_path / "b", **sizes, mechanisms=names, **rehearsal) as session:
        session.release(np.array([[20, 1], [2, 19]]), key="one")
        assert "statement.html" not in export(session, tmp_path / "out_b")
