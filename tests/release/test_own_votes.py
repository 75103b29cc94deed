"""Own votes: the plan looks at their size only, and the labels follow the plan."""

from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.labels.task import Protection
from private_ensembles.labels.votes import Votes
from private_ensembles.release import (
    own_votes,
    pool,
    release_plan,
    transaction,
)

SETTINGS = {
    "mechanisms": ["gnmax", "confident_gnmax", "permute_and_flip", "majority_private"],
    "privacy_model": "shared_data",  # who is protected goes before it
    "adjacency": "replace_one",
    "teacher_epsilon": None,
    "teacher_Delta": 0,
    "teachers": 250,
    "n_classes": 10,
    "queries": 1000,
    "labels": 500,
    "profile": {"easy_share": 0.7, "easy": [20, 2], "hard": [2, 2], "confusion": 1},
}
PATIENT = Protection.disjoint("patient")
BUDGET = {"epsilon": 5.0, "delta": 1e-5, "labels_wanted": 30, "noise": "reproducible"}


def votes(seed, n_queries=50):
    generator = np.random.default_rng(seed)
    counts = generator.multinomial(80, [0.8, 0.1, 0.1], n_queries)
    return Votes(3, np.zeros(n_queries, dtype=np.int64), counts=counts)


def test_the_plan_is_the_same_for_all_votes_of_one_size():
    plans = [own_votes.plan_for(votes(seed), SETTINGS, BUDGET, PATIENT, seed=1) for seed in (0, 1)]
    tables = [own_votes.public_table(one) for one in plans]
    assert tables[0].equals(tables[1])
    assert tables[0]["chosen"].tolist() == [True, False, False, False]
    task = plans[0].task
    assert (
        task.wanted.queries,
        task.wanted.labels,
        task.ensemble.teachers,
        task.ensemble.classes,
    ) == (50, 30, 80, 3)


def test_curves_are_the_same_for_all_votes_and_of_the_two_best():
    plans = [own_votes.plan_for(votes(seed), SETTINGS, BUDGET, PATIENT, seed=1) for seed in (0, 1)]
    one, two = (own_votes.labels_and_budgets_table(plan, seed=1) for plan in plans)
    assert one.equals(two)
    table = own_votes.public_table(plans[0])
    assert list(dict.fromkeys(one["mechanism"])) == table["mechanism"].tolist()[:2]
    assert (one["epsilon"] <= one["budget_epsilon"]).all()
    at = one[(one["wanted"] == 30) & (one["budget_epsilon"] == 5)].drop_duplicates("mechanism")
    assert at["correct"].tolist() == table["correct"].tolist()[:2]
    assert (one["chosen"] == (one["mechanism"] == plans[0].chosen.mechanism)).all()


def test_labels_released_are_those_paid_for_and_the_seed_s():
    given = votes(0)
    plan = own_votes.plan_for(given, SETTINGS, BUDGET, PATIENT, seed=1)
    released = own_votes.draw_labels(plan, given, seed=1)
    assert 0 < (released >= 0).sum() <= 30
    assert released.tolist() == own_votes.draw_labels(plan, given, seed=1).tolist()
    table = transaction.Labels(pool.labels_text(released)).table()
    assert table["query"].tolist() == np.flatnonzero(released >= 0).tolist()
    assert set(table["label"]) <= {0, 1, 2}


def test_noise_is_secure_where_the_budget_says_so(monkeypatch):
    given = votes(0)
    plan = own_votes.plan_for(given, SETTINGS, BUDGET | {"noise": "secure"}, PATIENT, seed=1)
    monkeypatch.setattr(own_votes, "SeededNoise", lambda _: pytest.fail("a seed"))
    released = own_votes.draw_labels(plan, given, seed=1)
    assert 0 < (released >= 0).sum() <= 30
    with pytest.raises(pytest.fail.Exception, match="a seed"):
        own_votes.draw_labels(replace(plan, task=replace(plan.task, secure=False)), given, seed=1)


def test_what_votes_say_is_not_for_release_and_agrees_with_the_labels():
    given = votes(0)
    plan = own_votes.plan_for(given, SETTINGS, BUDGET, PATIENT, seed=1)
    table = own_votes.private_table(plan, given).set_index("mechanism")
    assert "majority_private" not in table.index  # it does not apply
    assert set(table["release"]) == {"not for release"}
    # The plurality is the label of the file on nearly every query.
    np.testing.assert_allclose(table["agreeing"], table["correct"], rtol=0.05)
    # No number that looks as if it might be published: no cost, sanitised or not.
    assert [name for name in table if "epsilon" in name or "sanitized" in name] == []
    unknown = replace(given, labels=np.full(50, -1))
    assert own_votes.private_table(plan, unknown)["correct"].isna().all()


@pytest.mark.parametrize("wanted", [-1, 0, 51])
def test_labels_wanted_are_a_number_of_queries(wanted):
    """In particular, to want 0 labels is not to want all of them."""
    message = rf"labels_wanted = {wanted}: must be at least 1 and at most .* 50"
    with pytest.raises(ValueError, match=message):
        own_votes.plan_for(votes(0), SETTINGS, BUDGET | {"labels_wanted": wanted}, PATIENT, seed=1)


def test_a_budget_that_no_mechanism_serves_is_refused():
    nothing = SETTINGS | {"mechanisms": ["majority_private"]}
    with pytest.raises(ValueError, match="no mechanism applies: majority_private: needs"):
        own_votes.plan_for(votes(0), nothing, BUDGET, PATIENT, seed=1)


def test_a_chosen_mechanism_that_does_not_apply_releases_nothing():
    given = votes(0)
    plan = own_votes.plan_for(given, SETTINGS, BUDGET, PATIENT, seed=1)
    wrong = replace(
        plan,
        task=replace(plan.task, protection=Protection.shared()),
    )
    with pytest.raises(ValueError, match="private for disjoint_shards only"):
        own_votes.draw_labels(wrong, given, seed=1)


@pytest.mark.parametrize("noise", ["secure", "reproducible"])
def test_one_committee_answers_own_votes_of_private_teachers_that_share_data(noise):
    """Every teacher votes for its own class alone, so that the members show."""
    settings = SETTINGS | {"mechanisms": ["committee", "darrm_sub"]}
    settings |= {"teacher_epsilon": 0.9}
    shared = Protection.shared(adjacency="add_remove")
    given = Votes(9, np.full(200, -1), np.tile(np.arange(9), (200, 1)))
    budget = BUDGET | {"epsilon": 1.0, "labels_wanted": 150, "noise": noise}
    plan = own_votes.plan_for(given, settings, budget, shared, seed=1)
    assert plan.chosen.mechanism == "committee"
    released = own_votes.draw_labels(plan, given, seed=1)
    assert len(set(released[:150])) == 1
    assert set(released[150:]) == {-1}
    table = own_votes.public_table(plan)
    assert table["epsilon"][0] == pytest.approx(0.9, rel=1e-4)
    # Counts do not show which teacher said what.
    counted = Votes(9, given.labels, counts=given.histogram())
    with pytest.raises(ValueError, match="committee: needs each teacher's votes, not counts"):
        own_votes.plan_for(counted, settings, budget, shared, seed=1)


def test_how_long_it_takes_is_told_before_the_plan(monkeypatch):
    told = []
    monkeypatch.setattr(own_votes.ranking, "rank_mechanisms", lambda *_: pytest.fail("planned"))

    def stop(seconds):
        told.append(seconds)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        own_votes.plan_for(votes(0), SETTINGS, BUDGET, PATIENT, seed=1, announce_seconds=stop)
    assert 0.1 < told[0] < 60


def test_facts_stand_in_the_terms_and_among_what_may_be_published():
    plan = own_votes.plan_for(votes(0), SETTINGS, BUDGET, PATIENT, seed=1)
    assert plan.task.protection.privacy_model == "disjoint_shards"
    terms = release_plan.read_plan(own_votes.plan_of(plan).to_json())
    assert terms.task.protection == PATIENT
    assert own_votes.public_facts(plan)["unit"] == "patient"


def test_shared_data_of_plain_teachers_is_refused_with_what_would_help():
    with pytest.raises(ValueError, match=r"^shards = shared: no mechanism .* DP-SGD") as caught:
        own_votes.plan_for(votes(0), SETTINGS, BUDGET, Protection.shared(), seed=1)
    assert "teacher_epsilon = ..." in str(caught.value)
    assert "\n" not in str(caught.value)
