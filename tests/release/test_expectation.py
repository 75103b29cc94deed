"""What labels are worth, before one is drawn: from plan and profile, and never from the votes."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.accounting.budgets import disjoint_shards_majority_cost
from private_ensembles.base.limits import MOST_TEACHERS
from private_ensembles.labels.planner import planning
from private_ensembles.labels.planner.defaults import ASSUMED_PROFILE
from private_ensembles.labels.profile import ConsensusProfile
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Task,
    Wanted,
)
from private_ensembles.release import expectation, own_votes
from private_ensembles.release.api import release_labels
from private_ensembles.release.expectation import LEAST_USEFULNESS, max_attack_accuracy
from private_ensembles.release.pool import Pool

# Forty hospitals and seven diagnoses.
HOSPITAL = Task(
    Ensemble(40, 7),
    Budget(2.0, 1e-5),
    Wanted(300),
    Protection.disjoint("patient"),
    secure=True,
    profile=ConsensusProfile(7, **ASSUMED_PROFILE),
)


def expect(task, name="gnmax_exact"):
    (plan,) = planning.rank_on_profile(task, [name], 0)
    assert plan.refusal is None
    return expectation.expect_labels(task, plan, 0)


def labels(number, **more):
    budget = Budget(more.pop("epsilon", HOSPITAL.budget.epsilon), HOSPITAL.budget.delta)
    return replace(HOSPITAL, budget=budget, wanted=Wanted(number), **more)


@pytest.mark.parametrize(
    ("task", "right"),
    [(labels(2000), 0.207), (labels(300), 0.335), (labels(300, epsilon=0.001), 0.143)],
    ids=["2,000 labels", "300 labels", "epsilon 0.001"],
)
def test_labels_of_which_less_than_half_is_left_stop(task, right):
    expected = expect(task)
    assert expected.accuracy == pytest.approx(right, abs=0.02)
    assert not expected.useful
    with pytest.raises(ValueError, match=r"^usefulness = 0\.\d\d: must be at least 0\.5") as stop:
        expected.require_useful(allow="--anyway")
    assert "\n" not in str(stop.value)
    assert str(stop.value).endswith("or allow it with --anyway")


@pytest.mark.parametrize("number", [5, 10, 20])
def test_few_labels_of_the_same_ensemble_are_useful(number):
    expected = expect(labels(number))
    assert expected.useful
    assert expected.accuracy > expected.teacher_accuracy
    assert expected.cautions() == []
    expected.require_useful(allow="never asked for")


def test_what_is_expected_is_what_comes_out():
    """Labels drawn from votes of the profile, against the truth: five standard errors."""
    task = labels(2000, epsilon=8.0, secure=False)
    (plan,) = planning.rank_on_profile(task, ["gnmax_exact"], 0)
    expected = expectation.expect_labels(task, plan, 0)
    counts, truth = planning.profile_votes(task, 1)  # others than those it was planned on
    given = {"mechanism": "gnmax_exact", "rehearsal": Rehearsal(seed=1)}
    with pytest.warns(UserWarning, match="usefulness"):
        found = release_labels(counts, (8.0, 1e-5), task.protection, **given)
    right = (found.labels == truth).mean()
    assert abs(right - expected.accuracy) < 5 * math.sqrt(2 * 0.25 / 2000)
    assert abs((counts.argmax(axis=1) == truth).mean() - expected.plurality_accuracy) < 0.06
    assert found.expectation == expected


def test_usefulness_is_1_without_noise_and_0_if_noise_drowns_all():
    assert expect(labels(5, epsilon=50.0)).usefulness == pytest.approx(1, abs=0.02)
    assert expect(labels(300, epsilon=0.001)).usefulness == pytest.approx(0, abs=0.02)


def test_teachers_that_know_nothing_are_of_no_use():
    profile = ConsensusProfile(7, **ASSUMED_PROFILE | {"commonest": 0.97})
    expected = expect(labels(5, profile=profile))
    assert expected.guessing_accuracy == 0.97
    assert not expected.useful
    assert "no better than guessing" in expected.cautions()[-1]


def test_a_stated_commonest_class_is_harder_to_beat():
    """Sixty labels are right 70 % of the time: more than 1 in 7, and hardly more than 67 %."""
    stated = expect(
        labels(60, profile=ConsensusProfile(7, **ASSUMED_PROFILE | {"commonest": 0.67}))
    )
    alike = expect(labels(60))
    assert abs(stated.accuracy - alike.accuracy) < 0.03
    assert alike.useful
    assert not stated.useful
    assert "the commonest class alone 40 times" in stated.summary_lines()[0]
    assert "guessing 9 times" in alike.summary_lines()[0]


def test_the_most_labels_that_stay_right_are_found():
    expected = expect(labels(300))
    best = expect(labels(expected.max_good_labels))
    more = expect(labels(round(1.3 * expected.max_good_labels)))
    assert best.accuracy == pytest.approx(0.8, abs=0.025)
    assert more.accuracy < best.accuracy
    assert expect(labels(5)).max_good_labels == 5
    assert expect(labels(300, epsilon=0.001)).max_good_labels == 0
    assert expect(labels(300), "confident_gnmax").max_good_labels > 0


def test_advice_is_what_it_says_and_the_best_comes_first():
    task = labels(300)
    expected = expect(task)
    private, twice = expected.advice
    assert private.correct > twice.correct > expected.correct
    assert len(expected.summary_lines()) == 4
    # Twice the budget, planned in full.
    assert twice.correct == pytest.approx(expect(labels(300, epsilon=4.0)).correct, rel=0.02)
    # Teachers that cost so much keep the budget without noise.
    epsilon, delta = (
        float(part.partition(" = ")[2].split(" ")[0].rstrip(","))
        for part in private.what.split("at ")[1].split(", ")[:2]
    )
    cost = disjoint_shards_majority_cost(epsilon, delta, "replace_one")
    assert 1.9 < cost.epsilon <= 2
    assert cost.delta <= 1e-5
    trained = replace(HOSPITAL.ensemble, private=Budget(epsilon, delta))
    assert expect(labels(300, ensemble=trained), "majority_private").correct == pytest.approx(
        private.correct
    )


def test_no_private_teachers_are_offered_to_who_has_them_or_could_not_use_them():
    for more in (
        {"protection": Protection.disjoint(reach=2)},
        {"ensemble": replace(HOSPITAL.ensemble, private=Budget(0.5, 1e-8))},
    ):
        found = expect(labels(300, **more))
        assert [advice.what for advice in found.advice if "DP-SGD" in advice.what] == []


def test_what_helps_nothing_is_no_advice():
    assert expect(labels(5, epsilon=50.0)).advice == ()


@pytest.mark.parametrize("epsilon", [50.1, 60.0, 100.0])
def test_twice_the_budget_is_advice_and_no_condition(epsilon):
    """It raised, as no budget is above 100, and nothing was planned or released."""
    found = expect(replace(labels(5, epsilon=epsilon), secure=False), "gnmax_analytic")
    assert found.useful
    assert not any("budget" in advice.what for advice in found.advice)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"epsilon": 10.0}, []),
        ({"epsilon": 11.0}, ["a bet on one patient that was 50:50 may be right more"]),
        ({"delta": 1e-4}, []),
        ({"delta": 1e-3}, ["publishing all data of one patient in 1,000"]),
        (
            {"delta": 0.1},
            ["is above 1/40, so that it even allows publishing all data of one of the 40"],
        ),
        ({"delta": 1 / 40}, ["publishing all data of one patient in 40,"]),
        ({"delta": math.nextafter(1 / 40, 1)}, ["is above 1/40"]),
        ({"epsilon": 100.0, "delta": 0.1}, ["odds of 2.6882e+43 : 1", "is above 1/40"]),
    ],
)
def test_a_budget_that_promises_little_is_put_in_words(change, says):
    found = expectation.budget_warnings(Task.from_dict(HOSPITAL.to_dict() | change))
    assert len(found) == len(says)
    assert all(text in one for text, one in zip(says, found, strict=True))


def test_nobody_is_right_more_often_than_is_said():
    """Randomised response with a leak reaches the bound, and the best test of it no more."""
    for epsilon, delta in ((0.5, 0.0), (2.0, 1e-5), (3.0, 0.2)):
        truth, lie = math.exp(epsilon) / (1 + math.exp(epsilon)), 1 / (1 + math.exp(epsilon))
        one = np.array([delta, (1 - delta) * truth, (1 - delta) * lie, 0])
        other = one[::-1]
        assert (one - math.exp(epsilon) * other).clip(0).sum() == pytest.approx(delta)
        best = np.maximum(one, other).sum() / 2
        assert max_attack_accuracy(epsilon, delta) == pytest.approx(best)
    assert max_attack_accuracy(1000.0, 0.0) == 1


def test_that_a_release_stops_says_nothing_about_the_votes(monkeypatch):
    """Whatever the votes, the same words; and nobody has drawn."""
    monkeypatch.setattr(own_votes, "draw_labels", lambda *_: pytest.fail("drawn"))
    said = set()
    for counts in (np.tile([40, 0, 0], (100, 1)), np.tile([13, 13, 14], (100, 1))):
        with pytest.raises(ValueError, match=r"^usefulness = ") as stop:
            release_labels(counts, (0.5, 1e-5), Protection.disjoint())
        said.add(str(stop.value))
    assert len(said) == 1
    assert said.pop().endswith("or allow it with anyway=True")


def test_the_door_itself_is_closed_to_what_is_of_no_use():
    """Also for a caller that did not ask what to expect."""
    counts = np.tile([20, 20], (100, 1))
    task = Task(Ensemble(40, 2), Budget(0.1, 1e-5), Wanted(100), secure=True, counts_only=True)
    task = replace(task, profile=ConsensusProfile(2, **ASSUMED_PROFILE))
    application = own_votes.choose_mechanism(task, ["gnmax_exact"], 0)
    votes = own_votes.Votes(2, np.full(100, -1), counts=counts)
    with pytest.raises(ValueError, match=r"^usefulness = "):
        own_votes.charge_and_release(application, Pool(votes), 0)
    assert (
        len(
            own_votes.charge_and_release(
                application, Pool(votes), 0, anyway=True
            ).label_of_each_query(100)
        )
        == 100
    )


def test_anyway_and_a_rehearsal_go_on_with_a_warning():
    counts = np.tile([13, 13, 14], (100, 1))
    released = {"protection": Protection.disjoint(), "anyway": True}
    for more in (released, {"rehearsal": Rehearsal()}):
        with pytest.warns(UserWarning, match=r"^usefulness = ") as told:
            found = release_labels(counts, (0.5, 1e-5), mechanism="gnmax_analytic", **more)
        assert told[0].filename == __file__
        assert not found.expectation.useful
        assert found.protection == Protection.disjoint()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release_labels(counts, (9.0, 1e-5), Protection.disjoint())


def test_a_report_holds_what_is_said():
    found = expect(labels(300))
    report = found.report()
    assert report["right"] == found.correct
    assert report["usefulness"] < report["least_usefulness"] == LEAST_USEFULNESS
    assert report["labels_80_percent_right"] == found.max_good_labels
    assert report["one_teacher_right"] == pytest.approx(300 * found.teacher_accuracy)
    assert [advice["right"] for advice in report["advice"]] == [a.correct for a in found.advice]
    assert report["warnings"] == found.cautions()


@pytest.mark.parametrize(
    "name", ["permute_and_flip", "ladder", "confident_gnmax_exact", "committee"]
)
def test_every_kind_of_mechanism_has_an_expectation(name):
    shared = name == "committee"
    task = replace(
        HOSPITAL,
        ensemble=replace(HOSPITAL.ensemble, classes=2),
        secure=False,
        profile=ConsensusProfile(2, **ASSUMED_PROFILE),
    )
    if shared:
        task = replace(
            task,
            ensemble=replace(task.ensemble, private=Budget(0.3, 0.0)),
            protection=Protection.shared("patient"),
        )
    found = expect(task, name)
    assert 0 <= found.usefulness <= 1.05
    assert len(found.summary_lines()) <= 4


def test_a_million_teachers_are_not_told_what_one_more_would_give():
    """It raised, as more are not planned for, and nothing was released."""
    crowd = replace(HOSPITAL.ensemble, teachers=MOST_TEACHERS)
    task = replace(HOSPITAL, ensemble=crowd, wanted=Wanted(1))
    found = expect(task, "permute_and_flip")
    assert "with one more teacher as good as these" not in {advice.what for advice in found.advice}


def test_the_profile_that_nobody_stated_is_called_so_wherever_it_speaks():
    """For three ensembles of 40 models it promised 74, 46 and 82 %; 76, 36 and 47 % came."""
    assumed = expect(labels(300))
    called = "an assumed profile, not yours"
    assert assumed.summary_lines()[0].startswith(
        f"expected on {called} (for yours: --profile-from): 103 "
    )
    assert assumed.report()["profile"] == called
    assert f"know on {called} (" in assumed.cautions()[0]
    stated = replace(HOSPITAL.profile, easy=(30.0, 2.0))
    known = expect(labels(300, profile=stated))
    assert known.summary_lines()[0].startswith("expected on the stated profile: ")
    assert known.report()["profile"] == "the stated profile"
    assert "stated profile" in known.cautions()[0]


def test_one_teacher_s_answers_are_said_to_be_no_private_labels():
    (caution,) = [text for text in expect(labels(90)).cautions() if "one teacher" in text]
    assert caution.endswith(
        "right more often than these labels, but its own answers are not private"
    )


def known(correct, answers=100.0, *, teacher=0.125, guessing=0.25, plurality=0.75):
    """An expectation of which the shares are said."""
    return expectation.Expectation(
        wanted=100,
        answers=answers,
        correct=correct,
        guessing_accuracy=guessing,
        teacher_accuracy=teacher,
        plurality_accuracy=plurality,
        profile=HOSPITAL.profile,
        max_good_labels=None,
        advice=(),
        warnings=(),
    )


@pytest.mark.parametrize(
    ("found", "accuracy", "usefulness"),
    [
        (known(75.0), 0.75, 1.0),
        (known(50.0), 0.5, 0.5),
        (known(5.0, 8.0), 0.625, 0.75),
        (known(25.0), 0.25, 0.0),
        (known(10.0), 0.1, 0.0),  # worse than guessing is of no use, and of none below that
        (known(100.0), 1.0, 1.5),
        (known(0.0, 0.0), 0.25, 0.0),  # without labels there is guessing
        (known(50.0, plurality=0.25), 0.5, 0.0),
        (known(50.0, plurality=0.125), 0.5, 0.0),
    ],
)
def test_usefulness_is_where_labels_lie_between_guessing_and_the_plurality(
    found, accuracy, usefulness
):
    assert (found.accuracy, found.usefulness) == (accuracy, usefulness)
    assert found.useful == (usefulness >= 0.5)
    if found.useful:
        found.require_useful(allow="never asked for")
    else:
        with pytest.raises(ValueError, match="nothing was drawn or charged"):
            found.require_useful(allow="anyway=True")
    report = found.report()
    assert (report["useful"], report["answers"], report["right"]) == (
        found.useful,
        found.answers,
        found.correct,
    )
    shares = {"guessing_right": 0.25, "one_teacher_right": 0.125}
    shares["plurality_right"] = found.plurality_accuracy
    for name, share in shares.items():
        assert report[name] == share * found.answers


def test_half_of_what_teachers_know_is_enough_and_less_is_not():
    assert known(50.0).useful
    assert not known(math.nextafter(50.0, 0)).useful


def test_one_teacher_is_named_if_it_is_right_more_often_and_labels_are_of_use():
    for teacher, said in ((0.5, False), (math.nextafter(0.5, 1), True), (0.9, True)):
        assert (
            any("one teacher alone" in text for text in known(50.0, teacher=teacher).cautions())
            == said
        )
    (caution,) = known(40.0, teacher=0.9).cautions()
    assert caution.startswith("usefulness = 0.30")
    assert known(40.0, teacher=0.9).cautions(stops=True) == []
