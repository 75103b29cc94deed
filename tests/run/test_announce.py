"""What a run says when it starts and ends."""

import re
import time
from types import SimpleNamespace

import pytest

from private_ensembles.run import announce

RULES = ["train_teachers"] * 2 + ["optimize_gamma"] + ["tabulate_x"] * 5 + ["all", "report"]


def start(rules, *, data="paper", papers=("darrm",), votes=None):
    """The words at the start of a run of these rules' jobs."""
    jobs = [SimpleNamespace(rule=SimpleNamespace(name=name)) for name in rules]
    own = {"votes": votes, "session": {"file": None, "batch": None}}
    return announce.describe_start(jobs, {"data": data, "papers": papers, "own": own})


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
    given = {"comparison": tmp_path / "no.csv", "since": time.time() - 284, "data": "embedded"}
    given["requested"] = [str(page), str(tmp_path / "x")]
    assert announce.describe_end(str(page), **given) is None
    page.write_text("")
    lines = announce.describe_end(str(page), **given).splitlines()
    assert lines == ["Done in 4 min 44 s.", f"Open the report: {page}"]


def test_the_end_without_the_page_names_what_was_asked_for(tmp_path):
    page = tmp_path / "index.html"
    page.write_text("of an earlier run")
    for name in ("gamma/K=5.json", "gamma/K=7.json", "labels/m=1.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    given = {"comparison": tmp_path / "no.csv", "since": time.time(), "data": "embedded"}

    def said(*names):
        asked = [str(tmp_path / name) for name in names]
        return announce.describe_end(str(page), requested=asked, **given).splitlines()[-1]

    assert said("gamma/K=5.json") == f"Result: {tmp_path}/gamma/K=5.json"
    assert said("gamma/K=5.json", "gamma/K=7.json") == f"Results: 2 files in {tmp_path}/gamma"
    assert said("gamma/K=5.json", "labels/m=1.csv") == f"Results: 2 files in {tmp_path}"


def test_what_was_asked_for_is_a_file_by_name_or_what_a_rule_gathers():
    one = SimpleNamespace(output=["gamma.json", "gamma.log"], input=["votes.npz"])
    gathering = SimpleNamespace(output=[], input=["table1.csv", "figure2.png"])
    dag = SimpleNamespace(targetjobs=[one, gathering], targetfiles={"gamma.json"})
    assert announce.list_requested_files(dag) == ["figure2.png", "gamma.json", "table1.csv"]


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
    given = {"page": str(page), "comparison": table, "requested": [str(page)], "data": data}
    told = announce.describe_end(**given, since=now - 5)
    assert told.splitlines()[1] == (
        f"3 printed numbers compared: 2 match, 1 differs; 2 were not run and need {needs}."
    )
    assert len(announce.describe_end(**given, since=now + 5).splitlines()) == 2


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
