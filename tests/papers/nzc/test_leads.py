"""What one NZC label loses by its lead."""

import pytest

from private_ensembles.papers.nzc.leads import lead_losses
from tests.papers.nzc.conftest import MECHANISM


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_delta_is_one_at_a_lead_of_one_and_nothing_from_three_on(noise):
    settings = {"teachers": [5, 6], "classes": [2, 3], "epsilon": 50}
    found = lead_losses(settings, MECHANISM | {"noise": noise})
    assert set(found["ties"]) == {"first", "last", "random"}
    one, more = found[found["lead"] == 1], found[found["lead"] >= 3]
    assert (one["delta_least"] == 1).all()
    assert len(one) == 3 * 3  # two classes and an even number have none
    assert (more["delta_most"] < 1e-290).all()
