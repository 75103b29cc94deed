"""What dry runs plan: sizes of the runs, named targets, and one line for each kind of bad input.

All of them are made in one process, which has then loaded the package.
"""

import csv
import re

import pytest

from tests import forks
from tests.conftest import ROOT, jobs_by_rule, users_environment

TORCH = (
    "train_teachers",
    "train_slice",
    "cast_votes",
    "cast_darrm_votes",
    "train_student",
    "train_baseline",
)
PAPER = ("--config", "data=paper", "solver=highs")
FIGURES = [f"results/darrm/figures/figure{number}.png" for number in (2, 6, 7, 8, 9)]
VOTES = "results/votes/digits/kind=plain,K={},seed=0.npz"
TASKS = "{mnist: null, svhn: null, adult: null, glyph: null, digits: null}"
NO_FIGURES = "figure1: null, figure4: null, figure5: null"
(VARIED,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/vary.md").read_text(), re.DOTALL)
CONFIGURATIONS = {
    "darrm": "papers: [darrm]\n",
    "pate": "papers: [pate]\n",
    "none": f"papers: [pate]\npate: {{tasks: {TASKS}, {NO_FIGURES}}}\n",
    "varied": VARIED,
}
# What is asked of Snakemake, by a name.
ASKED = {
    "default": (),
    "darrm on the paper's data": ("--configfile", "darrm.yaml", *PAPER, "data_mirror=without"),
    "pate on the paper's data": ("--configfile", "pate.yaml", *PAPER, "data_mirror=without"),
    "pate with SVHN": ("--configfile", "pate.yaml", *PAPER, "data_mirror=with"),
    "pate without tasks or figures": ("--configfile", "none.yaml"),
    "pate": ("pate", "--configfile", "config/scenarios/tiny_pate.yaml"),
    "darrm": ("darrm",),
    "one allowance more": ("--configfile", "varied.yaml"),
    "simulations": FIGURES,
    "sweeps": ("sweeps",),
    "250 teachers": (VOTES.format(250),),
    "125 teachers": (VOTES.format(125),),
    "docs": ("publish_docs",),
    "elsewhere": ("--directory", "elsewhere", "--config", "data=paper", "data_mirror=mirror"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, copy_workflow):
    folder = copy_workflow(tmp_path_factory.mktemp("plans") / "workflow-copy")
    for name, text in CONFIGURATIONS.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    for name in ("with/svhn", "without", "mirror"):
        (folder / name).mkdir(parents=True)
    for name in ("train_32x32.mat", "test_32x32.mat"):
        (folder / "with/svhn" / name).write_bytes(b"")
    return folder


@pytest.fixture(scope="module")
def plans(folder):
    """How many jobs of each rule a dry run plans, by the name of what is asked."""
    arguments = [["-n", *asked] for asked in ASKED.values()]
    runs = forks.run_snakemake_in_turn(folder, arguments, users_environment(), timeout=600)
    for done in runs:
        assert done.returncode == 0, done.stdout + done.stderr
    texts = (done.stdout + done.stderr for done in runs)
    return dict(zip(ASKED, map(jobs_by_rule, texts), strict=True))


def test_default_run_has_at_most_100_jobs_few_of_them_with_torch(plans):
    default = plans["default"]
    assert sum(default.values()) <= 100
    # Each spends 2 s on importing it. Seven are DaRRM's, and the others PATE's and NZC's.
    assert sum(default.get(rule, 0) for rule in TORCH) <= 14
    assert "download_data" not in default
    assert "publish_docs" not in default
    assert not {"solve_sweep", "draw_sweeps", "check_double_subsampling"} & set(default)
    assert default.keys() >= {"tabulate_simulations", "draw_prior_shapes"}


@pytest.mark.parametrize("name", ["tiny", "tiny_pate", "tiny_nzc"])
def test_tiny_run_has_at_most_25_jobs(finish_run, name):
    assert 15 <= len(list((finish_run(name) / "logs").rglob("*.log"))) <= 25


def test_paper_run_of_darrm_downloads_eight_files_and_trains_all_ensembles(plans):
    plan = plans["darrm on the paper's data"]
    assert plan["download_data"] == 8
    assert plan["prepare_dataset"] == 2
    assert (plan["train_teachers"], plan["cast_darrm_votes"]) == (12, 2)
    assert plan["release_labels"] == 8
    assert not {"account_votes", "train_student", "check_printed_arithmetic"} & set(plan)


def test_paper_run_of_pate_leaves_out_data_that_are_optional_and_not_at_hand(plans):
    plan = plans["pate on the paper's data"]
    assert plan["download_data"] == 4 + 2  # of MNIST and Adult
    assert plan["train_slice"] == 2  # MNIST's 250 teachers
    assert plan["cast_forest_votes"] == 1
    # Three aggregators for MNIST and two for Adult, three seeds each.
    assert (plan["train_student"], plan["train_baseline"]) == (15, 6)
    assert plan["account_votes"] == plan["release_pate_labels"] == 3
    assert not {"release_labels", "account_teachers"} & set(plan)
    plan = plans["pate with SVHN"]
    assert plan["download_data"] == 4 + 2 + 2
    assert (plan["train_slice"], plan["account_votes"]) == (4, 4)


def test_pate_runs_without_tasks_or_figures(plans):
    plan = plans["pate without tasks or figures"]
    assert plan["check_printed_arithmetic"] == plan["compare_published"] == 1
    assert not {"account_votes", "tabulate_students", "compare_noise", "draw_students"} & set(plan)


def test_targets_of_one_paper_leave_the_comparison_out(plans):
    pate, darrm = plans["pate"], plans["darrm"]
    assert pate["pate"] == 1
    assert pate["account_votes"] == pate["synthesize_votes"] == pate["train_slice"] == 2
    assert "release_labels" not in pate
    assert darrm["tabulate_label_accuracy"] == darrm["tabulate_privacy_loss"] == 1
    for plan in (pate, darrm):
        assert not {"compare_published", "build_index", "publish_docs"} & set(plan)


def test_one_allowance_more_is_one_gamma_and_one_set_of_labels(plans):
    """As docs/vary.md says."""
    for rule in ("optimize_gamma", "release_labels"):
        assert plans["one allowance more"][rule] == plans["default"][rule] + 1


def test_simulations_share_grid_points(plans):
    # Figures 2, 6, 7, 8 have 4, 4, 6, 6 points; Figure 9 has two of Figure 7's and two of its own.
    assert plans["simulations"] == {
        "optimize_gamma": 22,
        "draw_gamma_shapes": 1,
        "draw_prior_shapes": 1,
    }


def test_sweeps_and_docs_are_made_on_request(plans):
    assert plans["sweeps"] == {
        "solve_sweep": 24,
        "check_double_subsampling": 10,
        "draw_sweeps": 1,
        "sweeps": 1,
    }
    assert plans["docs"]["publish_docs"] == 1


def test_large_ensemble_is_trained_by_as_many_jobs_as_it_needs(plans):
    others = {"prepare_dataset": 1, "cast_votes": 1}
    assert plans["250 teachers"] == {"train_slice": 2, **others}
    assert plans["125 teachers"] == {"train_teachers": 1, **others}


def test_results_go_where_directory_says_and_the_mirror_is_where_the_user_stands(folder, plans):
    assert plans["elsewhere"]["download_data"] > 0
    assert not (folder / "elsewhere" / "mirror").exists()


@pytest.mark.slow
def test_tiny_sweep_runs_to_its_end(folder, run_snakemake):
    done = run_snakemake(
        folder, "sweeps", "--configfile", "config/scenarios/tiny.yaml", "--cores", "2"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for path in ("figures/sweeps.pdf", "figures/noiseless.png", "tables/double_subsampling.csv"):
        assert (folder / "results/darrm" / path).stat().st_size > 200
    with open(folder / "results/darrm/tables/sweeps.csv") as file:
        rows = list(csv.DictReader(file))
    assert {row["family"] for row in rows} == {
        "gamma_opt",
        "gamma_sub",
        "gamma_dsub",
        "gamma_const",
    }
    assert all(float(row["scaling"]) < 1e-9 for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--config", "seed=x"],
            "error: --config: seed = 'x': must be an integer >= 0 and < 9223372036854775808",
        ),
        (
            ["--configfile", "bad.yaml"],
            "error: bad.yaml: darrm.K = 10: must be an odd integer >= 1 and <= 9999",
        ),
    ],
)
def test_bad_configuration_is_one_line_and_a_failure(folder, run_snakemake, arguments, message):
    (folder / "bad.yaml").write_text("darrm: {K: 10}\n")
    done = run_snakemake(folder, "-n", "--quiet", "all", *arguments)
    assert done.returncode != 0
    errors = [line for line in done.stderr.splitlines() if "error" in line.lower()]
    assert len(errors) == 1, done.stderr
    assert errors[0].replace(str(folder) + "/", "") == message
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "target",
    [
        "results/darrm/gamma/K=11,m=x,epsilon=0.1,Delta=0,delta=0,prior=uniform:0.5,1.json",
        "data/raw/mnist/../../etc.gz",
    ],
)
def test_names_that_mean_nothing_match_no_rule(folder, run_snakemake, target):
    done = run_snakemake(folder, "-n", target)
    assert done.returncode != 0
    assert "MissingRuleException" in done.stdout + done.stderr
