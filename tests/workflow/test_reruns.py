"""A finished run: nothing to do again, and each change reruns what depends on it and no more."""

import csv
import json
import os
import shutil

import pytest
import yaml

TINY = ("--configfile", "tests/config/tiny.yaml")
TRAINING = {"prepare_dataset", "train_teachers", "cast_votes"}


@pytest.fixture
def change(finished_tiny_run, tmp_path):
    """Write a configuration that differs from the tiny one at dotted paths; returns arguments."""

    def write(**values):
        config = yaml.safe_load((finished_tiny_run / "tests/config/tiny.yaml").read_text())
        for path, value in values.items():
            section = config
            *keys, last = path.split("__")
            for key in keys:
                section = section.setdefault(key, {})
            section[last] = value
        (tmp_path / "changed.yaml").write_text(yaml.safe_dump(config))
        return ("--configfile", str(tmp_path / "changed.yaml"))

    return write


@pytest.fixture
def edited(finished_tiny_run):
    """Append text to files of the finished run's workflow, and take it back after the test."""
    before = {}

    def append(path, text):
        file = finished_tiny_run / "workflow" / path
        before[file] = file.read_bytes()
        file.write_bytes(before[file] + text.encode())

    yield append
    for file, content in before.items():
        file.write_bytes(content)


def test_second_run_does_nothing(finished_tiny_run, planned):
    assert planned(finished_tiny_run, *TINY) == {}


def test_run_leaves_no_temporary_files(finished_tiny_run):
    assert list((finished_tiny_run / "results").rglob(".*.part*")) == []


def test_touch_comment_and_docstring_rerun_nothing(finished_tiny_run, planned, edited):
    for path in (finished_tiny_run / "workflow").rglob("*.py"):
        os.utime(path)
    edited("private_ensembles/darrm/optimize.py", "\n# A comment.\n")
    edited("scripts/train_teachers.py", "\n# A comment.\n")
    assert planned(finished_tiny_run, *TINY) == {}


def test_moved_folder_reruns_nothing(finished_tiny_run, planned, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(finished_tiny_run, moved)
    assert planned(moved, *TINY) == {}


def test_edit_in_darrm_reruns_gamma_but_no_teacher(finished_tiny_run, planned, edited):
    edited("private_ensembles/darrm/optimize.py", "\nREVISION = 2\n")
    plan = planned(finished_tiny_run, *TINY)
    assert plan["optimize_gamma"] == 3
    assert not TRAINING & set(plan)


def test_edit_in_teachers_reruns_training_but_no_gamma(finished_tiny_run, planned, edited):
    edited("private_ensembles/teachers/models.py", "\nREVISION = 2\n")
    plan = planned(finished_tiny_run, *TINY)
    assert plan["train_teachers"] == plan["cast_votes"] == 2
    assert not {"optimize_gamma", "search_gnmax_sigma", "prepare_dataset"} & set(plan)


def test_changed_m_reruns_its_grid_point_and_dependents_only(finished_tiny_run, planned, change):
    plan = planned(finished_tiny_run, *change(darrm__m=[1, 5], darrm__tables__table1=5))
    assert plan.pop("optimize_gamma") == 1
    assert plan.pop("search_gnmax_sigma") == 1
    assert plan.pop("release_labels") == 1
    assert plan.pop("tabulate_label_accuracy") == 1
    assert set(plan) == {"compare_published", "build_index"}


def test_added_m_leaves_finished_grid_points_alone(finished_tiny_run, planned, change):
    plan = planned(finished_tiny_run, *change(darrm__m=[1, 3, 5]))
    assert plan["optimize_gamma"] == plan["release_labels"] == 1
    assert not TRAINING & set(plan)


def test_added_training_seed_trains_that_seed_only(finished_tiny_run, planned, change):
    plan = planned(finished_tiny_run, *change(darrm__training_seeds=[0, 1]))
    assert plan["train_teachers"] == plan["cast_votes"] == 2
    assert not {"prepare_dataset", "optimize_gamma", "account_teachers"} & set(plan)


def test_changed_learning_rate_retrains_its_kind_and_accounts_for_nothing_new(
    finished_tiny_run, planned, change
):
    plan = planned(finished_tiny_run, *change(darrm__embedded__private_teachers__learning_rate=0.2))
    assert plan["train_teachers"] == plan["cast_votes"] == 1
    assert not {"account_teachers", "prepare_dataset", "optimize_gamma"} & set(plan)


def test_changed_solver_reruns_gamma_only_and_what_needs_it(finished_tiny_run, planned):
    plan = planned(finished_tiny_run, *TINY, "--config", "solver=highs")
    assert plan["optimize_gamma"] == 3
    assert not TRAINING & set(plan)


def test_mirror_and_addresses_rerun_nothing(finished_tiny_run, planned):
    assert planned(finished_tiny_run, *TINY, "--config", "data_mirror=https://example.org") == {}


def test_tables_say_that_digits_are_a_stand_in(finished_tiny_run):
    with open(finished_tiny_run / "results/darrm/tables/table1.csv") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert {(row["dataset"], row["stand_in"]) for row in rows} == {("digits", "True")}


def test_every_gamma_carries_a_certificate_that_holds(finished_tiny_run):
    files = sorted((finished_tiny_run / "results/darrm/gamma").glob("*.json"))
    assert len(files) == 3
    for file in files:
        assert json.loads(file.read_text())["certificate"]["holds"] is True


def test_each_job_leaves_its_log_and_benchmark(finished_tiny_run):
    for folder in ("logs", "results/benchmarks"):
        rules = {path.name for path in (finished_tiny_run / folder).iterdir()}
        assert {"train_teachers", "optimize_gamma", "release_labels", "build_index"} <= rules


def test_same_seed_gives_the_same_results(finished_tiny_run, run_snakemake, tmp_path):
    # Everything random is in the votes and labels; the rest is compared by the tests of its room.
    again = tmp_path / "again"
    target = "results/darrm/labels/dataset=digits,m=3.csv"
    done = run_snakemake(
        finished_tiny_run, *TINY, "--directory", str(again), "--cores", "1", target
    )
    assert done.returncode == 0, done.stderr
    assert (again / target).read_bytes() == (finished_tiny_run / target).read_bytes()


def test_failed_job_shows_one_error_line_and_leaves_no_output(finished_tiny_run, run_snakemake):
    # The claim is below what the accountant proves.
    (finished_tiny_run / "bad.yaml").write_text("darrm: {embedded: {epsilon: 0.001}}\n")
    done = run_snakemake(
        *(finished_tiny_run, "--configfile", "tests/config/tiny.yaml", "bad.yaml"),
        *("--directory", "failing", "--cores", "1", "results/darrm/privacy/teachers.csv"),
    )
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, done.stderr
    assert "claimed epsilon = 0.001 is below" in lines[0]
    assert list((finished_tiny_run / "failing").rglob("*teachers*.csv")) == []
