"""NZC's tables carry the verdict on every claim."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.papers.nzc.experiment import account_votes, aggregators, release_labels
from private_ensembles.papers.nzc.tables import label_accuracy, summarise_students
from tests.papers.nzc.conftest import HERE, SETTINGS, inputs


def test_tables_carry_the_verdict(nzc_inputs):
    votes = inputs(*nzc_inputs)
    rows, _ = release_labels(votes, SETTINGS, **HERE)
    trained = [
        {
            "task": "here",
            "aggregator": name,
            "student_seed": seed,
            "accuracy": 0.5 + seed / 10,
            "evaluated": 40,
        }
        for name in aggregators(SETTINGS)
        for seed in (0, 1)
    ]
    facts = {"here": {"stand_in": True, "K": 20, "few": 3}}
    privacy = account_votes(votes, SETTINGS, **HERE)
    table = summarise_students(privacy, pd.DataFrame(rows), pd.DataFrame(trained), facts)
    table = table.set_index("aggregator")
    assert list(table.index) == list(aggregators(SETTINGS))
    assert list(table.loc[["nzc", "nzc-3"], "verdict"]) == ["fails", "fails"]
    assert list(table.loc[["clean", "truth"], "verdict"]) == ["", ""]
    assert table.loc["nzc", "student_accuracy"] == pytest.approx(0.55)
    assert table.loc["nzc", "student_accuracy_sd"] == pytest.approx(np.std([0.5, 0.6], ddof=1))
    assert set(table["release"]) == {NOT_FOR_RELEASE}
    accuracy = label_accuracy(privacy, facts).set_index("aggregator")
    assert accuracy.loc["nzc", "verdict"] == "fails"
    assert accuracy.loc["clean", "label_accuracy"] == accuracy.loc["nzc", "accuracy_first"]
