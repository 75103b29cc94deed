"""The noise of a plan: its coins' probabilities, and the certificates that are of it or are not."""

import math
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import mpmath
import pytest
from mpmath import mp

from verify import verify

DIGITS = 120
NEAR = Fraction(1, 10**61)  # as near as bounds on an error function are


@pytest.fixture(autouse=True)
def any_work():
    verify.steps.allow(10**12)


def precise(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def exact(number):
    return Fraction(int(number * 10**100), 10**100)


# The chance of the class that trails by x scales, of two. Counts have normal noise or two-sided
# exponential noise, whose difference has the density (1 + |d|) e^-|d| / 4; a class weighs
# e^(n / scale); or it comes first in one of two orders, and is then taken with e^-x.
TRAILING = {
    "gaussian": lambda x: mpmath.ncdf(-x / mpmath.sqrt(2)),
    "laplace": lambda x: mpmath.quad(lambda d: (1 + d) * mpmath.exp(-d) / 4, [x, x + 9, mp.inf]),
    "exponential": lambda x: 1 / (1 + mpmath.exp(x)),
    "permute_and_flip": lambda x: mpmath.exp(-x) / 2,
}


@pytest.mark.parametrize("x", ["0", "1/1000", "1/3", "2", "17/2", "40"])
@pytest.mark.parametrize("name", TRAILING)
def test_the_chance_of_the_label_with_fewer_votes_lies_between_its_bounds(name, x):
    """Both of which are near."""
    low, high = verify.minority_probability(name, Fraction(x))
    with mp.workdps(DIGITS):
        chance = TRAILING[name](precise(Fraction(x)))
        off = mpmath.mpf(10) ** -100 * (name == "laplace")  # of the quadrature
        assert precise(low) - off <= chance <= precise(high) + off
    assert high - low <= NEAR


@pytest.mark.parametrize("loss", ["1/1000", "1", "30"])
@pytest.mark.parametrize("leak", ["0", "1/100000", "1/3"])
@pytest.mark.parametrize("K", [1, 2, 6, 7])
def test_each_rung_of_a_ladder_costs_its_epsilon_and_delta_and_no_more(K, leak, loss):
    """From the narrowest majority on, up to the rung at which nothing is left."""
    leak, loss = Fraction(leak), Fraction(loss)
    found = list(verify.rungs(K, loss, leak))
    assert len(found) == K // 2 + 1
    with mp.workdps(DIGITS):
        growth = exact(mpmath.exp(precise(loss)))
    # A tie is a fair coin; of one vote more than the other has, the label with more falls to it.
    before = [1 - found[0], *found] if K % 2 else found
    assert K % 2 or found[0] == Fraction(1, 2)
    for p, q in pairwise(before):
        assert 0 <= q <= Fraction(1, 2)
        assert abs(p - growth * q - leak) <= NEAR or (q == 0 and p <= leak + NEAR)


def plan_of(**changes):
    """A plan of two classes and four teachers, as far as certificates are compared with it."""
    plan = {
        "name": "gnmax_exact",
        "K": 4,
        "C": 2,
        "silent": False,
        "coin": ("gaussian", Fraction(3)),
    }
    plan |= {"loss": Fraction(1, 2), "leak": Fraction(1, 1000), "noise": {"sigma": Fraction(3)}}
    return SimpleNamespace(**(plan | changes))


@pytest.mark.parametrize("K", [1, 4, 5])
@pytest.mark.parametrize("name", [*TRAILING, "ladder"])
def test_a_coin_may_be_off_by_what_the_package_rounds_and_no_more(name, K):
    """A billionth of itself; of a ladder's coin, of what it is without the leak."""
    plan = plan_of(name=name, K=K, coin=(name, Fraction(3)))
    leads = list(range(K % 2, K + 1, 2))
    if name == "ladder":
        chances = list(verify.rungs(K, plan.loss, plan.leak))
        sizes = list(verify.rungs(K, plan.loss, Fraction(0)))
    else:
        with mp.workdps(DIGITS):
            chances = sizes = [exact(TRAILING[name](mpmath.mpf(lead) / 3)) for lead in leads]
    found = verify.minority_probability_bounds(plan)
    assert list(found) == leads
    for lead, chance, size in zip(leads, chances, sizes, strict=True):
        off = size / 10**9 + Fraction(1, 10**60)
        low, high = found[lead]
        assert abs(low - (chance - off)) <= NEAR
        assert abs(high - (chance + off)) <= NEAR


def coins_of(plan, end=0, **moved):
    """Coins of the plan, each at the low or high end of what is allowed, and some moved."""
    bounds = verify.minority_probability_bounds(plan)
    rows = []
    for ones in range(plan.K + 1):
        rows.append([int(2 * ones < plan.K), bounds[abs(2 * ones - plan.K)][end]])
    for ones, by in moved.items():
        rows[int(ones[1:])][1] += by
    return [[label, f"{p.numerator}/{p.denominator}"] for label, p in rows]


def refused(law, plan, why):
    with pytest.raises(ValueError, match=why):
        verify.check_noise(law, plan)


@pytest.mark.parametrize("K", [4, 5])
@pytest.mark.parametrize("name", [*TRAILING, "ladder"])
def test_coins_of_the_plan_are_accepted_to_the_ends_and_others_are_refused(name, K):
    plan = plan_of(name=name, K=K, coin=(name, Fraction(3)))
    why, hair = "a coin is not that of the plan's noise", Fraction(1, 10**300)
    for end, outwards in ((0, -hair), (1, hair)):
        rows = coins_of(plan, end)
        verify.check_noise({"name": "coins", "rows": rows}, plan)
        for ones in range(K + 1):
            refused(
                {"name": "coins", "rows": coins_of(plan, end, **{f"_{ones}": outwards})}, plan, why
            )
    for ones in range(K + 1):
        turned = [[1 - label if k == ones else label, p] for k, (label, p) in enumerate(rows)]
        if 2 * ones == K:  # a fair coin of a tie is the same either way
            verify.check_noise({"name": "coins", "rows": turned}, plan)
        else:
            refused({"name": "coins", "rows": turned}, plan, why)
    for others in (rows[:-1], [*rows, rows[-1]]):
        refused({"name": "coins", "rows": others}, plan, "the coins are of others")
    plan.C = 3
    refused({"name": "coins", "rows": rows}, plan, "the coins are of others")


def test_labels_of_continuous_noise_are_as_near_to_their_coins_as_is_said():
    plan = plan_of(silent=True)
    law = {"name": "coins", "rows": coins_of(plan, 1)}
    distance = verify.coin_total_variation(law["rows"], Fraction(3))
    for apart, holds in ((distance, True), (distance - Fraction(1, 10**300), False), (None, False)):
        said = law | ({} if apart is None else {"apart": f"{apart.numerator}/{apart.denominator}"})
        if holds:
            verify.check_noise(said, plan)
        else:
            refused(said, plan, "labels may be further from coins")
    plan.silent = False
    verify.check_noise(law, plan)


MAXIMUM = {"name": "gaussian_maximum", "teachers": 4, "classes": 3, "scale": "3/1"}
RANGE = {"name": "bounded_range", "range": "1/2"}
RESPONSE = {"name": "response", "epsilon": "1/2", "delta": "1/1000"}
SILENT = {"silent": True, "noise": {"sigma1": Fraction(9), "sigma2": Fraction(3)}, "C": 3}


@pytest.mark.parametrize(
    ("law", "plan", "others"),
    [
        (MAXIMUM, {"C": 3}, {"teachers": (3, 5), "classes": (2, 4), "scale": ("2/1", "4/1")}),
        (MAXIMUM, SILENT, {"scale": ("9/1", "2/1")}),
        (RANGE, {}, {"range": ("499/1000", "501/1000")}),
        (
            RESPONSE,
            {},
            {"epsilon": ("499/1000", "501/1000"), "delta": ("999/1000000", "1001/1000000", 0)},
        ),
    ],
)
def test_a_law_is_that_of_the_plan_s_labels(law, plan, others):
    """Neither of less, which would prove too little, nor of more."""
    plan = plan_of(**plan)
    verify.check_noise(law, plan)
    for field, values in others.items():
        for value in values:
            refused(law | {field: value}, plan, "the certificate is of other (noise|labels)")


def test_the_largest_of_two_counts_is_proven_by_its_coins():
    refused(MAXIMUM | {"classes": 2}, plan_of(), "the certificate is of other noise")


# What is noted of a plan's noise ------------------------------------------------------------------


def noted(check, *fields, name="exponential", C=2, labels=1, **task):
    task = {"epsilon": Fraction(2), "delta": Fraction(1, 100), "queries": 9} | task
    plan = SimpleNamespace(name=name, C=C, K=5, labels=labels, task=task, coin=None)
    check(plan, *fields)
    return plan


def test_coins_have_the_scale_of_the_plan_s_noise():
    half = Fraction(1, 2)
    assert noted(verify.note_gaussian_coin, 3).coin == ("gaussian", 3)
    assert noted(verify.check_threshold_queries, half, 9, 3, 9, None).coin == ("gaussian", 3)
    assert noted(verify.check_pure_scale, half, None).coin == ("laplace", 4)
    assert noted(verify.check_pure_scale, half, Fraction(4)).coin == ("laplace", 4)
    for name in ("exponential", "permute_and_flip"):
        plan = noted(verify.check_selection_rate, half, None, None, name=name)
        assert (plan.coin, plan.loss, plan.leak) == ((name, 4), half, 0)
        plan = noted(verify.check_selection_rate, half, half / 2, None, name=name)
        assert (plan.coin, plan.loss, plan.leak) == ((name, 4), half, 0)
        audited = noted(verify.check_selection_rate, Fraction(2), half, Fraction(1, 100), name=name)
        assert (audited.coin, audited.loss, audited.leak) == ((name, 2), 1, 0)
    ladder = noted(verify.check_leaky_label, half, Fraction(1, 100))
    assert (ladder.loss, ladder.leak) == (half, Fraction(1, 100))


@pytest.mark.parametrize("loss", [0.3, 1.0, math.pi, 1e-9, 7e5])
def test_a_rate_of_many_classes_is_rounded_down_to_thirty_bits(loss):
    found = noted(verify.check_selection_rate, Fraction(loss), None, None, C=3).loss
    assert Fraction(loss) * (1 - Fraction(1, 2**29)) < found <= Fraction(loss)
    numerator = found.numerator
    assert (numerator // (numerator & -numerator)).bit_length() <= 30


TWO, BILLIONTH = Fraction(2), Fraction(1, 10**9)
CENT, ABOVE = Fraction(1, 100), Fraction(10**18 + 1, 10**18)
LESS = 2 - ABOVE
NOISES = {
    # A check; fields that it takes; and fields that it refuses, with what the plan has otherwise.
    verify.check_pure_scale: (
        [(TWO, 1, {}), (TWO, 1 + BILLIONTH / 2, {})],
        [(TWO, LESS, {}), (TWO, (1 + BILLIONTH / 2) * ABOVE, {})],
    ),
    verify.check_selection_rate: (
        [(TWO, Fraction(1), None, {}), (TWO, Fraction(1), CENT, {})],
        [
            (TWO, Fraction(1) * ABOVE, None, {}),
            (TWO, Fraction(1) * LESS, None, {}),
            (TWO, None, CENT, {}),
            (TWO, Fraction(1), CENT, {"labels": 2}),
            (TWO, Fraction(1), CENT, {"C": 3}),
            (TWO * LESS, Fraction(1), CENT, {}),
            (TWO * ABOVE, Fraction(1), CENT, {}),
            (TWO, Fraction(1), CENT * LESS, {}),
            (TWO, Fraction(1), CENT * ABOVE, {}),
        ],
    ),
    verify.check_leaky_label: ([(TWO, CENT, {})], [(TWO, CENT, {"C": 3})]),
    verify.check_members: ([(1, {}), (5, {})], [(0, {}), (6, {})]),
    verify.check_threshold_queries: (
        [(CENT, TWO, TWO, 9, None, {})],
        [(CENT, TWO, TWO, 8, None, {}), (CENT, TWO, TWO, 10, None, {})],
    ),
}


@pytest.mark.parametrize("check", NOISES, ids=lambda check: check.__name__)
def test_fields_of_a_noise_agree_to_the_last_digit(check):
    taken, others = NOISES[check]
    for *fields, plan in taken:
        noted(check, *fields, **plan)
    for *fields, plan in others:
        with pytest.raises(ValueError, match=r"\w"):
            noted(check, *fields, **plan)


def noted_majority(m=TWO, K=5, delta=CENT, epsilon=Fraction(1, 3), Delta=CENT, **plan):
    plan = {"name": "darrm_sub", "K": 5, "C": 2, "task": {"delta": CENT}} | plan
    plan = SimpleNamespace(**plan, teacher_cost=lambda: (Fraction(1, 3), CENT))
    verify.check_noisy_majority(plan, m, K, delta, epsilon, Delta, None)
    return plan


def test_gamma_is_of_the_plan_s_teachers_and_delta():
    """A teacher's cost may be off by a billionth of itself."""
    assert noted_majority().members == 2
    off = (1 - BILLIONTH, 1 + BILLIONTH)
    taken = [{"m": m} for m in (1, 5)] + [{"Delta": CENT * by} for by in off]
    taken += [{"epsilon": Fraction(1, 3) * by} for by in off]
    for fields in taken:
        noted_majority(**fields)
    off = ((1 - BILLIONTH) * LESS, (1 + BILLIONTH) * ABOVE)
    others = [{"m": m} for m in (LESS, 5 * ABOVE)] + [{"Delta": CENT * by} for by in off]
    others += [{"epsilon": Fraction(1, 3) * by} for by in off]
    others += [{"K": 3}, {"K": 7}, {"C": 3}, {"delta": CENT * LESS}, {"delta": CENT * ABOVE}]
    for fields in others:
        with pytest.raises(ValueError, match=r"gamma|m is|teacher"):
            noted_majority(**fields)
    with pytest.raises(ValueError, match="or of an even number"):
        verify.check_noisy_majority(SimpleNamespace(K=4), TWO, 4, CENT, CENT, CENT, None)


# The certificate of a plan ------------------------------------------------------------------------


def proof_of(plan, body):
    verify.check_against_plan({"kind": "total"} | body, plan)


def charged(name, labels, queries=None, **changes):
    """A plan of three classes, which charges so many labels and thresholds."""
    noise = {"sigma": Fraction(3), "sigma1": Fraction(9), "sigma2": Fraction(3)}
    known = {"noise": noise, "proofs": verify.MECHANISMS[name][1], "silent": queries is not None}
    known |= {"charged_counts": (labels, queries), "task": {"reach": 1}, "C": 3}
    return plan_of(**({"name": name} | known | changes))


BLOCKS = {"theorem": "adaptive_labels", "law": MAXIMUM}


@pytest.mark.parametrize(
    ("plan", "right", "wrong"),
    [
        (
            charged("gnmax", 6),
            {"theorem": "discrete_counts", "counts": [{"times": 12, "scale": "3/1"}]},
            [
                {"counts": []},
                {"counts": [{"times": 6, "scale": "3/1"}]},
                {"counts": [{"times": 11, "scale": "3/1"}]},
                {"counts": [{"times": 13, "scale": "3/1"}]},
                {"counts": [{"times": 12, "scale": "4/1"}]},
                {"counts": [{"times": 12, "scale": "3/1"}, {"times": 1, "scale": "9/1"}]},
            ],
        ),
        (
            charged("confident_gnmax", 6, 8),
            {
                "theorem": "discrete_counts",
                "counts": [{"times": 12, "scale": "3/1"}, {"times": 8, "scale": "9/1"}],
            },
            [
                {"counts": [{"times": 12, "scale": "3/1"}]},
                {"counts": [{"times": 12, "scale": "9/1"}, {"times": 8, "scale": "3/1"}]},
                {"counts": [{"times": 12, "scale": "3/1"}, {"times": 7, "scale": "9/1"}]},
            ],
        ),
        (
            charged("confident_gnmax", 6, 8, noise={"sigma1": Fraction(3), "sigma2": Fraction(3)}),
            {"theorem": "discrete_counts", "counts": [{"times": 20, "scale": "3/1"}]},
            [
                {"counts": [{"times": 12, "scale": "3/1"}]},
                {"counts": [{"times": 8, "scale": "3/1"}]},
            ],
        ),
        (
            charged("gnmax_exact", 6),
            BLOCKS | {"blocks": [{"times": 2, "labels": 2}, {"times": 1, "labels": 2}]},
            [
                {"blocks": [{"times": 1, "labels": 5}]},
                {"blocks": [{"times": 1, "labels": 7}]},
                {"blocks": [{"times": 6, "labels": 6}]},
                {"counts": [{"times": 12, "scale": "3/1"}]},
            ],
        ),
        (
            charged("confident_gnmax_exact", 6, 8),
            BLOCKS
            | {"blocks": [{"times": 6, "labels": 1}], "counts": [{"times": 8, "scale": "9/1"}]},
            [{"counts": []}, {"counts": [{"times": 8, "scale": "3/1"}]}],
        ),
        (
            charged("permute_and_flip", 6),
            {"theorem": "loss_distribution", "law": RESPONSE, "labels": 6},
            [{"labels": 5}, {"labels": 7}],
        ),
    ],
    ids=[
        "counts",
        "thresholds and counts",
        "thresholds of one scale",
        "blocks",
        "thresholds and blocks",
        "labels",
    ],
)
def test_a_certificate_is_of_as_many_labels_and_counts_as_the_plan_charges(plan, right, wrong):
    proof_of(plan, right)
    for change in wrong:
        with pytest.raises(
            ValueError, match=r"is of (another number of labels|other noisy counts)"
        ):
            proof_of(plan, right | change)
    plan.task = {"reach": 2}
    with pytest.raises(ValueError, match="protects several ballots"):
        proof_of(plan, right)


@pytest.mark.parametrize("name", ["permute_and_flip", "exponential", "lnmax_pure", "ladder"])
def test_one_label_proves_nothing_of_two(name):
    plan = charged(name, 1, C=2, coin=(name.replace("lnmax_pure", "laplace"), Fraction(3)))
    law = {"name": "coins", "rows": coins_of(plan)}
    body = {"kind": "label", "theorem": "hockey_stick", "law": law}
    proof_of(plan, body)
    plan.charged_counts = (2, None)
    with pytest.raises(ValueError, match="of another number of labels"):
        proof_of(plan, body)


# As docs/certificates.md has them, and one label of a coin or of teachers whose cost is known.
COMPOSED, BOUGHT = ("loss_distribution", "response"), ("hockey_stick", "response")
COIN, COINS = ("hockey_stick", "coins"), ("adaptive_labels", "coins")
LARGEST, COUNTED = ("adaptive_labels", "gaussian_maximum"), ("discrete_counts", None)
PROOFS = {
    "gnmax": {COUNTED},
    "gnmax_analytic": {COUNTED},
    "confident_gnmax": {COUNTED},
    "gnmax_exact": {COIN, COINS, LARGEST},
    "confident_gnmax_exact": {COINS, LARGEST},
    "lnmax_pure": {COIN},
    "exponential": {COIN, COINS, COMPOSED, ("adaptive_labels", "bounded_range")},
    "permute_and_flip": {COIN, COINS, COMPOSED},
    "ladder": {COIN, COINS, COMPOSED},
    "darrm_sub": {("darrm_lemma_3.4", None), COMPOSED, BOUGHT},
    "darrm_opt": {("darrm_lemma_3.4", None), COMPOSED, BOUGHT},
    "committee": {COMPOSED, BOUGHT},
    "majority_private": {BOUGHT},
}


@pytest.mark.parametrize("name", verify.MECHANISMS)
def test_each_mechanism_is_proven_by_its_own_theorems_alone(name):
    """Whatever else a certificate says: the pairs of theorem and law are those of the list."""
    lists = [*PROOFS.values(), *(proofs for _, proofs in verify.MECHANISMS.values())]
    laws = {None, *(law for proofs in lists for _, law in proofs)}
    plan = plan_of(name=name, proofs=verify.MECHANISMS[name][1], task={"reach": 1})
    plan.charged_counts = (1, None)
    for kind, theorem in verify.THEOREMS:
        for law in laws:
            body = {"kind": kind, "theorem": theorem}
            body |= {} if law is None else {"law": {"name": law}}
            try:
                verify.check_against_plan(body, plan)
                known = True
            except ValueError as reason:
                known = "is not proven so" not in str(reason)
            except (KeyError, AttributeError):  # something else of it is then looked for
                known = True
            assert known == ((theorem, law) in PROOFS[name])


def teachers_of(name, labels, members, kind):
    plan = plan_of(name=name, K=5, labels=labels, members=members)
    plan.noise = {"kind": kind, "m": members}
    plan.teacher_cost = lambda: (Fraction(1, 2), Fraction(1, 1000))
    return plan


GAMMA = {"K": 5, "m": 3, "epsilon": "1/2", "Delta": "1/1000"}
TEACHERS = {"labels": 3, "law": RESPONSE}


@pytest.mark.parametrize(
    ("plan", "right", "wrong"),
    [
        (
            ("darrm_opt", 1, 3, "NoisyMajority"),
            GAMMA,
            [
                *({"K": K} for K in (3, 7)),
                *({"m": m} for m in (2, 4)),
                {"epsilon": "499/1000"},
                {"Delta": "999/1000000"},
            ],
        ),
        (
            ("darrm_sub", 1, 3, "NoisyMajority"),
            TEACHERS,
            [
                *({"labels": labels} for labels in (2, 4)),
                {"law": RESPONSE | {"epsilon": "499/1000"}},
                {"law": RESPONSE | {"delta": "999/1000000"}},
            ],
        ),
        (("committee", 4, 3, "Members"), TEACHERS, [{"labels": 2}, {"labels": 4}]),
        (("majority_private", 4, 1, "Answers"), {"law": RESPONSE}, [{"labels": 2}]),
    ],
    ids=["gamma", "some teachers", "a committee", "one teacher"],
)
def test_a_certificate_is_of_as_many_teachers_as_answer_and_of_no_cheaper_ones(plan, right, wrong):
    plan = teachers_of(*plan)
    dearer = {"epsilon": "2/3", "Delta": "1/2"}
    if "law" in right:
        dearer = {"law": RESPONSE | {"epsilon": "2/3", "delta": "1/2"}}
    for body in (right, right | dearer):
        verify.check_teachers(body, body.get("law"), plan)
    for change in wrong:
        body = right | change
        with pytest.raises(ValueError, match=r"teachers|gamma"):
            verify.check_teachers(body, body.get("law"), plan)


@pytest.mark.parametrize(
    ("name", "labels", "members", "holds"),
    [
        ("darrm_sub", 1, 3, True),
        ("darrm_sub", 2, 3, False),
        ("darrm_sub", 2, 5, True),
        ("darrm_opt", 1, 3, False),
        ("darrm_opt", 2, 5, True),
    ],
)
def test_some_teachers_answer_one_label_of_subsampling_alone(name, labels, members, holds):
    plan = teachers_of(name, labels, members, "NoisyMajority")
    body = TEACHERS | {"labels": members}
    if holds:
        verify.check_teachers(body, RESPONSE, plan)
    else:
        with pytest.raises(ValueError, match="gamma is of all teachers"):
            verify.check_teachers(body, RESPONSE, plan)


def test_gamma_is_of_one_label():
    with pytest.raises(ValueError, match="gamma is another one"):
        verify.check_teachers(GAMMA, None, teachers_of("darrm_opt", 2, 3, "NoisyMajority"))
