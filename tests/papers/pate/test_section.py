"""The section `pate`: one line for each mistake that spans several keys, and its slices."""

import pytest

from private_ensembles.papers.pate.orders import order_grid
from private_ensembles.run.check import ConfigError, check
from private_ensembles.run.configuration import Configuration
from private_ensembles.training.teachers.training import poisson_schedule
from tests.run.shipped import DEFAULT, GONE, assert_refused, changed

ROUND = {"threshold": 40, "sigma1": 30, "sigma2": 8}
ROUNDS = {
    "student_accuracy": 0.7,
    "student_score": 0.9,
    "first": {"queries": 300, **ROUND},
    "second": {"queries": 298, **ROUND},
    "printed": {"answers": 1, "order": 2, "beta": [0.1, 0.1], "sigma_ss": [9, 9]},
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"pate.tasks.mnist.dataset": "cifar"},
            "pate.tasks.mnist.dataset = 'cifar': must be one of those under datasets, since kind "
            "is plain: mnist, ",
        ),
        (
            {"pate.tasks.glyph.dataset": "mnist-10"},
            "pate.tasks.glyph.dataset = 'mnist-10': must be one of those under synthetic_votes, "
            "since kind is synthetic: glyph",
        ),
        ({"pate.tasks.glyph.kind": "plain"}, "glyph.dataset = 'glyph': must be one of those under"),
        ({"synthetic_votes": {}}, "glyph.dataset = 'glyph': must be one of those under synthetic_"),
        ({"pate.tasks.mnist.teachers": GONE}, "pate.tasks.mnist.teachers = null: must be given,"),
        (
            {"pate.tasks.adult.teachers": DEFAULT["pate"]["tasks"]["mnist"]["teachers"]},
            "must be left out if kind is forest",
        ),
        ({"pate.tasks.mnist.kind": "private"}, "mnist.kind = 'private': must be one of plain, "),
        (
            {"pate.tasks.adult.dataset": "mnist-10"},
            "adult.dataset = 'mnist-10': must be one that holds a table, since kind is forest",
        ),
        ({"pate.tasks.mnist.dataset": "adult"}, "dataset = 'adult': must be one that holds images"),
        ({"pate.tasks.adult.student": "vat"}, "student = 'vat': must be null or forest for adult"),
        (
            {"pate.tasks.mnist.student": "forest"},
            "pate.tasks.mnist.student = 'forest': must be null or vat for mnist-10",
        ),
        ({"pate.tasks.glyph.student": "vat"}, "pate.tasks.glyph.student = 'vat': must be null,"),
        (
            {"pate.tasks.adult.student_parameters": {"epochs": 2}},
            "pate.tasks.adult.student_parameters = {'epochs': 2}: must be left out if",
        ),
        (
            {"pate.tasks.digits.pool": 797},
            "pate.tasks.digits.pool = 797: must be below datasets.digits-10.n_test = 797",
        ),
        (
            {"data": "paper", "pate.tasks.svhn.student": None, "pate.tasks.svhn.pool": 26033},
            "pate.tasks.svhn.pool = 26033: must be at most datasets.svhn.n_test = 26032",
        ),
        (
            {"synthetic_votes.glyph.n_queries": 24999},
            "glyph.pool = 25000: must be at most synthetic_votes.glyph.n_queries = 24999",
        ),
        (
            {"pate.tasks.digits.K": 1001},
            "pate.tasks.digits.K = 1001: must be at most datasets.digits-10.n_train = 1000",
        ),
        (
            {"pate.tasks.mnist.confident.queries": 9001},
            "confident.queries = 9001: must be at most pate.tasks.mnist.pool = 9000",
        ),
        (
            {"pate.tasks.mnist.lnmax.queries": [100, 9001]},
            "lnmax.queries[1] = 9001: must be at most pate.tasks.mnist.pool = 9000",
        ),
        (
            {"pate.tasks.glyph.two_rounds.second.queries": 19001},
            "pate.tasks.glyph.two_rounds.second.queries = 19001: must be at most "
            "pate.tasks.glyph.pool = 25000 together with the first round's 6000",
        ),
        (
            {"pate.tasks.glyph.two_rounds.printed.beta": [0.1]},
            "two_rounds.printed.beta = [0.1]: must be a list of 2 values",
        ),
        (
            {"pate.tasks.glyph.two_rounds.printed.sigma_ss": [1, 0]},
            "two_rounds.printed.sigma_ss[1] = 0: must be a number > 0",
        ),
        (
            {"pate.tasks.mnist.dataset": "mnist", "pate.tasks.mnist.pool": 1000},
            "pate.tasks.mnist.dataset = 'mnist': must be another data set than DaRRM's",
        ),
        (
            {"pate.students.vat": {"method": "supervised"}},
            "pate.students.vat.method = 'supervised': must be left out",
        ),
        ({"pate.baselines.vat": {}}, "pate.baselines.vat.method = null: must be given"),
        (
            {"pate.figure1": ["mnist", "mnsit"]},
            "pate.figure1[1] = 'mnsit': must be one of the tasks that have a student: mnist, svhn, "
            "adult, digits",
        ),
        ({"pate.figure1": ["glyph"]}, "pate.figure1[0] = 'glyph': must be one of the tasks that"),
        (
            {"pate.figure4.laplace_teachers": 999},
            "figure4.laplace_teachers = 999: must be one of pate.figure4.teachers: 100, 500, 1000,",
        ),
        (
            {"pate.figure4.queries": 25001},
            "pate.figure4.queries = 25001: must be at most synthetic_votes.glyph.n_queries = 25000",
        ),
        ({"pate.figure5.queries": 25001}, "figure5.queries = 25001: must be at most synthetic"),
        (
            {"synthetic_votes": {}, "pate.tasks.glyph": None},
            "must be null if synthetic_votes has no glyph",
        ),
        (
            {"pate.orders": {"order_max": 1.5, "order_step": 0.5}},
            "pate.orders.order_max = 1.5: must be above 1 + order_step = 1.5",
        ),
        (
            {"pate.tasks.mnist.dataset": "pate-2017"},
            "pate.tasks.mnist.dataset = 'pate-2017': must be one that holds images, since kind",
        ),
        (
            {"pate.tasks.mnist.recipe": "pate-2018-code"},
            "recipe = 'pate-2018-code': must be null or one of pate.tasks.mnist.recipes: pate-2017",
        ),
        ({"pate.tasks.adult.recipe": "x"}, "null or one of pate.tasks.adult.recipes: none"),
        ({"pate.tasks.mnist.recipes": {"x": {"epochs": 1}}}, "recipes.x.epochs: unknown key"),
        ({"pate.tasks": {}}, "pate.tasks: must not be empty"),
        ({"pate.tasks.mnist.pol": 1}, "pate.tasks.mnist.pol: unknown key; did you mean pate.tasks"),
    ],
)
def test_mistake_is_one_line_with_key_value_and_what_is_allowed(changes, message):
    assert_refused(changes, message)


def test_the_code_of_section_5_1_is_a_recipe_that_replaces_our_own_if_it_is_chosen():
    """Its defaults (train_teachers.py, deep_cnn.py): batches of 128, rate 0.05, 3000 steps."""
    chosen = {f"pate.tasks.{task}.recipe": "pate-2017-code" for task in ("mnist", "svhn")}
    ours, theirs = check(DEFAULT), check(changed(chosen))
    assert theirs.pate.tasks["svhn"].dataset == "svhn-extended"
    for task, dataset, size in (("mnist", "mnist-10", 60000), ("svhn", "svhn-extended", 604388)):
        training = theirs.training_parameters(dataset, "plain", 250)
        assert training == DEFAULT["pate"]["tasks"][task]["recipes"]["pate-2017-code"]["teachers"]
        facts = training["batch_size"], training["learning_rate"], training["momentum"]
        assert facts == (128, 0.05, 0)
        steps = poisson_schedule(size // 250, 128, training["epochs"]).steps
        assert abs(steps - 3000) <= steps // training["epochs"] / 2
    # The default is ours, and a configuration that was read once reads the same again.
    given = DEFAULT["pate"]["tasks"]["mnist"]["teachers"]
    assert ours.training_parameters("mnist-10", "plain", 250) == given
    assert check(theirs.to_dict()).to_dict() == theirs.to_dict()


def test_two_tasks_may_share_votes_but_not_a_data_set_with_other_teachers():
    twin = {**DEFAULT["pate"]["tasks"]["digits"], "K": 10}
    check(changed({"pate.tasks.twin": twin}))
    other = twin | {"teachers": {**twin["teachers"], "epochs": 1}}
    message = r"pate\.tasks\.twin\.teachers = .*: must be those of pate\.tasks\.digits"
    with pytest.raises(ConfigError, match=message):
        check(changed({"pate.tasks.twin": other}))


@pytest.mark.parametrize(
    "changes",
    [
        {"pate.tasks.mnist": None, "nzc.tasks.mnist": None},  # though figure1 names it
        {
            "data": "paper",
            "pate.tasks.svhn.student": None,
            "pate.tasks.svhn.pool": 26032,
            "nzc.tasks.svhn": None,  # which has students
        },
        {"datasets.svhn.n_test": 1, "nzc.tasks.svhn": None},  # of a task that is not run
        {"pate.tasks.digits.two_rounds": ROUNDS, "pate.tasks.digits.pool": 598},
        {
            "synthetic_votes": {},
            "pate.tasks.glyph": None,
            "pate.figure4": None,
            "pate.figure5": None,
        },
        {"pate.orders": {"order_max": 1.6, "order_step": 0.5}},
        {"pate.figure1": None},
        {"pate.tasks.adult.dataset": "breast-cancer"},  # a table, too
    ],
)
def test_what_is_allowed_passes(changes):
    check(changed(changes))


# Slices ------------------------------------------------------------------------------------------


PATE = check(DEFAULT).pate


def test_tasks_of_a_run_are_those_of_its_data_and_whose_files_are_at_hand(monkeypatch):
    def running(changes, *at_hand):
        monkeypatch.setattr(Configuration, "is_available", lambda self, name: name in at_hand)
        return check(changed(changes)).pate.running_tasks()

    assert running({}, "digits-10") == ["glyph", "digits"]
    paper = {"data": "paper"}
    assert running(paper, "mnist-10", "svhn", "adult") == ["mnist", "svhn", "adult", "glyph"]
    # Synthetic votes are no data set, so nobody asks for their files.
    assert running(paper, "adult") == ["adult", "glyph"]
    assert running({"pate.tasks.glyph": None}, "digits-10") == ["digits"]


def test_accounting_depends_on_nothing_that_only_training_needs():
    settings = PATE.accounting("glyph")
    assert settings["draws"] == 1
    assert settings["two_rounds"]["first"]["queries"] == 6000
    assert not {"teachers", "student", "K", "dataset"} & set(settings)
    assert PATE.accounting("mnist")["draws"] == 10
    assert PATE.accounting("mnist")["two_rounds"] is None


def test_a_tasks_own_values_replace_the_common_ones():
    digits = PATE.student("digits")
    assert digits["method"] == "vat"
    own = DEFAULT["pate"]["tasks"]["digits"]["student_parameters"]
    assert digits["parameters"] == DEFAULT["pate"]["students"]["vat"] | own
    common = DEFAULT["pate"]["students"]["vat"]
    assert PATE.student("svhn")["parameters"] == common
    assert PATE.seeds("digits") == [0]
    assert PATE.seeds("mnist") == [0, 1, 2]
    baseline = PATE.baseline("digits")
    own = DEFAULT["pate"]["tasks"]["digits"]["baseline_parameters"]
    assert baseline["method"] == "supervised"
    assert baseline["parameters"]["epochs"] == own["epochs"]
    assert "method" not in baseline["parameters"]
    assert DEFAULT["pate"]["baselines"]["vat"]["method"] == "supervised"


def test_aggregators_have_names_of_their_own_for_each_number_of_queries():
    assert PATE.aggregators("mnist") == ["lnmax-100", "lnmax-1000", "confident"]
    assert PATE.answer_settings("mnist")["answer_cap"] is None


def test_descriptions_say_what_is_a_stand_in_and_what_is_synthetic():
    found = PATE.descriptions(["mnist", "glyph", "digits"])
    assert [(d["stand_in"], d["synthetic"], d["K"]) for d in found.values()] == [
        (False, False, 250),
        (False, True, 5000),
        (True, False, 50),
    ]


def test_figures_that_are_left_out_need_no_votes():
    assert PATE.figure_teachers("figure4") == [100, 500, 1000, 5000]
    assert PATE.figure_teachers("figure5") == [5000]
    without = check(changed({"pate.figure4": None, "pate.figure5": None})).pate
    assert without.figure_teachers("figure4") == []
    assert without.figure_teachers("figure5") == []
    assert without.figure_settings("figure4") == {"orders": DEFAULT["pate"]["orders"]}


def test_orders_begin_one_step_above_one_and_end_at_the_largest():
    assert order_grid({"order_max": 3, "order_step": 0.5}).tolist() == [1.5, 2, 2.5, 3]
    assert order_grid({"order_max": 3.2, "order_step": 0.5}).tolist() == [1.5, 2, 2.5, 3]
    grid = order_grid({"order_max": 1.7, "order_step": 0.1})
    assert (len(grid), grid[-1]) == (7, pytest.approx(1.7))
