"""What a run says when it starts and ends."""

import re

from private_ensembles.jobs import announce

RULES = ["train_teachers"] * 2 + ["optimize_gamma"] + ["tabulate_x"] * 5 + ["all", "report"]


def test_a_run_says_what_it_will_do_in_words():
    text = announce.start(RULES, data="embedded", papers=["darrm", "pate"], votes=None)
    assert text.splitlines()[0] == (
        "Reproducing DaRRM and PATE on data that ship with scikit-learn (no data are downloaded): "
        "train 2 ensembles of teachers, optimise 1 noise function and 5 shorter jobs (tables, "
        "figures, checks)."
    )


def test_small_runs_and_those_on_own_votes_have_words_as_well():
    text = announce.start(["tabulate_x"], data="paper", papers=["darrm"], votes=None)
    assert text.startswith("Reproducing DaRRM on the papers' own data: 1 job.")
    text = announce.start(["apply_votes"], data="paper", papers=["darrm"], votes="v.npz")
    assert text.startswith("Accounting for your votes (v.npz): account for 1 vote matrix.")


def test_the_end_names_the_page_that_exists(tmp_path):
    page = tmp_path / "index.html"
    assert announce.end([str(page)]) is None
    page.write_text("")
    assert announce.end([str(tmp_path / "x"), str(page)]) == f"Done. Open the report: {page}"


def test_no_training_hides_among_the_shorter_jobs(root):
    rules = "".join(path.read_text() for path in (root / "workflow" / "rules").glob("*.smk"))
    names = set(re.findall(r"^(?:use )?rule (?:\w+ as )?(\w+)", rules, re.M))
    long = {
        name for name in names if name.startswith(("train_", "solve_")) or "bagged_votes" in name
    }
    assert len(long) >= 7
    assert long <= set(announce._WORK)
    for name in sorted(long):
        text = announce.start([name], data="paper", papers=["pate"], votes=None)
        assert "shorter" not in text
        assert " 1 " in text
