"""What dry runs plan: sizes of the runs, named targets, and one line for each kind of bad input."""

import csv
import re

import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory, copy_workflow):
    return copy_workflow(tmp_path_factory.mktemp("plans") / "workflow-copy")


@pytest.fixture(scope="module")
def default(folder, planned):
    """What the default run plans."""
    return planned(folder)


TORCH = (
    "train_teachers",
    "train_slice",
    "cast_votes",
    "cast_darrm_votes",
    "train_student",
    "train_baseline",
)


def test_default_run_has_at_most_100_jobs_few_of_them_with_torch(default):
    assert sum(default.values()) <= 100
    # Each spends 2 s on importing it. Seven are DaRRM's, and the others PATE's and NZC's.
    assert sum(default.get(rule, 0) for rule in TORCH) <= 14
    assert "download_data" not in default


@pytest.mark.parametrize("name", ["tiny", "tiny_pate", "tiny_nzc"])
def test_tiny_run_has_at_most_25_jobs(finish_run, name):
    assert 15 <= len(list((finish_run(name) / "logs").rglob("*.log"))) <= 25


def paper(planned, folder, mirror, *more):
    return planned(folder, *more, "--config", "data=paper", f"data_mirror={mirror}", "solver=highs")


def test_paper_run_of_darrm_downloads_eight_files_and_trains_all_ensembles(
    folder, planned, tmp_path
):
    (folder / "darrm.yaml").write_text("papers: [darrm]\n")
    plan = paper(planned, folder, tmp_path, "--configfile", "darrm.yaml")
    assert plan["download_data"] == 8
    assert plan["prepare_dataset"] == 2
    assert (plan["train_teachers"], plan["cast_darrm_votes"]) == (12, 2)
    assert plan["release_labels"] == 8
    assert not {"account_votes", "train_student", "check_printed_arithmetic"} & set(plan)


def test_paper_run_of_pate_leaves_out_data_that_are_optional_and_not_at_hand(
    folder, planned, tmp_path
):
    (folder / "pate.yaml").write_text("papers: [pate]\n")
    plan = paper(planned, folder, tmp_path, "--configfile", "pate.yaml")
    assert plan["download_data"] == 4 + 2  # of MNIST and Adult
    assert plan["train_slice"] == 2  # MNIST's 250 teachers
    assert plan["cast_forest_votes"] == 1
    # Three aggregators for MNIST and two for Adult, three seeds each.
    assert (plan["train_student"], plan["train_baseline"]) == (15, 6)
    assert plan["account_votes"] == plan["release_pate_labels"] == 3
    assert not {"release_labels", "account_teachers"} & set(plan)
    # With SVHN.
    (tmp_path / "svhn").mkdir()
    for name in ("train_32x32.mat", "test_32x32.mat"):
        (tmp_path / "svhn" / name).write_bytes(b"")
    plan = paper(planned, folder, tmp_path, "--configfile", "pate.yaml")
    assert plan["download_data"] == 4 + 2 + 2
    assert (plan["train_slice"], plan["account_votes"]) == (4, 4)


def test_pate_runs_without_tasks_or_figures(folder, planned):
    tasks = "{mnist: null, svhn: null, adult: null, glyph: null, digits: null}"
    (folder / "none.yaml").write_text(
        f"papers: [pate]\npate: {{tasks: {tasks}, figure1: null, figure4: null, figure5: null}}\n"
    )
    plan = planned(folder, "--configfile", "none.yaml")
    assert plan["check_printed_arithmetic"] == plan["compare_published"] == 1
    assert not {"account_votes", "tabulate_students", "compare_noise", "draw_students"} & set(plan)


def test_pate_target_leaves_the_comparison_out(folder, planned):
    plan = planned(folder, "pate", "--configfile", "config/scenarios/tiny_pate.yaml")
    assert plan.pop("pate") == 1
    assert plan["account_votes"] == plan["synthesize_votes"] == plan["train_slice"] == 2
    assert not {"compare_published", "build_index", "publish_docs", "release_labels"} & set(plan)


def test_darrm_target_leaves_the_comparison_out(folder, planned):
    plan = planned(folder, "darrm")
    assert plan["tabulate_label_accuracy"] == plan["tabulate_privacy_loss"] == 1
    assert not {"compare_published", "build_index", "publish_docs"} & set(plan)


SIMULATIONS = {"tabulate_simulations", "draw_prior_shapes"}


def test_one_allowance_more_is_one_gamma_and_one_set_of_labels(folder, root, planned, default):
    """As docs/vary.md says."""
    (mine,) = re.findall(r"```yaml\n(.*?)```", (root / "docs/vary.md").read_text(), re.DOTALL)
    (folder / "my.yaml").write_text(mine, encoding="utf-8")
    plan = planned(folder, "--configfile", "my.yaml")
    assert plan["optimize_gamma"] == default["optimize_gamma"] + 1
    assert plan["release_labels"] == default["release_labels"] + 1


def test_simulations_share_grid_points_and_null_leaves_them_out(
    folder, planned, default, finished_tiny_run
):
    # Figures 2, 6, 7, 8 have 4, 4, 6, 6 points; Figure 9 has two of Figure 7's and two of its own.
    figures = [f"results/darrm/figures/figure{number}.png" for number in (2, 6, 7, 8, 9)]
    plan = planned(folder, *figures)
    assert plan == {"optimize_gamma": 22, "draw_gamma_shapes": 1, "draw_prior_shapes": 1}
    assert default.keys() >= SIMULATIONS
    assert not SIMULATIONS & {path.name for path in (finished_tiny_run / "logs").iterdir()}


def test_sweeps_are_run_on_request_only(folder, planned, default):
    assert not {"solve_sweep", "draw_sweeps", "check_double_subsampling"} & set(default)
    assert planned(folder, "sweeps") == {
        "solve_sweep": 24,
        "check_double_subsampling": 10,
        "draw_sweeps": 1,
        "sweeps": 1,
    }


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


def test_large_ensemble_is_trained_by_as_many_jobs_as_it_needs(folder, planned):
    target = "results/votes/digits/kind=plain,K={},seed=0.npz"
    others = {"prepare_dataset": 1, "cast_votes": 1}
    assert planned(folder, target.format(250)) == {"train_slice": 2, **others}
    assert planned(folder, target.format(125)) == {"train_teachers": 1, **others}


def test_docs_are_written_on_request_only(folder, planned, default):
    assert "publish_docs" not in default
    assert planned(folder, "publish_docs")["publish_docs"] == 1


def test_results_go_where_directory_says_and_the_mirror_is_where_the_user_stands(
    folder, run_snakemake
):
    (folder / "mirror").mkdir(exist_ok=True)
    done = run_snakemake(
        folder,
        "-n",
        "--directory",
        "elsewhere",
        "--config",
        "data=paper",
        "data_mirror=mirror",
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / "elsewhere" / "mirror").exists()


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
