"""A finished run: nothing to do again, and each change reruns exactly what depends on it.

CONFIGURATION, FILES and COMMANDS are tables: a change, and the jobs that it reruns after one
complete run of config/scenarios/tiny.yaml, written by hand. A job is named as its log file is:
"release_labels/dataset=digits,m=3". In an expectation, the name of a rule stands for all of its
jobs in the tiny run, a * matches as in a shell, and everything else is one job by its full name (it
may be new, like a grid point that was not there).

To extend: a new rule needs nothing here but its name in the sets below that it depends on; a new
file of the module gets a row in FILES (a test fails until its room has one), a new key of
config.yaml a row in CONFIGURATION.
"""

import csv
import json
import os
import shutil
import subprocess
import sys

import pytest
import yaml

from . import changes
from .changes import COMMENT, MODULE, append

TINY = ("--configfile", "config/scenarios/tiny.yaml")

# What hangs on what, once. ----------------------------------------------------------------------
END = {"compare_published", "build_index"}
ACCURACY = {"release_labels", "tabulate_label_accuracy", *END}
VOTES = {"train_teachers", "cast_darrm_votes", *ACCURACY}
DATA = {"prepare_dataset", *VOTES}
GAMMA = {"optimize_gamma", "draw_gamma_shapes", *ACCURACY}
SIGMA = {"search_gnmax_sigma", "tabulate_gnmax_sigma", *ACCURACY}
LOSS = {"tabulate_privacy_loss", *END}
# One job proves the claims of all data sets, and labels wait for it: whatever it concerns.
ACCOUNT = {"account_teachers", *ACCURACY}
STUDY = {"study_objectives", "build_index"}
PLAN = {"plan_mechanisms", "build_index"}
TABLES = {"tabulate_gnmax_sigma", *LOSS}  # of what labels cost: one module makes them all
# Every mechanism is loaded where one is: labels and the planner. Tables and figures know the facts.
MECHANISMS = ACCURACY | PLAN
TEACHERS = VOTES | ACCOUNT  # of DP-SGD's schedule
EVERYTHING = DATA | GAMMA | SIGMA | LOSS | ACCOUNT | STUDY | PLAN | {"draw_sigma_search"}
PRIVATE = {"train_teachers/*private*", "cast_darrm_votes", *ACCURACY}
PLAIN = {"train_teachers/*plain*", "cast_darrm_votes", *ACCURACY}
NOTHING: set[str] = set()


def gammas(K, ms, epsilon, Delta, deltas, prior="uniform:0.5,1"):
    """Names of grid points of gamma."""
    return {
        f"optimize_gamma/K={K},m={m},epsilon={epsilon},Delta={Delta},delta={delta},prior={prior}"
        for m, delta in zip(ms, deltas, strict=True)
    }


def sigmas(K, *budgets):
    """Names of searches for GNMax's sigma."""
    return {
        f"search_gnmax_sigma/mechanism=gnmax,K={K},epsilon={epsilon},delta={delta}"
        for epsilon, delta in budgets
    }


ONE_LABEL = ("0.0001", "0.000299970001")  # delta of gamma at m = 1 and 3 with Delta = 1e-4
NEW_PRIOR = "common:0.5,1"
PURE = {"K": 5, "m": [3], "epsilon": 0.1, "Delta": 0}

# Changes of single values (a path of keys joined by __), and what they rerun. ------------------
CONFIGURATION = {
    "one m more": (
        {"darrm__m": [1, 3, 5]},
        gammas(5, [5], 0.11, "0.0001", ["0.0004999000099995"])
        | sigmas(5, (0.55, 0.0005))
        | {"release_labels/dataset=digits,m=5"},
    ),
    "another m in a table of accuracies": (
        {"darrm__m": [1, 5], "darrm__tables__table1": 5},
        gammas(5, [5], 0.11, "0.0001", ["0.0004999000099995"])
        | sigmas(5, (0.55, 0.0005))
        | {"release_labels/dataset=digits,m=5", "tabulate_label_accuracy", *END},
    ),
    "another m in a table of losses": (
        {"darrm__tables__table2": 5},
        LOSS,
    ),
    "one table less": (
        {"darrm__tables__table6": None},
        {"tabulate_label_accuracy", *END},
    ),
    "epsilon of the stand-in": (
        {"darrm__embedded__epsilon": 0.12},
        gammas(5, [1, 3], 0.12, "0.0001", ONE_LABEL)
        | sigmas(5, (0.12, 0.0001), (0.36, 0.0003))
        | ACCURACY
        | LOSS
        | ACCOUNT,
    ),
    "Delta of the stand-in": (
        {"darrm__embedded__Delta": 2e-4},
        gammas(5, [1, 3], 0.11, "0.0002", ["0.0002", "0.000599880008"])
        | sigmas(5, (0.11, 0.0002), (0.33, 0.0006))
        | ACCURACY
        | LOSS
        | ACCOUNT,
    ),
    "epsilon of one of the paper's data sets": (
        {"darrm__datasets__mnist": {"epsilon": 0.09, "Delta": 1e-4}},
        sigmas(5, (0.27, 0.0003)) | {"tabulate_gnmax_sigma", "draw_sigma_search", *LOSS, *ACCOUNT},
    ),
    "learning rate of private teachers": (
        {"darrm__embedded__private_teachers__learning_rate": 0.2},
        PRIVATE,
    ),
    "learning rate of plain teachers": (
        {"darrm__embedded__plain_teachers__learning_rate": 0.2},
        PLAIN,
    ),
    "momentum and clipping norm, written another way": (
        {
            "darrm__embedded__plain_teachers__momentum": 0.0,
            "darrm__embedded__private_teachers__max_grad_norm": "1e0",
        },
        NOTHING,
    ),
    "noise of private teachers": (
        {"darrm__embedded__private_teachers__noise_multiplier": 13},
        PRIVATE | ACCOUNT,
    ),
    "learning rate of teachers that are not trained": (
        {"darrm__private_teachers__learning_rate": 0.2},
        NOTHING,
    ),
    "epochs of teachers that are only accounted for": (
        {"darrm__private_teachers__epochs": 6},
        ACCOUNT,
    ),
    "records by a keyed hash": ({"darrm__shards": "keyed_hash"}, VOTES),
    "seed": ({"seed": 1}, DATA | STUDY | PLAN),
    "noise": ({"noise": "secure"}, PRIVATE | PLAN),
    "delta'": ({"darrm__delta_prime": 2e-4}, LOSS),
    "one training seed more": (
        {"darrm__training_seeds": [0, 1]},
        {
            "train_teachers/digits/kind=private,K=5,seed=1",
            "train_teachers/digits/kind=plain,K=5,seed=1",
            "cast_darrm_votes",
            *ACCURACY,
        },
    ),
    "draws": ({"darrm__draws": 4}, ACCURACY),
    "queries": ({"darrm__queries": [20, 60]}, ACCURACY | LOSS),
    "prior": (
        {"darrm__prior": NEW_PRIOR},
        gammas(5, [1, 3], 0.11, "0.0001", ONE_LABEL, NEW_PRIOR)
        | gammas(5, [3], 0.1, "1e-05", ["2.9999700001000004e-05"], NEW_PRIOR)
        | {"draw_gamma_shapes", *ACCURACY},
    ),
    "teachers per ensemble": (
        {"darrm__K": 7},
        gammas(7, [1, 3], 0.11, "0.0001", ONE_LABEL)
        | sigmas(7, (0.11, 0.0001), (0.33, 0.0003), (0.2676, 0.0003), (0.2556, 0.0003))
        | {
            "train_teachers/digits/kind=private,K=7,seed=0",
            "train_teachers/digits/kind=plain,K=7,seed=0",
        }
        | {"cast_darrm_votes", "tabulate_gnmax_sigma", *ACCURACY, *LOSS, *ACCOUNT},
    ),
    "figure 2": (
        {"darrm__figure2__epsilon": 0.2},
        gammas(5, [3], 0.2, "1e-05", ["2.9999700001000004e-05"])
        | {"draw_gamma_shapes", "build_index"},
    ),
    "figure 10": ({"darrm__figure10__m": 1}, {"draw_sigma_search", "build_index"}),
    "figures 6 to 9": (
        {
            "darrm__figure6": {
                "K": 5,
                "subsamples": [3],
                "epsilon": 0.1,
                "Delta": 1e-5,
                "delta_prime": 0.1,
            },
            "darrm__figure7": PURE,
            "darrm__figure8": PURE,
            "darrm__figure9": {
                **PURE,
                "prior_U": "uniform:0.5,1",
                "prior_P": "uniform:0.7,1",
                "actual": ["fixed:0.5"],
            },
        },
        gammas(5, [3], 0.1, "1e-05", ["0.10002699973000091"])
        | gammas(5, [3], 0.1, "0", ["0"])
        | gammas(5, [3], 0.1, "0", ["0"], "uniform:0.7,1")
        | {"draw_gamma_shapes", "draw_prior_shapes/figure9"}
        | {"tabulate_simulations/tables", *END},
    ),
    "sweeps": ({"darrm__sweeps__m": [3]}, NOTHING),
    "objectives": ({"darrm__objectives__repetitions": 3}, STUDY),
    "budgets of the planner": ({"planner__epsilons": [2]}, PLAN),
    "other papers' parameters": (
        {"pate__draws": 3, "dpbag__draws": 4, "nzc__constant": 10, "audit": None},
        NOTHING,
    ),
    "what is asked of own votes": (
        {
            "own__ensemble": {"teachers": 5, "classes": 3, "absent": True},
            "own__budget": {"epsilon": 2, "delta": 1e-6},
            "own__wanted": {"labels": 2, "answer": "random", "most_ones": 1},
            "own__protection": {"shards": "disjoint", "unit": "patient", "reach": 2},
            "own__release": {"again": True, "total_budget": 5, "already_spent": [1, 0]},
        },
        NOTHING,
    ),
    "how own votes are read": (
        {
            "own__reading": {"kind": "counts", "class_names": "cat,dog,bird", "first_class": 1}
            | {"id_column": "image", "truth_column": "y", "ignore_columns": "fold"}
            | {"long_columns": None, "absent_as": "x"}
        },
        NOTHING,
    ),
    "forests that vote on nothing": ({"forest_teachers__n_estimators": 3}, NOTHING),
    "synthetic votes of another paper": ({"synthetic_votes__glyph__confusion": 2}, NOTHING),
    "grid of orders": (
        {"darrm__sigma_search__order_step": 0.25},
        SIGMA | LOSS | {"draw_sigma_search"},
    ),
    "solver": ({"solver": "highs"}, GAMMA | STUDY),
    "device": ({"device": "cpu"}, VOTES),
    "one instruction set": ({"portable": True}, EVERYTHING),
    "backend of training": ({"teachers__backend": "opacus"}, VOTES),
    "teachers in a job": (
        {"teachers__per_job": 3},
        {
            f"train_teachers/digits/kind={kind},K=5,seed=0,slice={part}"
            for kind in ("private", "plain")
            for part in ("1of2", "2of2")
        }
        | {"cast_darrm_votes", *ACCURACY},
    ),
    "checkpoints": ({"teachers__checkpoint_seconds": 1}, NOTHING),
    "address": (
        {"datasets__mnist__files__t10k-labels-idx1-ubyte.gz__urls": ["https://example.org/x"]},
        NOTHING,
    ),
    "mirror": ({"data_mirror": "https://example.org"}, NOTHING),
    "patience with addresses": ({"download_timeout": 10}, NOTHING),
}

# Files of the workflow, and what an edit of their code or content reruns. -----------------------
DRAWN = {"draw_gamma_shapes", "draw_sigma_search", "build_index"}
FILES = {
    f"{MODULE}/__init__.py": EVERYTHING,
    f"{MODULE}/base/checks.py": EVERYTHING,
    f"{MODULE}/base/files.py": EVERYTHING,
    f"{MODULE}/run/check.py": NOTHING,  # its values are what counts
    f"{MODULE}/run/fingerprint.py": NOTHING,
    # Those of papers that this run leaves out; PATE's: test_reruns_pate.py.
    f"{MODULE}/papers/dpbag/tables.py": END,  # relations of printed numbers know the tables
    f"{MODULE}/papers/dpbag/experiment.py": NOTHING,
    f"{MODULE}/papers/dpbag/mathematics/label_loss.py": MECHANISMS,
    f"{MODULE}/command/main.py": NOTHING,  # a door of its own
    f"{MODULE}/labels/planner/api.py": NOTHING,  # another
    f"{MODULE}/__main__.py": NOTHING,
    f"{MODULE}/base/settings.py": NOTHING,
    f"{MODULE}/papers/pate/experiment.py": NOTHING,
    f"{MODULE}/training/student/network.py": NOTHING,
    f"{MODULE}/papers/nzc/mathematics/mechanism.py": MECHANISMS,
    f"{MODULE}/papers/ledger/ledger.py": NOTHING,
    f"{MODULE}/release/own_votes.py": NOTHING,
    f"{MODULE}/release/statement.py": NOTHING,
    f"{MODULE}/release/certificate.py": NOTHING,
    f"{MODULE}/verify/verify.py": NOTHING,  # a door of its own, too
    f"{MODULE}/release/files/votes_reader.py": NOTHING,
    f"{MODULE}/base/streams.py": DATA | STUDY | PLAN,
    f"{MODULE}/papers/darrm/experiment.py": ACCURACY,
    f"{MODULE}/papers/compare/comparison.py": END,
    f"{MODULE}/papers/darrm/relations.py": END,
    f"{MODULE}/papers/all.py": END,
    f"{MODULE}/papers/darrm/targets.py": NOTHING,  # the files that it names are what counts
    f"{MODULE}/papers/darrm/findings.py": {"build_index"},
    f"{MODULE}/papers/darrm/page.yaml": {"build_index"},
    f"{MODULE}/base/progress.py": EVERYTHING,
    f"{MODULE}/labels/planner/ranking.py": PLAN,
    f"{MODULE}/labels/registry.py": ACCURACY | DRAWN | STUDY | PLAN,
    f"{MODULE}/labels/laws/gaussian.py": MECHANISMS,
    f"{MODULE}/labels/accounts/label.py": MECHANISMS,
    f"{MODULE}/labels/laws/checked.py": MECHANISMS,
    f"{MODULE}/audit/divergence.py": MECHANISMS,
    f"{MODULE}/audit/verdicts.py": NOTHING,
    f"{MODULE}/accounting/adaptive_composition/account.py": MECHANISMS,
    # One module draws both figures, so what one of them needs redraws the other.
    f"{MODULE}/accounting/composition.py": GAMMA | SIGMA | LOSS | DRAWN | STUDY | PLAN,
    f"{MODULE}/papers/darrm/simulations.py": DRAWN,
    # LNMax's noise comes by its Renyi bounds.
    f"{MODULE}/papers/darrm/mathematics/generality.py": NOTHING,
    f"{MODULE}/papers/pate/mathematics/rdp.py": NOTHING,
    f"{MODULE}/training/data/download.py": NOTHING,
    f"{MODULE}/training/data/images.py": DATA,
    f"{MODULE}/labels/profile.py": MECHANISMS,
    f"{MODULE}/training/teachers/forest.py": NOTHING,
    f"{MODULE}/training/data/shards.py": VOTES,
    f"{MODULE}/training/teachers/models.py": VOTES,
    f"{MODULE}/training/teachers/slices.py": VOTES,
    f"{MODULE}/training/teachers/accounting.py": ACCOUNT,
    f"{MODULE}/training/teachers/training.py": TEACHERS,
    f"{MODULE}/papers/darrm/sweep_figures.py": NOTHING,
    f"{MODULE}/papers/darrm/figures.py": DRAWN,
    f"{MODULE}/papers/darrm/accuracies.py": {"tabulate_label_accuracy", *END},
    f"{MODULE}/report/index.py": {"build_index"},
    f"{MODULE}/report/templates/index.html": {"build_index"},
    f"{MODULE}/report/templates/own.html": NOTHING,
    "scripts/darrm/release_labels.py": ACCURACY,
    "scripts/darrm/tabulate_privacy_loss.py": LOSS,
    "scripts/report/publish_docs.py": NOTHING,
    "published/darrm_table2.csv": END,
    "published/nzc.yaml": END,
    "report/accuracy.rst": {"build_index"},
    "rules/darrm.smk": NOTHING,
    "schemas/config.schema.json": NOTHING,
}


# What one does to a folder, by name, and what it reruns. ----------------------------------------
def _touch_code(folder):
    for path in [folder / "Snakefile", *(folder / "workflow").rglob("*.*")]:
        os.utime(path)


ACTS = {
    "nothing": (lambda folder: None, NOTHING),
    "a comment in the configuration": (
        lambda folder: [append(folder / name, COMMENT) for name in ("config.yaml", TINY[1])],
        NOTHING,
    ),
    "a comment in modules and scripts": (
        lambda folder: [append(path, COMMENT) for path in (folder / "workflow").rglob("*.py")],
        NOTHING,
    ),
    "code touched": (_touch_code, NOTHING),
    "one table deleted": (
        lambda folder: (folder / "results/darrm/tables/table2.csv").unlink(),
        LOSS,
    ),
    "records, logs and benchmarks deleted": (
        lambda folder: [
            shutil.rmtree(folder / name)
            for name in ("results/provenance", "logs", "results/benchmarks")
        ],
        NOTHING,
    ),
}


@pytest.fixture(scope="module")
def changed(finished_tiny_run, tmp_path_factory):
    """The finished run, to be changed."""
    return changes.Changes(finished_tiny_run, tmp_path_factory.mktemp("changes"), TINY[1])


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


def test_every_room_of_the_module_has_a_row(root):
    package = root / "workflow" / MODULE
    rooms = {path.name for path in package.iterdir() if path.suffix == ".py" or path.is_dir()}
    rows = {name.split("/")[1] for name in FILES if name.startswith(MODULE)}
    assert rooms - {"__pycache__"} == rows


def test_every_key_of_the_configuration_has_a_row(root):
    config = yaml.safe_load((root / "config.yaml").read_text())
    keys = {key for key in config if key not in ("darrm", "own")}
    keys |= {f"{name}__{key}" for name in ("darrm", "own") for key in config[name]}
    rows = {path for values, _ in CONFIGURATION.values() for path in values}
    without = {key for key in keys if not any(f"{row}__".startswith(f"{key}__") for row in rows)}
    # `data` changes the data sets themselves, `papers`, own votes and a session the targets
    # (test_plans, test_own_votes, test_session); the other is as for the private ones.
    targets = {"papers", "own__votes", "own__session"}
    assert without == {"data", "darrm__plain_teachers"} | targets


def test_tables_say_that_digits_are_a_stand_in(finished_tiny_run):
    with open(finished_tiny_run / "results/darrm/tables/table1.csv") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert {(row["dataset"], row["stand_in"]) for row in rows} == {("digits", "True")}


def test_every_gamma_carries_a_certificate_that_holds(finished_tiny_run, root):
    files = sorted((finished_tiny_run / "results/darrm/gamma").glob("*.json"))
    assert len(files) == 3
    for file in files:
        assert json.loads(file.read_text())["certificate"]["holds"] is True
    # The verifier, alone, as whoever is handed the files runs it.
    words = [sys.executable, "-I", root / "verify/verify.py", *files]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_job_leaves_its_log_and_benchmark(finished_tiny_run):
    for folder in ("logs", "results/benchmarks"):
        rules = {path.name for path in (finished_tiny_run / folder).iterdir()}
        assert {"train_teachers", "optimize_gamma", "release_labels", "build_index"} <= rules
