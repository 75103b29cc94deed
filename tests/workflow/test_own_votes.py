"""`snakemake --config votes=...`: labels, accounts and a page; mistakes in one line."""

import numpy as np
import pandas as pd
import pytest

TINY = ("--configfile", "tests/config/tiny.yaml", "--cores", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, copy_workflow):
    folder = copy_workflow(tmp_path_factory.mktemp("own") / "copy")
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 3, 60)
    right = generator.random((60, 40)) < 0.8
    votes = np.where(right, truth[:, None], generator.integers(0, 3, (60, 40)))
    np.savez(folder / "votes.npz", votes=votes.astype(np.uint8), labels=truth)
    return folder


@pytest.fixture(scope="module")
def finished(folder, run_snakemake):
    done = run_snakemake(folder, *TINY, "--config", "votes=votes.npz", "epsilon=20", "delta=1e-5")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout + done.stderr


def test_the_run_says_what_it_does_and_where_the_page_is(finished):
    folder, output = finished
    assert "Accounting for your votes" in output
    assert output.count(f"Done. Open the report: {folder}/results/own/index.html") == 1
    assert not (folder / "results/index.html").exists()  # the papers are left alone


def test_labels_are_released_within_the_budget(finished):
    folder, _ = finished
    labels = pd.read_csv(folder / "results/own/labels.csv")
    truth = np.load(folder / "votes.npz")["labels"]
    assert (labels["label"].to_numpy() == truth[labels["query"]]).mean() > 0.8
    table = pd.read_csv(folder / "results/own/mechanisms.csv")
    assert table["chosen"].sum() == 1
    assert (table["epsilon"].dropna() <= 20).all()
    assert set(table.loc[table["mechanism"] == "ladder", "not_applicable"]) == {
        "for two classes only"
    }


def test_what_depends_on_votes_is_kept_apart(finished):
    folder, _ = finished
    private = pd.read_csv(folder / "results/own/private/votes.csv")
    assert set(private["release"]) == {"not for release"}
    assert private["correct"].notna().all()
    gaussian = private[private["mechanism"] == "gnmax"].iloc[0]
    assert gaussian["sanitized_upper"] >= gaussian["sanitized_epsilon"]
    page = (folder / "results/own/index.html").read_text(encoding="utf-8")
    assert repr(float(gaussian["data_dependent_epsilon"])) not in page
    assert "agreeing" not in page
    assert "Noise from a seed" in page


def test_nothing_is_left_to_do_and_another_budget_reruns(finished, planned):
    folder, _ = finished
    given = ("--configfile", "tests/config/tiny.yaml", "--config", "votes=votes.npz", "delta=1e-5")
    assert planned(folder, *given, "epsilon=20") == {}
    assert planned(folder, *given, "epsilon=10") == {"apply_votes": 1}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["votes=nothing.npz"], "error: --config: votes = 'nothing.npz': must be an existing file"),
        (["votes=votes.pkl"], "error: --config: votes = 'votes.pkl': must be text"),
        (
            ["votes=votes.npz", "delta=1"],
            "error: --config: delta = 1: must be a number > 0 and < 1",
        ),
        (["votes=votes.npz", "epsilon=0"], "error: --config: epsilon = 0: must be a number > 0"),
        (["votes=votes.npz", "labels_wanted=61"], "error: labels_wanted = 61: must be at most"),
        (["votes=votes.npz", "n_classes=2"], "is 2: must be 0 to 1"),
        (["votes=votes.npz", "votes_kind=counts"], "holds votes, and votes_kind = counts is asked"),
    ],
)
def test_a_mistake_is_one_line(folder, run_snakemake, given, message):
    done = run_snakemake(folder, *TINY, "--forcerun", "apply_votes", "--config", *given)
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert message in lines[0]
    assert "Traceback" not in done.stderr
