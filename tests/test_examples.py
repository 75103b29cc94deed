"""The example script runs as its reader would run it, and says what it promises."""

import os
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest

from private_ensembles.labels.planner import ranking

pytestmark = pytest.mark.docs


def output_of(root, name):
    """What an example prints, run as its reader would."""
    done = subprocess.run(
        [sys.executable, root / "examples" / f"{name}.py"],
        env={**os.environ, "PYTHONPATH": str(root / "workflow")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_labels_from_votes_runs_and_plans_what_it_then_gets(root):
    printed = output_of(root, "labels_from_votes")
    expected = float(re.search(r"(\d+\.\d) right labels expected", printed)[1])
    right = int(re.search(r"labels released, (\d+) right", printed)[1])
    assert abs(right - expected) < 20
    assert "proven private: True" in printed


def test_the_example_plans_without_a_look_at_the_votes_that_it_releases(root, monkeypatch):
    """Neither their counts nor their truth may reach the planner."""
    seen = []
    plan = ranking.rank_mechanisms

    def planning(task, counts, truth, names, meter=None):
        seen.append((counts, truth))
        return plan(task, counts, truth, ["gnmax_analytic"])

    monkeypatch.setattr(ranking, "rank_mechanisms", planning)
    names = runpy.run_path(str(root / "examples" / "labels_from_votes.py"))
    number = len(names["counts"])
    assert (names["released"].labels >= 0).sum() > 100
    assert len(seen) == 2  # to show the ranking, and to release
    for counts, truth in seen:
        assert not np.array_equal(counts[:number], names["counts"])
        assert not np.array_equal(truth[:number], names["truth"])


def test_the_package_says_that_it_is_typed(root):
    assert (root / "workflow" / "private_ensembles" / "py.typed").is_file()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("active_learning", r"round 10: +0 labels remain, (8|9)\d% of digits known"),
        ("federation", r"round 6: 10 labels, 0 remain\n5\d of 60 labels right"),
    ],
)
def test_sessions_of_the_examples_last_for_all_rounds(root, name, says):
    printed = output_of(root, name)
    assert re.search(says, printed), printed


def test_findings_are_asked_one_by_one_and_put_together_again(root):
    printed = output_of(root, "many_findings")
    assert "image 2: " in printed
    right, asked = map(int, re.search(r"(\d+) of (\d+) findings right", printed).groups())
    assert asked == 120
    assert right > 115


def test_training_and_labels_cost_less_together_than_as_two_black_boxes(root):
    printed = output_of(root, "ledger")
    total, boxes = (float(number) for number in re.findall(r"(\d+\.\d{3})\b", printed))
    assert 1 < total < 0.8 * boxes
