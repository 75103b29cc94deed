"""Each change reruns exactly what depends on it, after a run of config/scenarios/tiny_pate.yaml.

Read test_reruns.py first: CONFIGURATION and FILES are tables as there, of what is PATE's alone.
"""

import csv

import pytest
import yaml

from . import changes
from .changes import MODULE

TINY = "config/scenarios/tiny_pate.yaml"

# What hangs on what, once. ----------------------------------------------------------------------
END = {"compare_published", "build_index"}
TABLES = {"tabulate_students"}
ACCOUNT = {"account_votes", *TABLES, *END}
FIGURES = {"draw_students", "compare_noise", "draw_threshold_effects", *END}
STUDENTS = {"train_student", "tabulate_students", "draw_students", *END}
BASELINES = {"train_baseline", "tabulate_students", *END}
LABELS = {"release_pate_labels", *STUDENTS}
# Of digits alone; Glyph's votes are drawn, not cast, and have no student.
ACCOUNT_DIGITS = {"account_votes/task=digits", *TABLES, *END}
LABELS_DIGITS = {"release_pate_labels/task=digits", *STUDENTS}
ASKED = {*ACCOUNT_DIGITS, *LABELS_DIGITS}
VOTES = {"cast_votes", *ASKED}
TEACHERS = {"train_teachers", *VOTES}
DATA = {"prepare_dataset", *TEACHERS, *BASELINES}
GLYPH = {"account_votes/task=glyph", "release_pate_labels/task=glyph", *TABLES, *END}
SYNTHETIC = {"synthesize_votes", "compare_noise", "draw_threshold_effects", *GLYPH}
PLAN = {"plan_mechanisms", "build_index"}
STUDY = ACCOUNT | LABELS | {"compare_noise"}
NOTHING: set[str] = set()


def teachers(K, seed, *slices):
    """Names of the jobs that train an ensemble on digits and cast its votes."""
    name = f"digits-10/kind=plain,K={K},seed={seed}"
    parts = [f"train_teachers/{name}{',slice=' * bool(part)}{part}" for part in slices]
    return {*parts, f"cast_votes/{name}"}


# Changes of single values (a path of keys joined by __), and what they rerun. ------------------
DIGITS, GLYPHS = "pate__tasks__digits__", "pate__tasks__glyph__"
CONFIGURATION = {
    "more teachers": (
        {f"{DIGITS}K": 15},
        teachers(15, 0, "1of3", "2of3", "3of3") | ASKED,
    ),
    "pool": ({f"{DIGITS}pool": 300}, ASKED | BASELINES),
    "delta": ({f"{DIGITS}delta": 1e-4}, ACCOUNT_DIGITS | {"draw_students"}),
    "threshold": (
        {f"{DIGITS}confident__threshold": 5},
        ACCOUNT_DIGITS | LABELS_DIGITS,
    ),
    "noise of labels": ({f"{DIGITS}lnmax__scale": 3}, ACCOUNT_DIGITS | LABELS_DIGITS),
    "one number of queries more": (
        {f"{DIGITS}lnmax__queries": [30, 60]},
        {"train_student/task=digits,aggregator=lnmax-30,seed=0"} | ASKED,
    ),
    "printed parameters": (
        {f"{DIGITS}printed": {"answers": 30, "order": 4, "beta": 0.03, "sigma_ss": 6}},
        ACCOUNT_DIGITS,
    ),
    "no student": (
        {f"{DIGITS}student": None, "pate__figure1": None},
        {"tabulate_students", *END},
    ),
    "one seed of students more": (
        {f"{DIGITS}student_seeds": [0, 1]},
        {
            "train_student/task=digits,aggregator=lnmax-60,seed=1",
            "train_student/task=digits,aggregator=confident,seed=1",
            "train_baseline/task=digits,seed=1",
            "tabulate_students",
            "draw_students",
            *END,
        },
    ),
    "epochs of teachers": ({f"{DIGITS}teachers__epochs": 3}, TEACHERS),
    "epochs of students": ({f"{DIGITS}student_parameters__epochs": 3}, STUDENTS),
    "epochs of baselines": ({f"{DIGITS}baseline_parameters__epochs": 2}, BASELINES),
    "the second round's student": (
        {f"{GLYPHS}two_rounds__student_score": 0.8},
        {"account_votes/task=glyph", *TABLES, *END},
    ),
    "draws of one task": (
        {f"{GLYPHS}draws": 2},
        {"account_votes/task=glyph", *TABLES, *END},
    ),
    "one task less": (
        {"pate__tasks__glyph": None},
        {*TABLES, *END},
    ),
    "a task that is not run": ({"pate__tasks__svhn__K": 10}, NOTHING),
    "training seed": (
        {"pate__training_seed": 1},
        teachers(10, 1, "1of2", "2of2")
        | {"synthesize_votes/glyph/K=10,seed=1", "synthesize_votes/glyph/K=20,seed=1"}
        | {"draw_threshold_effects"}
        | STUDY,
    ),
    "seeds of students that have their own": ({"pate__student_seeds": [5]}, NOTHING),
    "how networks learn": (
        {"pate__students__vat": {"learning_rate": 0.01}},
        STUDENTS,
    ),
    "how forests learn": ({"pate__students__forest": {"n_trees": 5}}, NOTHING),
    "how baselines learn": (
        {"pate__baselines__vat": {"method": "supervised", "learning_rate": 0.01}},
        BASELINES,
    ),
    "answers after which it stops": ({"pate__answer_cap": 20}, LABELS),
    "draws": ({"pate__draws": 3}, ACCOUNT_DIGITS),
    "orders": ({"pate__orders__order_max": 20}, ACCOUNT | FIGURES),
    "figure 1": ({"pate__figure1": None}, {"build_index"}),
    "figure 4": ({"pate__figure4__gnmax": [0.2]}, {"compare_noise", "build_index"}),
    "figure 4 with another ensemble": (
        {"pate__figure4__teachers": [20, 40]},
        {"synthesize_votes/glyph/K=40,seed=0", "compare_noise", "build_index"},
    ),
    "no figure 4": ({"pate__figure4": None}, {"build_index"}),
    "figure 5": ({"pate__figure5__points": 6}, {"draw_threshold_effects", *END}),
    "no figure 5": ({"pate__figure5": None}, END),
    "way of training": ({"teachers__backend": "opacus"}, TEACHERS),
    "teachers per job": (
        {"teachers__per_job": 10},
        teachers(10, 0, "") | ASKED,
    ),
    "seconds between checkpoints": ({"teachers__checkpoint_seconds": 1}, NOTHING),
    "profile of synthetic votes": ({"synthetic_votes__glyph__imbalance": 2}, SYNTHETIC),
    "forests that are not run": ({"forest_teachers__n_estimators": 3}, NOTHING),
    "another paper's parameters": ({"darrm__draws": 4}, NOTHING),
    "seed": ({"seed": 1}, DATA | SYNTHETIC | FIGURES | PLAN),
    "noise": ({"noise": "secure"}, ACCOUNT | LABELS | PLAN),
    "device": ({"device": "cpu"}, TEACHERS | BASELINES),
    "split of the data": (
        {"datasets__digits-10__n_train": 990, "datasets__digits-10__n_test": 807},
        DATA,
    ),
}

# Files of the workflow, and what an edit of their code or content reruns. -----------------------
FILES = {
    f"{MODULE}/papers/pate/experiment.py": STUDY,
    f"{MODULE}/papers/pate/configured_noise.py": NOTHING,
    f"{MODULE}/papers/pate/figure_data.py": {"draw_students", "draw_threshold_effects", *END},
    f"{MODULE}/papers/pate/orders.py": STUDY | FIGURES,
    f"{MODULE}/papers/pate/mathematics/confident.py": STUDY,
    f"{MODULE}/labels/thresholds.py": STUDY | PLAN,
    f"{MODULE}/labels/laws/laplace.py": STUDY | PLAN,
    f"{MODULE}/labels/accounts/label.py": STUDY | PLAN,
    f"{MODULE}/papers/pate/mathematics/rdp.py": STUDY | FIGURES | {"check_printed_arithmetic"},
    f"{MODULE}/papers/pate/mathematics/sanitize.py": STUDY | {"check_printed_arithmetic"},
    f"{MODULE}/papers/pate/mathematics/table2.py": {"check_printed_arithmetic", *END},
    f"{MODULE}/papers/pate/arithmetic.py": {"check_printed_arithmetic", *END},
    f"{MODULE}/papers/pate/section.py": NOTHING,  # its values are what counts
    f"{MODULE}/papers/pate/targets.py": NOTHING,  # the files that it names are what counts
    f"{MODULE}/papers/pate/relations.py": END,
    f"{MODULE}/papers/pate/figure1_students.py": END,
    f"{MODULE}/papers/pate/findings.py": {"build_index"},
    f"{MODULE}/papers/common/students.py": STUDENTS | BASELINES,
    f"{MODULE}/training/student/network.py": STUDENTS | BASELINES,
    f"{MODULE}/labels/profile.py": SYNTHETIC | STUDY | PLAN,
    f"{MODULE}/training/teachers/models.py": TEACHERS,
    f"{MODULE}/training/teachers/slices.py": TEACHERS,
    f"{MODULE}/papers/pate/tables.py": {*TABLES, *END},
    f"{MODULE}/papers/pate/figures.py": FIGURES,
    "scripts/pate/account_votes.py": ACCOUNT,
    "published/pate_table2.csv": {"check_printed_arithmetic", *END},
    "published/pate.yaml": {"check_printed_arithmetic", *END},
    "published/darrm_table2.csv": END,
    "rules/pate.smk": NOTHING,
}

ACTS = {
    # What rests on it stands, so nobody asks for it: Snakemake's rule for files on the way.
    "one student deleted": (
        lambda folder: next(
            (folder / "results/pate/students").glob("*lnmax-60,seed=0.csv")
        ).unlink(),
        NOTHING,
    ),
    "one student and the table deleted": (
        lambda folder: [
            next((folder / "results/pate").glob(name)).unlink()
            for name in ("students/*lnmax-60,seed=0.csv", "tables/table1.csv")
        ],
        {
            "train_student/task=digits,aggregator=lnmax-60,seed=0",
            "tabulate_students",
            "draw_students",
            *END,
        },
    ),
}


@pytest.fixture(scope="module")
def changed(finished_tiny_pate_run, tmp_path_factory):
    """The finished run, to be changed."""
    return changes.Changes(finished_tiny_pate_run, tmp_path_factory.mktemp("changes"), TINY)


def test_values_rerun_exactly(changed):
    changed.check_values(CONFIGURATION)


def test_edits_rerun_exactly(changed):
    changed.check_edits(FILES)


@pytest.mark.parametrize("name", ACTS)
def test_acts_rerun_exactly(name, changed):
    act, jobs = ACTS[name]
    changed.check_act(act, jobs)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_snakemake_reruns_the_same_after_an_edit(name, changed):
    changed.check_edit_by_snakemake(name, FILES[name])


def test_every_key_of_pate_and_its_tasks_has_a_row(root):
    pate = yaml.safe_load((root / "config.yaml").read_text())["pate"]
    keys = {f"pate__{key}" for key in pate} | {
        f"pate__tasks__{name}__{key}" for name in ("digits", "glyph") for key in pate["tasks"][name]
    }
    rows = {path for values, _ in CONFIGURATION.values() for path in values}
    # A key of one task is a key of all.
    covered = {row.replace("__glyph__", "__digits__") for row in rows}
    without = {
        key
        for key in (key.replace("__glyph__", "__digits__") for key in keys)
        if not any(f"{row}__".startswith(f"{key}__") for row in covered)
    }
    # They say whose votes these are, and whether the task is run: another task, in effect.
    assert without == {f"{DIGITS}data", f"{DIGITS}dataset", f"{DIGITS}kind"}


def test_every_module_that_only_pate_has_has_a_row(root):
    package = root / "workflow" / MODULE
    paths = package.glob("papers/pate/[a-z]*.py")
    modules = {path.relative_to(package).as_posix() for path in paths}
    rows = {name.removeprefix(f"{MODULE}/") for name in FILES if name.startswith(MODULE)}
    assert modules | {"papers/common/students.py"} <= rows
    folders = {row.rpartition("/")[0] for row in rows}
    assert {"papers/pate/mathematics", "training/student"} <= folders


def test_whatever_rests_on_votes_says_that_it_is_not_for_release(finished_tiny_pate_run):
    folder = finished_tiny_pate_run / "results/pate/tables"
    for name in ("table1", "table2", "figure1", "figure4", "figure5"):
        with open(folder / f"{name}.csv", newline="") as file:
            marks = {row["release"] for row in csv.DictReader(file)}
        assert marks == {"not for release"}, name
    page = (finished_tiny_pate_run / "results/index.html").read_text()
    assert page.count('<span class="secret">not for release</span>') >= 5
    assert 'digits <span class="standin">stand-in</span>' in page
    assert 'Glyph <span class="standin">synthetic</span>' in page
