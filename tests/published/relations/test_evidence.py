import math

import pandas as pd
import pytest

from private_ensembles.published import declarations
from private_ensembles.published.printed import FOLDER, read_published
from private_ensembles.published.relations.evidence import Evidence


@pytest.fixture
def evidence():
    ours = pd.DataFrame({"dataset": ["digits", "mnist"], "stand_in": [True, False], "m": [1, 3]})
    return Evidence(
        declarations.paper("darrm"),
        read_published(FOLDER.glob("*.csv")),
        {"mixed": ours, "stand_ins": ours[:1]},
        {"K": 5},
    )


def test_printed_numbers_are_those_of_the_item_as_floats(evidence):
    cells = evidence.printed("table1")
    assert set(cells["dataset"]) == {"mnist", "fashion-mnist"}
    assert cells["published"].between(0, 1).all()
    assert (cells["published_sd"] > 0).all()
    assert cells.index.tolist() == list(range(len(cells)))


def test_a_number_without_a_deviation_has_none(evidence):
    assert all(map(math.isnan, evidence.printed("table3")["published_sd"]))


def test_an_item_of_which_nothing_is_printed_is_an_error(evidence):
    with pytest.raises(ValueError, match="no number is printed in table99"):
        evidence.printed("table99")


def test_stand_ins_are_no_evidence(evidence):
    assert evidence.table("mixed")["dataset"].tolist() == ["mnist"]
    assert evidence.table("stand_ins") is None
    assert evidence.table("not run") is None


def test_a_setting_of_the_run_goes_before_the_paper_s(evidence):
    name, value = next((k, v) for k, v in evidence.paper.parameters.items() if k != "K")
    assert evidence.setting("K") == 5
    assert evidence.setting(name) == value
