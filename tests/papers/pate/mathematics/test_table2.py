"""What PATE's Table 2 prints, recomputed from its own parameters."""

import pytest

from private_ensembles.papers.pate.mathematics.table2 import recompute_row
from tests.papers.pate.mathematics.printed_rows import ROWS

PRINTED = {  # sanitized fixed part and standard deviation, sigma_SS of the last GNSS
    "MNIST": (2.52, 0.385, 6.23),
    "SVHN": (5.45, 0.350, 4.88),
    "Adult": (2.09, 0.263, 7.92),
    "Glyph": (2.29, 0.152, 11.9),
    "Glyph, two rounds": (1.00, 0.081, 38.7),
}


@pytest.mark.parametrize("name", PRINTED)
def test_rows_print_what_follows_from_their_own_parameters(name):
    """Theorem 23, noise of SS sigma_SS, and the sigma_SS of least cost plus twice that noise."""
    found, (fixed_part, sd, sigma_ss) = recompute_row(ROWS[name]), PRINTED[name]
    # No parameters that print as SVHN's give its printed cost (tests/papers/pate/test_printed.py).
    expected = 5.4955 if name == "SVHN" else fixed_part
    assert found["sanitized_fixed_part"] == pytest.approx(expected, abs=5.5e-3)
    assert found["sanitized_sd"] == pytest.approx(sd, abs=1e-3)
    assert found["tuned_sigma_ss"] == pytest.approx(sigma_ss, rel=5e-3)
    assert found["gnss_cost_printed_formula"] < found["gnss_cost_exact"]


@pytest.mark.parametrize("name", PRINTED)
def test_printed_beta_is_a_hundredth_of_an_inverse_order(name):
    for part in ROWS[name].gnss:
        assert round(part.order * part.beta, 2) in (0.40, 0.42, 0.45, 0.46, 0.48)
        step = 0.5e-4 * part.order if part.beta > 0.0099 else 0.5e-3 * part.order
        assert part.order * part.beta == pytest.approx(round(part.order * part.beta, 2), abs=step)
