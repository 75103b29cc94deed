"""What a run says when it starts and ends."""

from private_ensembles import announce

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
