"""Files of votes on the command line: names, identifiers, a choice of queries, a public profile."""

import argparse
import csv
import json

import numpy as np
import pytest

from private_ensembles.command import planner_options, votes_options
from private_ensembles.command.main import main
from private_ensembles.labels.planner import defaults
from private_ensembles.labels.profile_fit import fit_profile

NAMES = ("cat", "dog", "bird")
TEACHERS, QUERIES = 60, 30
NAMED = ["--class-names", "cat,dog,bird", "--id", "image"]
PLAN = ["plan", "--teachers", "40", "--classes", "3", "--queries", "20"]
PLAN += ["--mechanism", "gnmax_analytic"]
STATED = ["--shards", "disjoint"]
SIZE = ["--teachers", str(TEACHERS)]
RELEASE = ["--epsilon", "8", "--mechanism", "gnmax_analytic", *STATED, *NAMED, *SIZE]


def write(path, votes, labels=None):
    """Write votes as a table of words with a column of identifiers."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        teachers = [f"model {number}" for number in range(votes.shape[1])]
        rows.writerow(["image", *teachers, *(["label"] if labels is not None else [])])
        for query, row in enumerate(votes):
            truth = [] if labels is None else [NAMES[labels[query]]]
            rows.writerow([f"x{query}.png", *(NAMES[vote] for vote in row), *truth])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Votes in words of teachers who agree; a neighbour that counts from one; public votes."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 3, QUERIES)
    votes = np.repeat(truth[:, None], TEACHERS, axis=1)
    write("votes.csv", votes)
    names = ",".join(f"model {number}" for number in range(TEACHERS))
    np.savetxt("one.csv", votes + 1, fmt="%d", delimiter=",", header=names, comments="")
    public = generator.integers(0, 3, 200)
    right = generator.random((200, 25)) < generator.beta(8, 2, 200)[:, None]
    cast = np.where(right, public[:, None], generator.integers(0, 3, (200, 25)))
    write("public.csv", cast, public)
    np.savez("public.npz", votes=cast, labels=public)
    return tmp_path, truth, cast, public


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_words_are_released_with_their_identifiers_and_names(folder):
    _, truth, *_ = folder
    assert main(["release", "votes.csv", *RELEASE, "--labels", "5"]) == 0
    labels = rows("results/own/release/0001/labels.csv")
    assert list(labels[0]) == ["query", "id", "label", "class_name"]
    assert [row["query"] for row in labels] == ["0", "1", "2", "3", "4"]
    for row in labels:
        assert row["id"] == f"x{row['query']}.png"
        assert row["class_name"] == NAMES[int(row["label"])]
        assert int(row["label"]) == truth[int(row["query"])]  # all teachers agree


def test_a_stated_list_and_a_random_order_are_answered(folder, capsys):
    path, truth, *_ = folder
    (path / "list.txt").write_text("x9.png\nx3.png\n", encoding="utf-8")
    words = ["release", "votes.csv", *RELEASE, "--out", "listed", "--answer", "list.txt"]
    assert main([*words, "--json"]) == 0
    assert [row["query"] for row in rows("listed/release/0001/labels.csv")] == ["3", "9"]
    found = json.loads(capsys.readouterr().out)
    assert found["asked"]["queries"] == 2
    assert "list.txt" not in found["asked"]["answered"]
    assert main(words) == 0
    assert "drawn and charged before" in capsys.readouterr().out
    (path / "list.txt").write_text("x9.png\nx4.png\n", encoding="utf-8")  # another request
    assert main(words) == 2
    assert "labels of your votes are out already" in capsys.readouterr().err
    words = ["release", "votes.csv", *RELEASE, "--out", "drawn", "--answer", "random"]
    assert main([*words, "--labels", "6"]) == 0
    assert "in an order drawn at random, whatever the votes" in capsys.readouterr().out
    drawn = rows("drawn/release/0001/labels.csv")
    assert len(drawn) == 6
    assert all(int(row["label"]) == truth[int(row["query"])] for row in drawn)


def test_counting_from_one_is_noticed_and_read_if_it_is_said(folder, capsys):
    words = ["release", "one.csv", "--classes", "3", "--epsilon", "8", "--noise", "reproducible"]
    words += ["--mechanism", "gnmax_analytic", *SIZE]
    assert main(words) == 2
    says = "'3' is none of the classes 0 to 2: votes are 1 to 3: say --first-class=1\n"
    assert capsys.readouterr().err.endswith(says)
    assert main([*words, "--first-class", "1"]) == 0
    _, truth, *_ = folder
    labels = rows("results/own/rehearsal/rehearsal_labels.csv")
    assert [int(row["label"]) for row in labels] == (truth + 1).tolist()  # as the file counts


REFUSED = [
    (["--classes", "3", "--id", "image"], "say --class-names=NAME,NAME,..."),
    (["--classes", "4", *NAMED], "--classes = 4: must be 3, as many as class_names"),
    ([], "--classes = None: must be given, or say --class-names=NAME,NAME,..."),
    (
        [*NAMED[:2], "--id", "picture"],
        "has no column called 'picture' (id_column); it has image, model 0",
    ),
    ([*NAMED, "--answer", "gone.txt"], "gone.txt"),
    ([*NAMED, "--profile-from", "votes.csv"], "--profile-from = 'votes.csv': must be votes on"),
]


def test_a_mistake_is_one_line_and_releases_nothing(folder, capsys):
    for words, says in REFUSED:
        assert main(["release", "votes.csv", "--epsilon", "8", *STATED, *SIZE, *words]) == 2, words
        error = capsys.readouterr().err
        assert says in error
        assert error.count("\n") == 1
    assert not (folder[0] / "results" / "own" / "release").exists()


def test_the_profile_of_public_votes_is_fitted_said_and_used(folder, capsys):
    _, _, cast, public = folder
    assert main([*PLAN, *NAMED, "--profile-from", "public.csv"]) == 0
    said, *ranking = capsys.readouterr().out.splitlines()
    assert said.startswith(
        "profile computed from votes on data that you say are public, public.csv: --easy-share "
    )
    counts = np.array([np.bincount(row, minlength=3) for row in cast])
    fitted = fit_profile(counts, public)
    assert f"--easy-share {fitted.easy_share:g} --easy {fitted.easy[0]:g}" in said
    stated = said.partition(": ")[2].split()
    assert main([*PLAN, *stated]) == 0
    assert (
        capsys.readouterr().out.splitlines() == ranking
    )  # stated as it was printed: the same plan
    assert main([*PLAN, "--profile-from", "public.npz", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["profile"]
    assert found["confusion"] == fitted.confusion


def test_a_profile_is_stated_or_fitted_and_needs_labels(folder, capsys):
    assert main([*PLAN, "--profile-from", "public.npz", "--easy", "5", "1"]) == 2
    assert "--profile-from = 'public.npz': must be given alone" in capsys.readouterr().err
    assert main([*PLAN, *NAMED, "--profile-from", "votes.csv"]) == 2
    assert "votes.csv: labels: 0 queries have a known one" in capsys.readouterr().err


def test_without_options_the_profile_is_the_usual_one():
    parser = argparse.ArgumentParser()
    planner_options.add_profile(parser)
    assert votes_options.read_profile(parser.parse_args([])) == defaults.ASSUMED_PROFILE


def test_a_session_s_batch_has_identifiers_and_names_too(folder):
    made = "session create s.session --teachers 60 --classes 3 --labels 40 --epsilon 8 --delta 1e-5"
    assert main([*made.split(), "--mechanism", "gnmax_analytic", *STATED, *NAMED]) == 0
    assert main(["session", "release", "s.session", "votes.csv", "--key", "one"]) == 0
    labels = rows("s.session.one.csv")
    assert len(labels) == QUERIES
    assert all(row["id"] == f"x{row['query']}.png" for row in labels)
    assert all(row["class_name"] == NAMES[int(row["label"])] for row in labels)


def test_absent_ballots_are_hinted_at_by_the_option(folder, capsys):
    (folder[0] / "gaps.csv").write_text("anna,ben,cleo,dan\n0,,1,1\n1,1,,2\n")
    words = ["release", "gaps.csv", "--classes", "3", "--noise", "reproducible", "--epsilon", "9"]
    words += ["--teachers", "4"]
    assert main(words) == 2
    says = "line 2, column 'ben': is empty: if ballots may be absent say --absent"
    assert capsys.readouterr().err == f"error: gaps.csv: {says}\n"
    assert main([*words, "--absent-share", "0.2", "--absent", "--teachers", "5"]) == 2
    assert "--teachers = 5: must be 5; a teacher that never voted" in capsys.readouterr().err
    assert main([*PLAN, "--absent-share", "0.2"]) == 2
    says = "--absent-share = 0.2: must be 0, unless ballots may be absent (--absent)"
    assert capsys.readouterr().err == f"error: {says}\n"


def test_the_share_of_absent_ballots_is_found_in_public_votes(folder, capsys):
    """And where all public ballots are there, it is none."""
    generator = np.random.default_rng(1)
    truth = generator.integers(0, 3, 200)
    cast = np.where(generator.random((200, 30)) < 0.8, truth[:, None], 0)
    gone = generator.random((200, 30)) < 0.25
    header = ",".join([*(f"teacher{at}" for at in range(30)), "label"])
    for name, hidden in (("gaps.csv", gone), ("full.csv", np.zeros_like(gone))):
        cells = np.where(hidden, "", cast.astype(str))
        lines = [",".join([*row, str(label)]) for row, label in zip(cells, truth, strict=True)]
        (folder[0] / name).write_text("\n".join([header, *lines]) + "\n")
    capsys.readouterr()
    assert main([*PLAN, "--absent", "--profile-from", "gaps.csv", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["profile"]["absent_share"] == float(f"{gone.mean():.4g}")
    assert report["absent"] is True
    assert main([*PLAN, "--absent", "--profile-from", "gaps.csv"]) == 0
    assert f" --absent-share {gone.mean():.4g}" in capsys.readouterr().out
    assert main([*PLAN, "--absent", "--profile-from", "full.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["profile"]["absent_share"] == 0
    assert main([*PLAN, "--profile-from", "gaps.csv"]) == 2
    assert "if ballots may be absent say --absent" in capsys.readouterr().err
