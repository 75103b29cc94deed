"""Records of costs say which of their numbers are private, and show the certain ones first."""

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import pytest

from private_ensembles.papers.pate import mathematics as pate
from private_ensembles.papers.pate.mathematics.guarded_record import GuardedRecord

COUNTS = np.array([[240, 10], [130, 120]] * 320)
PARAMETERS = (200, 150, 40, 1e-5)


@dataclass(frozen=True, repr=False)
class Bill(GuardedRecord):
    public: ClassVar[tuple[str, ...]] = ("most", "delta")
    display_names: ClassVar[dict[str, str]] = {"epsilon": "guessed_epsilon"}

    epsilon: float
    delta: float
    most: float
    spread: float | None = None
    parts: tuple[float, ...] = ()


def test_what_is_not_named_public_is_private_and_stands_last():
    bill = Bill(epsilon=1.07123, delta=1e-5, most=3.93, parts=(0.5,))
    assert bill.not_for_release == {"guessed_epsilon": 1.07123, "parts": (0.5,)}
    assert repr(bill) == "Bill(most=3.93, delta=1e-05, NOT_FOR_RELEASE=(guessed_epsilon=1.07))"
    assert bill.epsilon == 1.07123


@pytest.fixture(scope="module")
def records():
    return {
        "confident": pate.confident_gnmax_privacy(COUNTS, *PARAMETERS, tuning="rule_of_thumb"),
        "gnmax": pate.gnmax_privacy(COUNTS, 40, 1e-5, tuning="rule_of_thumb"),
        "lnmax": pate.lnmax_privacy(COUNTS, 20, 1e-5),
    }


@pytest.mark.parametrize("name", ["confident", "gnmax", "lnmax"])
def test_no_data_dependent_epsilon_is_shown_as_if_it_were_one(records, name):
    shown = repr(records[name])
    public, private = shown.split("NOT_FOR_RELEASE=(")
    assert " epsilon=" not in shown
    assert "(epsilon=" not in shown
    assert f"{records[name].epsilon:.3g}" in private
    assert str(records[name].epsilon) not in public


def test_the_certain_number_comes_first(records):
    assert repr(records["confident"]).startswith(
        "ConfidentPrivacy(exact_data_independent_epsilon=3.9267"
    )
    assert "NOT_FOR_RELEASE=(expected_forward_epsilon=" in repr(records["confident"])


def test_names_of_the_design_keep_working(records):
    names = (
        "expected_answers epsilon order data_independent_epsilon exact_data_independent_epsilon "
        "beta smooth_sensitivity sigma_ss sanitized_epsilon sanitized_sd"
    )
    for name in names.split():
        assert getattr(records["confident"], name) > 0


def test_public_fields_do_not_depend_on_votes(records):
    other = np.array([[150, 100]] * 640)
    again = pate.confident_gnmax_privacy(other, *PARAMETERS, tuning="rule_of_thumb")
    for name in type(again).public:
        assert getattr(again, name) == getattr(records["confident"], name)
    lnmax = pate.lnmax_privacy(other, 20, 1e-5)
    for name in type(lnmax).public:
        assert getattr(lnmax, name) == getattr(records["lnmax"], name)


def test_every_name_is_that_of_a_field(records):
    for record in records.values():
        known = {one.name for one in fields(record)}
        assert known >= {*record.public, *record.display_names}
        assert not set(record.public) & set(record.display_names)
