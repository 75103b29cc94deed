"""What a session shows: its labels, what they cost, and nothing else, whatever its size."""

import csv
import hashlib
import json
import math

import numpy as np
import pytest

from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.release import session_export, session_plan
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


def sizes_of(generator):
    """Sizes, a budget and a mechanism of a session."""

    def between(low, high):
        return math.exp(generator.uniform(math.log(low), math.log(high)))

    labels = round(between(1, 50))
    names = [
        name
        for name in session_plan.list_session_mechanisms()
        if load_mechanism(name).guarantee.hides_votes
    ]
    return {
        "teachers": round(between(3, 1000)),
        "classes": round(between(2, 20)),
        "labels": labels,
        "queries": labels * int(generator.integers(1, 4)),
        "epsilon": between(0.1, 20),
        "delta": between(1e-9, 1e-3),
        "mechanisms": [str(generator.choice(names))],
        "absent": bool(generator.integers(2)),
        "reach": int(generator.choice([1, 1, 1, 2])),
    }


def session_of(path, generator):
    """Return the first session that can be made; what cannot is refused before there is a file."""
    stated = {"shards": "disjoint", "anyway": True}
    while True:
        try:
            return flat.create(path, **sizes_of(generator), **stated)
        except ValueError as error:
            assert "no mechanism applies" in str(error)
            assert not path.exists()


# Some of these are as different as sizes can be, and take a moment; all others are slow.
QUICK = (2, 3, 5, 7, 9)
SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in sorted({*range(300)} - {*QUICK})]


@pytest.mark.parametrize("seed", [*QUICK, *SLOW])
def test_no_session_ends_in_an_error_once_it_is_made(tmp_path, seed):
    generator = np.random.default_rng([47, seed])
    with session_of(tmp_path / "a.session", generator) as session:
        ensemble, spent = session.plan.task.ensemble, 0.0
        chances = generator.dirichlet(np.ones(ensemble.classes))
        batches = min(3, session.plan.queries)
        for number in range(batches):
            counts = generator.multinomial(ensemble.teachers, chances, 1)
            session.release(counts, key=f"b{number}")
            report = session_export.status(session)
            assert report["queries"] == number + 1
            assert spent <= report["spent"]["epsilon"] == session.spent.epsilon
            assert session.spent.epsilon <= session.total.epsilon * (1 + 1e-9)
            spent = session.spent.epsilon
            if number in (0, batches - 1):
                files = session_export.export(session, tmp_path / "out")
        assert json.loads(files["session.json"].read_text())["head"] == session.head
        assert {"certificate.json", "statement.html"} <= set(files)
        session.verify()
