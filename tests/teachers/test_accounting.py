"""accounting: the published privacy losses, and bounds in the order that theory gives them."""

import pytest

from private_ensembles.teachers.accounting import (
    account_ensemble,
    epsilon_pld,
    epsilon_prv,
    epsilon_rdp,
    teacher_costs,
)
from private_ensembles.teachers.schedule import poisson_schedule

from .oracle import epsilon_group

TRAINING = {"noise_multiplier": 12, "batch_size": 32, "epochs": 5}
CASES = pytest.mark.parametrize(
    ("n", "published", "add_remove", "replace_one"),
    [(1024, 0.0892, 0.0791, 0.172), (1090, 0.0852, 0.0751, 0.164)],
    ids=["mnist", "fashion-mnist"],
)


def setting(n, batch_size=32, epochs=5):
    schedule = poisson_schedule(n, batch_size, epochs)
    return 12, schedule.sample_rate, schedule.steps, 1e-4


@CASES
def test_opacus_default_accountant_gives_the_published_epsilon(
    n, published, add_remove, replace_one
):
    assert round(epsilon_prv(*setting(n)), 4) == published
    # as a claim it also holds: rounding went up
    assert epsilon_prv(*setting(n)) <= published


@CASES
def test_pld_is_tighter_and_depends_on_the_neighbours(n, published, add_remove, replace_one):
    assert round(epsilon_pld(*setting(n)), 4) == add_remove
    assert round(epsilon_pld(*setting(n), "replace_one"), 3) == replace_one


def test_text_of_the_paper_with_10000_images_does_not_give_its_epsilon():
    assert round(epsilon_prv(*setting(10000 // 11)), 4) != 0.0852


@pytest.mark.parametrize("n", [130, 1024, 1090])
def test_bounds_are_ordered(n):
    add, replace = epsilon_pld(*setting(n)), epsilon_pld(*setting(n), "replace_one")
    # PRV adds an error allowance of 0.01 to the truth, RDP is looser still at these settings
    assert add <= epsilon_prv(*setting(n)) <= add + 0.0105
    assert add <= epsilon_rdp(*setting(n))
    # replacing costs more than adding; by group privacy of two never more than epsilon_group
    assert add <= replace <= epsilon_group(*setting(n)) <= 1.03 * replace


def test_unsampled_single_step_is_the_gaussian_mechanism():
    from math import erf, exp, sqrt

    def delta(epsilon, sensitivity, sigma):  # Balle and Wang 2018, Theorem 8
        def phi(x):
            return (1 + erf(x / sqrt(2))) / 2

        a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
        return phi(a - b) - exp(epsilon) * phi(-a - b)

    for adjacency, sensitivity in (("add_remove", 1), ("replace_one", 2)):
        epsilon = epsilon_pld(12, 1.0, 1, 1e-4, adjacency)
        assert delta(epsilon, sensitivity, 12) <= 1e-4
        assert delta(epsilon - 2e-4, sensitivity, 12) > 1e-4


def test_more_steps_and_less_noise_cost_more():
    base = epsilon_pld(12, 1 / 32, 160, 1e-4)
    assert epsilon_pld(12, 1 / 32, 320, 1e-4) > base
    assert epsilon_pld(6, 1 / 32, 160, 1e-4) > base
    assert epsilon_pld(12, 1 / 32, 160, 1e-5) > base


def test_costs_are_rounded_up_so_that_they_stay_bounds():
    schedule = poisson_schedule(1024, 32, 5)
    for cost in teacher_costs(schedule, 12, 1e-4):
        if cost.quantity == "epsilon_pld":
            exact = epsilon_pld(12, schedule.sample_rate, schedule.steps, 1e-4, cost.adjacency)
            assert 0 <= cost.epsilon - exact < 1.1e-9


def account(**changes):
    arguments = {
        "n_train": 11272,
        "K": 11,
        "training": TRAINING,
        "epsilon": 0.0892,
        "Delta": 1e-4,
        "stand_in": False,
    }
    return account_ensemble("mnist", **(arguments | changes))


def test_table_names_every_quantity_with_its_neighbours():
    rows = {(row["quantity"], row["adjacency"]): row for row in account()}
    assert set(rows) == {
        ("shard_size", ""),
        ("sample_rate", ""),
        ("steps", ""),
        ("noise_multiplier", ""),
        ("claimed_epsilon", "add_remove"),
        ("epsilon_prv", "add_remove"),
        ("epsilon_pld", "add_remove"),
        ("epsilon_pld", "replace_one"),
        ("epsilon_rdp", "add_remove"),
    }
    assert rows["shard_size", ""]["value"] == 1024
    assert rows["steps", ""]["value"] == 160
    assert all(row["source"] for row in rows.values())
    assert rows["epsilon_rdp", "add_remove"]["Delta"] == 1e-4


def test_claim_below_what_pld_proves_is_refused_in_one_line():
    account(epsilon=0.0792)
    with pytest.raises(ValueError, match=r"mnist: claimed epsilon = 0\.079 is below 0\.0791") as e:
        account(epsilon=0.079)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0, 0.1, 5, 1e-4), "noise_multiplier = 0"),
        ((12, 0, 5, 1e-4), "sample_rate = 0"),
        ((12, 1.5, 5, 1e-4), r"sample_rate = 1\.5"),
        ((12, 0.1, 0, 1e-4), "steps = 0"),
        ((12, 0.1, 5, 0), "Delta = 0"),
        ((12, 0.1, 5, 1.0), r"Delta = 1\.0"),
    ],
)
@pytest.mark.parametrize("accountant", [epsilon_prv, epsilon_pld, epsilon_rdp])
def test_values_out_of_range_are_refused(accountant, values, message):
    with pytest.raises(ValueError, match=message):
        accountant(*values)


def test_unknown_neighbours_are_refused():
    with pytest.raises(ValueError, match="adjacency = 'swap': must be one of add_remove"):
        epsilon_pld(12, 0.1, 5, 1e-4, "swap")
