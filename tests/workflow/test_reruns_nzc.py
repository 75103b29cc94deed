"""Each change reruns exactly what depends on it, after a run of config/scenarios/tiny_nzc.yaml.

Read test_reruns.py first: CONFIGURATION and FILES are tables as there, of what is NZC's and the
ledger's alone.
"""

import csv

import pytest
import yaml

from private_ensembles.labels import registry

from . import changes
from .changes import MODULE

TINY = "config/scenarios/tiny_nzc.yaml"

# What hangs on what, once. ----------------------------------------------------------------------
END = {"compare_published", "build_index"}
STUDENTS = {"train_nzc_students", "tabulate_nzc", *END}
LABELS = {"release_nzc_labels", "account_nzc_votes", *STUDENTS}
FIGURE = {"draw_nzc_ensembles", *END}  # its curves are compared with what the paper says
LEADS = {"audit_nzc_leads", *END}
LEDGER = {"audit_mechanisms", "build_index"}
MECHANISM = LABELS | LEADS | LEDGER
NOTHING: set[str] = set()


def ensemble(K):
    """Names of the jobs that train an ensemble and cast its votes."""
    return {
        f"{rule}/digits-10/kind=plain,K={K},seed=0" for rule in ("train_teachers", "cast_votes")
    }


DIGITS, PATE = "nzc__tasks__digits__", "pate__tasks__digits__"
CONFIGURATION = {
    "constant": ({"nzc__constant": 1e50}, MECHANISM),
    "gamma": ({"nzc__gamma": 1e5}, MECHANISM),
    "kind of noise": ({"nzc__noise": "gaussian"}, MECHANISM),
    "ties": ({"nzc__ties": "last"}, MECHANISM),
    "PATE's pool": ({f"{PATE}pool": 401}, LABELS | LEDGER | FIGURE),
    "PATE's delta": ({f"{PATE}delta": 1e-4}, LABELS | LEDGER),
    "PATE's scale": ({f"{PATE}lnmax__scale": 3}, LABELS | LEDGER),
    "queries": ({f"{DIGITS}queries": [50]}, LABELS),
    "one ensemble more": (
        {f"{DIGITS}ensembles": [{"K": 3, "epochs": 3}, {"K": 4, "epochs": 1}]},
        ensemble(4) | FIGURE,
    ),
    "the small ensemble": (
        {f"{DIGITS}ensembles": [{"K": 4, "epochs": 3}], f"{DIGITS}few": 4},
        ensemble(4) | LABELS | FIGURE,
    ),
    "epochs of the small ensemble": (
        {f"{DIGITS}ensembles": [{"K": 3, "epochs": 4}]},
        ensemble(3) | LABELS | FIGURE,
    ),
    "epochs of students": ({f"{DIGITS}student_parameters__epochs": 2}, STUDENTS),
    "how students learn": ({"nzc__student": {"learning_rate": 0.01}}, STUDENTS),
    "seeds of students": (
        {f"{DIGITS}student_seeds": [1]},
        {"train_nzc_students/task=digits,seed=1", "tabulate_nzc", *END},
    ),
    "seeds of students that have their own": ({"nzc__student_seeds": [5]}, NOTHING),
    "distances": ({"nzc__distances": [0, 0.5]}, FIGURE),
    "leads": ({"nzc__leads__epsilon": 5}, LEADS),
    "a task that is not run": ({"nzc__tasks__svhn__few": 10}, NOTHING),
    "budget": (
        {"audit__budgets__mnist__m": 1},
        {"optimize_gamma/K=5,m=1,epsilon=0.1,Delta=0.0001,delta=0.0001,prior=uniform:0.5,1"}
        | LEDGER,
    ),
    "training of the ledger's teachers": ({"audit__budgets__mnist__teachers": None}, LEDGER),
    "training of DaRRM's teachers": ({"darrm__private_teachers__epochs": 6}, LEDGER),
    "labels together": ({"audit__totals__queries": [5]}, LEDGER),
    "noise of DPBag": ({"dpbag__noise": 1}, LEDGER),
    "the student of the ledger": ({"audit__student_score": 0.8}, LEDGER),
    "noise of one of PATE's tasks": ({"pate__tasks__adult__confident__sigma1": 100}, LEDGER),
    "no ledger": ({"audit": None}, {"build_index"}),
}
FILES = {
    # The planner loads every mechanism.
    f"{MODULE}/papers/nzc/mathematics/mechanism.py": MECHANISM | FIGURE | {"plan_mechanisms"},
    f"{MODULE}/papers/nzc/experiment.py": LABELS,
    f"{MODULE}/papers/nzc/figure_data.py": FIGURE,
    f"{MODULE}/papers/nzc/leads.py": LEADS,
    f"{MODULE}/audit/verdicts.py": {"tabulate_nzc"} | END | LEDGER,
    f"{MODULE}/papers/darrm/one_label.py": LEDGER,
    f"{MODULE}/papers/pate/configured_noise.py": LEDGER,
    f"{MODULE}/papers/nzc/section.py": NOTHING,  # its values are what counts
    f"{MODULE}/papers/ledger/ledger.py": LEDGER,
    f"{MODULE}/papers/nzc/relations.py": END,
    f"{MODULE}/papers/nzc/tables.py": {"tabulate_nzc", *END},
    f"{MODULE}/papers/nzc/figures.py": FIGURE,
    f"{MODULE}/papers/ledger/figure.py": LEDGER,
    "published/nzc_table1.csv": END,
    "published/pate.yaml": LEDGER | END,
    "published/dpbag_table6.csv": LEDGER | END,
    "rules/nzc.smk": NOTHING,
}


@pytest.fixture(scope="module")
def changed(finished_tiny_nzc_run, tmp_path_factory):
    """The finished run, to be changed."""
    return changes.Changes(finished_tiny_nzc_run, tmp_path_factory.mktemp("changes"), TINY)


def test_values_rerun_exactly(changed):
    changed.check_values(CONFIGURATION)


def test_edits_rerun_exactly(changed):
    changed.check_edits(FILES)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_snakemake_reruns_the_same_after_an_edit(name, changed):
    changed.check_edit_by_snakemake(name, FILES[name])


def test_every_key_of_nzc_and_the_ledger_has_a_row(root):
    config = yaml.safe_load((root / "config.yaml").read_text())
    keys = {f"nzc__{key}" for key in config["nzc"]} | {f"audit__{key}" for key in config["audit"]}
    keys |= {f"{DIGITS}{key}" for key in config["nzc"]["tasks"]["digits"]}
    rows = {path for values, _ in CONFIGURATION.values() for path in values}
    without = {key for key in keys if not any(f"{row}__".startswith(f"{key}__") for row in rows)}
    # It says whose votes these are.
    assert without == {f"{DIGITS}task"}


def rows(folder, name):
    with open(folder / "results" / name, newline="") as file:
        return list(csv.DictReader(file))


def test_ledger_lists_every_mechanism_and_nzcs_tables_carry_the_verdict(finished_tiny_nzc_run):
    ledger = rows(finished_tiny_nzc_run, "privacy_ledger.csv")
    # Given noise is the published.
    listed = set(registry.entries()) - {"confident_gnmax_exact"}
    assert {row["mechanism"] for row in ledger} == listed
    assert {row["mechanism"] for row in ledger if row["verdict"] == "fails"} == {"nzc"}
    table1, table2 = (rows(finished_tiny_nzc_run, f"nzc/tables/table{n}.csv") for n in (1, 2))
    for row in (*table1, *table2):
        assert row["release"] == "not for release"
        assert (row["verdict"] == "fails") == row["aggregator"].startswith("nzc")
    page = (finished_tiny_nzc_run / "results/index.html").read_text()
    for text in ("Privacy ledger", "claimed_exact.pdf", "NZC: labels at a near-zero claimed cost"):
        assert text in page
