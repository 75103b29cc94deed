"""Sessions of any size: none ends in an error after a charge, and all that is said of them is said.

Sizes, budgets and votes are drawn at random. Batches have one query each, as the account of the
first label is another than that of many.
"""

import json
import math

import numpy as np
import pytest

from private_ensembles import Session
from private_ensembles.release import session_export, session_plan


def drawn(seed):
    """The arguments of a session, and how its votes are spread."""
    generator = np.random.default_rng([47, seed])

    def between(low, high):
        return math.exp(generator.uniform(math.log(low), math.log(high)))

    labels = round(between(1, 50))
    sizes = {
        "teachers": round(between(3, 1000)),
        "classes": round(between(2, 20)),
        "labels": labels,
        "queries": labels * int(generator.integers(1, 4)),
        "epsilon": between(0.1, 20),
        "delta": between(1e-9, 1e-3),
        "mechanisms": [str(generator.choice(session_plan.offered()))],
        "absent": bool(generator.integers(2)),
        "reach": int(generator.choice([1, 1, 1, 2])),
    }
    return sizes, generator


MANY = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 300)]


@pytest.mark.parametrize("seed", [*range(12), *MANY])
def test_no_session_ends_in_an_error_once_it_is_made(tmp_path, seed):
    sizes, generator = drawn(seed)
    stated = {"shards": "disjoint", "anyway": True, "say": lambda _: None}
    try:
        session = Session.create(tmp_path / "a.session", **sizes, **stated)
    except ValueError as error:  # before anything is charged
        assert "no mechanism applies" in str(error)
        assert not (tmp_path / "a.session").exists()
        return
    teachers, chances = sizes["teachers"], generator.dirichlet(np.ones(sizes["classes"]))
    spent = 0.0
    with session:
        batches = min(3, session.plan.queries)
        for number in range(batches):
            counts = generator.multinomial(teachers, chances, 1)
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
