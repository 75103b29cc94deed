"""Every `snakemake` line of the README and the guides plans what it says."""

import re
import shlex

import pytest

PAGES = ("README.md", "docs/reproduce.md", "docs/vary.md", "docs/your-own-votes.md")
# What each must plan, among other rules.
PLANS = {
    "snakemake --cores all": {"release_labels", "train_bagged_students", "build_index"},
    "snakemake --cores all --config data=paper device=cuda": {"download_data", "train_slice"},
    "snakemake publish_docs --cores all --configfile config/published.yaml": {
        "publish_docs",
        "draw_bagging",
        "download_data",
    },
    "snakemake -n --configfile my.yaml": {"optimize_gamma", "release_labels"},
    "snakemake crate --cores all": {"write_crate", "compare_published"},
    "snakemake --cores all --config seed=1 solver=highs": {"optimize_gamma"},
    "snakemake --cores all -- results/darrm/gamma/K=35,m=4.5,epsilon=0.2,Delta=0,delta=0,"
    "prior=uniform:0.5,1.json": {"optimize_gamma"},
    "snakemake --cores all -- results/darrm/privacy/mechanism=gnmax,K=11,epsilon=0.5,"
    "delta=1e-05.csv": {"search_gnmax_sigma"},
}
# Planned or run by another test, which takes long enough once.
ELSEWHERE = {
    "snakemake --cores all --config data=paper": "test_plans.py::test_paper_run_of_darrm",
    "snakemake -n --config data=paper": "test_plans.py::test_paper_run_of_pate",
    "snakemake --cores all --config data=paper data_mirror=mirror": "test_plans.py::"
    "test_results_go_where_directory_says",
    "snakemake darrm --cores all --config data=paper": "test_plans.py::test_darrm_target_leaves",
    "snakemake darrm --cores all": "test_plans.py::test_darrm_target_leaves_the_comparison_out",
    "snakemake report --cores all": "test_plans.py::test_default_run_has_at_most_121_jobs",
    "snakemake sweeps --cores all": "test_plans.py::test_tiny_sweep_runs_to_its_end",
    "snakemake --workflow-profile profiles/slurm --config data=paper": "test_slurm.py::test_tiny",
    "snakemake --cores all --configfile tests/config/tiny.yaml": "test_report.py::test_snakemake",
    "snakemake --report report.html": "test_report.py::test_snakemake_s_own_report",
    "snakemake --cores all --config votes=votes.npz n_classes=10 shards=disjoint epsilon=1 "
    "delta=1e-5": "test_own_votes.py::test_labels_are_released_within_the_budget",
}


def commands(root):
    """The commands in blocks of code and in the first column of tables, without remarks."""
    found = set()
    for page in PAGES:
        text = (root / page).read_text(encoding="utf-8")
        blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
        lines = [line.split(" && ")[-1] for line in blocks.splitlines()]
        lines += re.findall(r"^\| `(snakemake [^`]*)`", text, re.MULTILINE)
        found |= {line.strip() for line in lines if line.strip().startswith("snakemake ")}
    return found


def test_the_table_of_plans_is_that_of_the_pages(root):
    assert commands(root) == set(PLANS) | set(ELSEWHERE)
    for place in ELSEWHERE.values():
        name, _, test = place.partition("::")
        assert f"\ndef {test}" in (root / "tests" / "workflow" / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plans(root, tmp_path_factory, copy_workflow, planned):
    """What each command plans, in a folder with the guide's my.yaml."""
    folder = copy_workflow(tmp_path_factory.mktemp("guides") / "copy")
    (mine,) = re.findall(r"```yaml\n(.*?)```", (root / "docs/vary.md").read_text(), re.DOTALL)
    (folder / "my.yaml").write_text(mine, encoding="utf-8")

    def plan(command):
        _, *arguments = shlex.split(command)
        return planned(folder, *arguments)

    return {command: plan(command) for command in PLANS}


@pytest.mark.parametrize("command", PLANS)
def test_a_documented_command_plans_what_it_says(plans, command):
    assert PLANS[command] <= set(plans[command])


def test_one_allowance_more_is_one_gamma_and_one_set_of_labels(plans):
    default, mine = plans["snakemake --cores all"], plans["snakemake -n --configfile my.yaml"]
    assert sum(default.values()) <= 121
    assert mine["optimize_gamma"] == default["optimize_gamma"] + 1
    assert mine["release_labels"] == default["release_labels"] + 1
