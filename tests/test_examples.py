"""Examples give what readers are told: README, docs/api.md, docs/tutorial.md and examples/."""

import ast
import os
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest

import private_ensembles
from private_ensembles.labels.planner import ranking

from .blocks import run_examples

pytestmark = pytest.mark.docs

NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"


def test_the_readme_s_python_runs_and_says_what_it_gives(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (root / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names = {"counts": np.random.default_rng(0).multinomial(100, [0.8, 0.1, 0.1], size=5)}
    (imports, *calls) = filter(None, block.splitlines())
    exec(imports, names)
    for call in calls:
        code, _, comment = call.partition("  # ")
        value = eval(code, names)
        assert not comment or value == ast.literal_eval(comment)
    assert len(calls) == 3
    assert (tmp_path / "a.session").is_file()


def test_the_examples_of_the_api_page_give_what_it_says(root):
    text = (root / "docs" / "api.md").read_text(encoding="utf-8")
    assert run_examples(text, "docs/api.md") > 15


def test_every_public_name_has_a_heading_of_the_api_page(root):
    text = (root / "docs" / "api.md").read_text(encoding="utf-8")
    headed = {
        name
        for line in text.splitlines()
        if line.startswith("## ")
        for name in line[3:].split(", ")
    }
    assert headed == set(private_ensembles.__all__)


@pytest.fixture(scope="module")
def tutorial(root):
    return (root / "docs" / "tutorial.md").read_text(encoding="utf-8")


def test_the_tutorial_s_examples_give_what_it_says(tutorial):
    assert run_examples(tutorial, "docs/tutorial.md") > 30


def test_the_pictures_are_drawn_from_the_examples(tutorial, root, tmp_path):
    pictures = sorted((root / "docs" / "tutorial").glob("*.svg"))
    assert {picture.name for picture in pictures} == set(
        re.findall(r"\(tutorial/(.*?)\)", tutorial)
    )
    runpy.run_path(str(root / "docs" / "tutorial" / "draw.py"))["main"](tmp_path)
    for picture in pictures:
        kept, drawn = (
            re.sub(r"Matplotlib v\S+", "", folder.joinpath(picture.name).read_text("utf-8"))
            for folder in (picture.parent, tmp_path)
        )
        # Coordinates in points; another processor or library may round the last digits elsewhere.
        numbers = [np.array(re.findall(NUMBER, drawing), dtype=float) for drawing in (kept, drawn)]
        assert re.sub(NUMBER, "", kept) == re.sub(NUMBER, "", drawn), picture.name
        np.testing.assert_allclose(*numbers, atol=0.02, err_msg=picture.name)


def test_there_is_no_formula_before_the_fourth_part(tutorial):
    before = tutorial.partition("\n## 4. ")[0]
    prose = re.sub(r"```python.*?```", "", before, flags=re.DOTALL)
    assert not re.search(r"≤|\^|Pr\[|ε", prose)


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
