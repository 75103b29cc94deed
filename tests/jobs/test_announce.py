"""What a run says when it starts and ends."""

import re
import time
from types import SimpleNamespace

import pytest

from private_ensembles.jobs import announce

RULES = ["train_teachers"] * 2 + ["optimize_gamma"] + ["tabulate_x"] * 5 + ["all", "report"]


def start(rules, *, data="paper", papers=("darrm",), votes=None):
    """The words at the start of a run of these rules' jobs."""
    jobs = [SimpleNamespace(rule=SimpleNamespace(name=name)) for name in rules]
    return announce.start(jobs, {"data": data, "papers": papers, "votes": votes})


@pytest.mark.parametrize(
    ("rules", "config", "line"),
    [
        (
            RULES,
            {"data": "embedded", "papers": ["darrm", "pate"]},
            "Reproducing DaRRM and PATE on data that ship with scikit-learn (no data are "
            "downloaded): train 2 ensembles of teachers, optimise 1 noise function and 5 shorter "
            "jobs (tables, figures, checks).",
        ),
        (["tabulate_x"], {}, "Reproducing DaRRM on the papers' own data: 1 job."),
        (
            ["apply_votes"],
            {"votes": "v.npz"},
            "Accounting for your votes (v.npz): account for 1 vote matrix.",
        ),
    ],
)
def test_a_run_says_what_it_will_do_in_words(rules, config, line):
    assert start(rules, **config).splitlines()[0] == line


def test_the_end_names_the_page_that_exists(tmp_path):
    page = tmp_path / "index.html"
    given = {"checked": tmp_path / "no.csv", "since": time.time() - 284, "data": "embedded"}
    assert announce.end([str(page)], **given) is None
    page.write_text("")
    lines = announce.end([str(tmp_path / "x"), str(page)], **given).splitlines()
    assert lines == ["Done in 4 min 44 s.", f"Open the report: {page}"]


@pytest.mark.parametrize(
    ("data", "needs"),
    [("embedded", "--config data=paper"), ("paper", "data that are private or not at hand")],
)
def test_the_end_counts_what_was_compared_in_this_run(tmp_path, data, needs):
    page, table = tmp_path / "index.html", tmp_path / "fidelity.csv"
    page.write_text("")
    statuses = ["match", "not_run", "match", "differs", "not_run"]
    rows = [*(f"x,{one},number" for one in statuses), "x,match,relation"]
    table.write_text("\n".join(["item,status,kind", *rows]))
    now = table.stat().st_mtime
    told = announce.end([page], table, since=now - 5, data=data)
    assert told.splitlines()[1] == (
        f"3 printed numbers compared: 2 match, 1 differs; 2 were not run and need {needs}."
    )
    assert len(announce.end([page], table, since=now + 5, data=data).splitlines()) == 2


def test_no_training_hides_among_the_shorter_jobs(root):
    rules = "".join(path.read_text() for path in (root / "workflow" / "rules").glob("*.smk"))
    names = set(re.findall(r"^(?:use )?rule (?:\w+ as )?(\w+)", rules, re.M))
    long = {
        name for name in names if name.startswith(("train_", "solve_")) or "bagged_votes" in name
    }
    assert len(long) >= 7
    assert long <= set(announce._WORK)
    for name in sorted(long):
        text = start([name])
        assert "shorter" not in text
        assert " 1 " in text
