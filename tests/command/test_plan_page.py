"""plan --page: four lines that follow from the curves, and a file that is whole or not there."""

import json
import math

import pytest

from private_ensembles.command import plan_page
from private_ensembles.command.main import main
from private_ensembles.planner import defaults, plan_curves, study

WORDS = ["plan", "--teachers", "40", "--classes", "3", "--queries", "40", "--epsilon", "2"]
WORDS += ["--mechanism", "gnmax_analytic"]


def test_the_page_and_the_text_say_the_same(tmp_path, capsys):
    path = tmp_path / "plan.html"
    assert main([*WORDS, "--page", str(path)]) == 0
    text = capsys.readouterr().out
    page = path.read_text(encoding="utf-8")
    *_, first, second, third, fourth, last = text.splitlines()
    assert last == f"page: {path}"
    assert first.startswith("Of 40 labels ")
    for line in (first, second, third, fourth):
        assert f"<li>{line}</li>" in page
    assert [path.name for path in tmp_path.iterdir()] == ["plan.html"]
    assert main([*WORDS, "--page", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["page_lines"] == [first, second, third, fourth]
    assert first.startswith(f"Of 40 labels {found['plans'][0]['correct']:.0f} are expected")


def test_without_a_mechanism_or_a_folder_nothing_is_written(tmp_path, capsys):
    path = tmp_path / "plan.html"
    words = [*WORDS[:-1], "ladder", "--page", str(path)]
    assert main(words) == 1
    assert not path.exists()
    capsys.readouterr()
    assert main([*WORDS, "--page", str(tmp_path / "none" / "plan.html")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        ([0.9, 0.7], "Fewer labels are better ones: 80 % stay right up to about 6."),
        (
            [0.6, 0.5],
            "Not even one label is right 80 % of the time within this budget: it is 60 %.",
        ),
        ([0.9, 0.85], "At least 80 % of them are right."),
    ],
)
def test_how_few_labels_stay_useful_is_said_in_every_case(monkeypatch, shares, says):
    sizes = {"queries": 40, "labels": 40, "teachers": 40, "n_classes": 3}
    task = study.task(defaults.settings(**sizes), 2.0, 1e-5)
    plans = study.ranked(task, ["gnmax_analytic"], 0)
    rows = [
        {"mechanism": "gnmax_analytic", "over": over, "labels": labels, "epsilon": epsilon}
        | {"correct": share * labels}
        for over, places in {
            "labels": [(1, 2.0), (40, 2.0)],
            "epsilon": [(40, 1.0), (40, 4.0)],
        }.items()
        for (labels, epsilon), share in zip(
            places, shares[:: 1 if over == "labels" else -1], strict=True
        )
    ]
    curves = plan_curves.Curves(rows, 0.9, 0.7, 1 / 3)
    lines = plan_page.four_lines(task, plans, 0, curves)
    assert lines[1] == says
    enough = plan_curves.epsilon_that_is_useful(curves.line("gnmax_analytic", "epsilon"))
    assert ("No ε up to 4" in lines[2]) == (not math.isfinite(enough))
    assert len(lines) == 4
