"""Why printed numbers are not ours: each function recomputes one, and says whether it comes out.

A paper's YAML in ``workflow/published`` refers to them by name, with the note and the test that
pins each down; and to such functions in ``statements_of_*``. Every function takes a printed number
(a row of `read_published`) and returns whether what it recomputes is what is printed.
"""

import re
from collections.abc import Mapping

from private_ensembles.darrm.error import error_at
from private_ensembles.darrm.gamma import gamma_subsampling
from private_ensembles.dpbag.budget import data_independent_count
from private_ensembles.pate.gnmax import least_order
from private_ensembles.pate.sanitize import tuned_sigma
from private_ensembles.pate.small_print import exchanged_numbers
from private_ensembles.pate.table2 import (
    ROWS,
    least_printed_cost,
    mnist_conversion,
    printed_arithmetic,
)
from private_ensembles.published.limits import (
    DELTA_OF_COUNTS,
    NOISE,
    ORDER_MAX,
    of_the_stated_accounting,
)
from private_ensembles.published.printed import FOLDER, equals_printed, read_published

_RECORDS_OF_ADULT = 32561 + 16281


def three_above_the_least_order(cell: Mapping[str, str]) -> bool:
    """DaRRM's Table 4 prints lambda_min + 3 for the order at which sigma is least."""
    epsilon = {"mnist": 0.2676, "fashion-mnist": 0.2556}[cell["dataset"]]
    return equals_printed(least_order(epsilon, 3e-4) + 3, cell["published"])


def only_twelve_thousand_images_cost_the_printed_epsilon(cell: Mapping[str, str]) -> bool:
    """Nothing gives the 10000; it is proven that the other printed number, 0.0852, rules it out."""
    from private_ensembles.teachers.accounting import epsilon_prv
    from private_ensembles.teachers.training import poisson_schedule

    def epsilon(n_train: int) -> float:
        # 11 teachers, batches of 32, 5 epochs, noise multiplier 12.
        schedule = poisson_schedule(n_train // 11, 32, 5)
        return epsilon_prv(12, schedule.sample_rate, schedule.steps, 1e-4)

    fits = {n_train: equals_printed(epsilon(n_train), "0.0852") for n_train in (10000, 12000)}
    return cell["published"] == "10000" and fits == {10000: False, 12000: True}


def no_rounding_gives_svhn(cell: Mapping[str, str]) -> bool:
    """The least that Theorem 23 gives for parameters that print as SVHN's is still too much."""
    half = {"order": 0.05, "beta": 0.00005, "sigma_ss": 0.005}
    least = 4.96 - 0.005 + least_printed_cost(ROWS["SVHN"], digits=half)
    return cell["published"] == "5.45" and least > 5.45 + 0.005


def smooth_sensitivity_is_rounded(cell: Mapping[str, str]) -> bool:
    """A smooth sensitivity that prints as .00088 gives the printed sigma."""
    return equals_printed(tuned_sigma(50, 0.008, 0.000876, formula="paper"), cell["published"])


def divided_by_the_order(cell: Mapping[str, str]) -> bool:
    """The text divides log(1/delta) by the order, while Theorem 5 divides by one less."""
    return equals_printed(mnist_conversion()["by_order"], cell["published"])


def rests_on_theorem_23(cell: Mapping[str, str]) -> bool:
    """Sanitising costs less than is claimed by the printed formula alone, which does not hold."""
    names = {"mnist": "MNIST", "adult": "Adult", "glyph": "Glyph, two rounds"}
    row = ROWS[names[cell["dataset"]]]
    quantities = printed_arithmetic(row)
    printed, exact = (quantities[f"gnss_cost_{which}"] for which in ("printed_formula", "exact"))
    return cell["published"] == "50" and printed < row.epsilon / 2 < exact


def forgets_that_two_counts_are_noisy(cell: Mapping[str, str]) -> bool:
    """A gap of x sigma is given as exp(-x^2), the density's exponent is -x^2 / 4 for two noises."""
    return equals_printed(-(4.0**2), cell["published"])


def stands_in_the_other_row(cell: Mapping[str, str]) -> bool:
    """Section 4.1 exchanges its two numbers; each comes out for the other row."""
    return equals_printed(exchanged_numbers()[cell["row"]], cell["published"])


def has_another_delta(cell: Mapping[str, str]) -> bool:
    """SAA's label count is that of the delta of the authors' code."""
    return equals_printed(_count_of_saa(cell), cell["published"])


def is_printed_otherwise_elsewhere(cell: Mapping[str, str]) -> bool:
    """Tables 2, 4 and 6 print, for the same n and epsilon, the count that is recomputed."""
    printed = read_published(FOLDER.glob("dpbag_table[246].csv"))
    others = printed[(printed["row"] == cell["row"]) & (printed["column"] == cell["column"])]
    return len(others) == 3 and all(
        equals_printed(_count_of_saa(cell), value) for value in others["published"]
    )


def lacks_the_first_record(cell: Mapping[str, str]) -> bool:
    """One record less is printed than UCI Adult's files hold."""
    return int(cell["published"]) == _RECORDS_OF_ADULT - 1


def is_zero_for_every_gamma(cell: Mapping[str, str]) -> bool:
    """At p = 1/2 every number of votes is as likely as its mirror image: no gamma errs at all."""
    errors = (error_at(gamma_subsampling(11, m), 0.5) for m in range(1, 12))
    return cell["published"] == "0" and not any(errors)


def buys_too_little_beside_a_smaller_budget(cell: Mapping[str, str]) -> bool:
    """Not fewer labels than SAA's, yet fewer than the count of a smaller budget leaves possible."""
    least, _ = of_the_stated_accounting(cell)
    return _count_of_saa(cell) <= int(cell["published"]) < least


def _count_of_saa(cell: Mapping[str, str]) -> int:
    n = int(re.search(r"n=(\d+)", cell["row"]).group(1))
    epsilon = float(cell["column"].split("=")[1])
    return data_independent_count(epsilon, NOISE / n, DELTA_OF_COUNTS, ORDER_MAX).published
