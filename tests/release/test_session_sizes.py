"""Sessions of any size: none ends in an error after a charge, and all that is said of them is said.

Sizes, budgets and votes are drawn at random. Batches have one query each, as the account of the
first label is another than that of many.
"""

import json
import math

import numpy as np
import pytest

from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.release import session_export, session_plan
from tests.release import flat


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


SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 1, *range(10, 300))]


@pytest.mark.parametrize("seed", [*range(2, 10), *SLOW])
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
