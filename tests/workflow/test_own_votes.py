"""`snakemake --config votes=...`: a release made once, a batch of a session, one refusal of each.

What is refused and why is tested where it is refused: tests/release, tests/run. More real runs are
slow.
"""

import hashlib
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
import yaml

from private_ensembles import Session

from ..ledgers import releases
from ..release import flat

TINY = ("--configfile", "config/scenarios/tiny.yaml", "--cores", "1")
GIVEN = ("--config", "votes=votes.npz", "n_classes=3", "n_teachers=40")
GIVEN += ("shards=disjoint", "delta=1e-5")
# Of the newest release, and of each release.
NEWEST = {
    *("index.html", "labels.csv", "mechanisms.csv", "mechanisms.pdf", "mechanisms.png"),
    "curves.csv",
}
KEPT = {
    *("0001/labels.csv", "0001/mechanisms.csv", "0001/statement.html", "0001/certificate.json"),
}
PUBLISHED = NEWEST | KEPT


@pytest.fixture(scope="module")
def folder(tmp_path_factory, copy_workflow):
    """Votes of teachers who nearly always agree, and those of a neighbour: one votes otherwise."""
    folder = copy_workflow(tmp_path_factory.mktemp("own") / "copy")
    # Half of a job's time goes into the search for this one's parameters, which is the planner's
    # (tests/experiments); test_new_mechanism.py serves own votes with all of them.
    tiny = folder / "config" / "scenarios" / "tiny.yaml"
    settings = yaml.safe_load(tiny.read_text())
    settings["planner"]["mechanisms"].remove("confident_gnmax")
    tiny.write_text(yaml.safe_dump(settings))
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 3, 60)
    right = generator.random((60, 40)) < 0.95
    votes = np.where(right, truth[:, None], generator.integers(0, 3, (60, 40))).astype(np.uint8)
    np.savez(folder / "votes.npz", votes=votes, labels=truth)
    votes[:, 7] = (votes[:, 7] + 1) % 3
    np.savez(folder / "neighbour.npz", votes=votes, labels=truth)
    return folder


@pytest.fixture(scope="module")
def finished(folder, run_snakemake):
    done = run_snakemake(folder, *TINY, *GIVEN, "epsilon=20")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout + done.stderr


@pytest.fixture
def copy(finished, tmp_path):
    """A copy of the finished folder, to spend in."""
    return shutil.copytree(finished[0], tmp_path / "copy")


def contents(folder):
    """What may be published, by name."""
    release = folder / "results/own/release"
    files = [path for path in release.rglob("*") if path.is_file()]
    return {str(path.relative_to(release)): path.read_bytes() for path in files}


def test_the_run_says_what_it_does_and_where_the_page_is(finished):
    folder, output = finished
    assert "Accounting for your votes" in output
    page = f"{folder}/results/own/release/index.html"
    assert output.count(f"Open the report: {page}") == 1
    assert not (folder / "results/index.html").exists()  # the papers are left alone


def test_labels_are_released_within_the_budget(finished):
    folder, _ = finished
    labels = pd.read_csv(folder / "results/own/release/labels.csv")
    truth = np.load(folder / "votes.npz")["labels"]
    assert (labels["label"].to_numpy() == truth[labels["query"]]).mean() > 0.8
    table = pd.read_csv(folder / "results/own/release/mechanisms.csv")
    assert table["chosen"].sum() == 1
    assert (table["epsilon"].dropna() <= 20).all()
    assert set(table.loc[table["mechanism"] == "ladder", "not_applicable"]) == {
        "for two classes only"
    }


def test_the_release_is_on_record_beside_its_labels(finished):
    folder, _ = finished
    (one,) = releases(folder / "results/own")
    labels = contents(folder)["labels.csv"]
    assert labels == contents(folder)["0001/labels.csv"]
    assert labels.decode() == one.terms.labels_text(one.batch)
    assert one.cost.epsilon <= 20
    assert one.cost.delta == 1e-5
    table = pd.read_csv(folder / "results/own/release/mechanisms.csv")
    assert one.plan.name == table.loc[table["chosen"], "mechanism"].item()


def test_what_depends_on_votes_is_kept_apart_from_what_may_leave(finished):
    folder, _ = finished
    assert set(contents(folder)) == PUBLISHED
    private = folder / "results/own/private"
    assert private.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in private.iterdir()] == ["votes.csv"]
    release = folder / "results/own/release/0001"  # everybody may see it
    assert release.stat().st_mode == release.parent.stat().st_mode
    labels = folder / "results/own/release/labels.csv"
    assert {path.stat().st_mode for path in release.iterdir()} == {labels.stat().st_mode}
    assert (folder / "results/own/ledger.sqlite").stat().st_mode & 0o777 == 0o600
    assert (private / "votes.csv").stat().st_mode & 0o777 == 0o600
    assert (folder / "logs/apply_votes/own.log").stat().st_mode & 0o777 == 0o600
    table = pd.read_csv(private / "votes.csv")
    assert set(table["release"]) == {"not for release"}
    assert table["correct"].notna().all()
    page = contents(folder)["index.html"].decode()
    assert "rehearsal" not in page
    some_differ = table.loc[table["agreeing"] < 60, "agreeing"]
    assert len(some_differ)
    for value in some_differ:
        assert repr(float(value)) not in page


def test_how_long_it_took_is_not_among_the_results(finished):
    folder, _ = finished
    assert not (folder / "results/benchmarks").exists()
    records = list((folder / "results/provenance").rglob("*.json"))
    assert len(records) == 6
    times = {json.loads(path.read_text())["mtime_ns"] for path in records}
    assert len(times) == 1
    assert times.pop() % 10**9 == 0


def test_no_hash_of_the_votes_is_among_the_results(finished):
    folder, _ = finished
    hashes = [
        hashlib.sha256(path.read_bytes()).hexdigest().encode()
        for path in (folder / "votes.npz", folder / "results/own/private/votes.csv")
    ]
    files = [path for path in (folder / "results").rglob("*") if path.is_file()]
    assert len(files) > len(PUBLISHED)
    assert [path for path in files if any(each in path.read_bytes() for each in hashes)] == []


@pytest.mark.slow
def test_a_neighbour_publishes_the_same_bytes(finished, run_snakemake):
    """The teachers agree so much that no noise of this budget turns a label: the outcome is one."""
    folder, _ = finished
    given = (*GIVEN[:1], "votes=neighbour.npz", *GIVEN[2:], "epsilon=20")
    done = run_snakemake(folder, *TINY, "--directory", "neighbour", *given)
    assert done.returncode == 0, done.stdout + done.stderr
    one, two = contents(folder), contents(folder / "neighbour")
    clock = rb"\d{4}-\d\d-\d\dT[\d:]+\+00:00"
    assert set(one) == set(two)
    assert [n for n in one if re.sub(clock, b"", one[n]) != re.sub(clock, b"", two[n])] == []


@pytest.mark.slow
@pytest.mark.parametrize(("template", "jobs"), [("own", {"apply_votes": 1}), ("index", {})])
def test_a_template_of_its_own_page_alone_makes_that_again(finished, planned, template, jobs):
    folder, _ = finished
    given = ("--configfile", "config/scenarios/tiny.yaml", *GIVEN)
    path = folder / f"workflow/private_ensembles/report/templates/{template}.html"
    before = path.read_text(encoding="utf-8")
    path.write_text(before + "{# new #}\n", encoding="utf-8")
    try:
        assert planned(folder, *given, "epsilon=20", "again=yes") == jobs
    finally:
        path.write_text(before, encoding="utf-8")


@pytest.mark.slow
def test_nothing_is_left_to_do_and_another_budget_reruns(finished, planned):
    folder, _ = finished
    given = ("--configfile", "config/scenarios/tiny.yaml", *GIVEN)
    assert planned(folder, *given, "epsilon=20", "again=yes") == {}
    assert planned(folder, *given, "epsilon=20", "total_budget=30", "anyway=yes") == {}
    for key in ("epsilon=10", "unit=patient", "labels_wanted=59", "truth_column=label"):
        assert planned(folder, *given, "epsilon=20", key) == {"apply_votes": 1}, key


@pytest.mark.slow
def test_the_section_of_a_file_asks_for_the_same_as_the_keys_that_are_typed(finished, planned):
    folder, _ = finished
    own = {"votes": "votes.npz", "ensemble": {"teachers": 40, "classes": 3}}
    own |= {"budget": {"epsilon": 20, "delta": 1e-5}, "protection": {"shards": "disjoint"}}
    (folder / "mine.yaml").write_text(yaml.safe_dump({"own": own}))
    files = ("--configfile", "config/scenarios/tiny.yaml", "mine.yaml")
    assert planned(folder, *files) == {}
    assert planned(folder, *files, "--config", "epsilon=10") == {"apply_votes": 1}


def refused(folder, run_snakemake, *arguments):
    done = run_snakemake(folder, *TINY, *arguments)
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "Traceback" not in done.stderr
    return line


def test_a_second_release_is_refused_and_the_first_stays(finished, run_snakemake):
    folder, _ = finished
    before = contents(folder)
    other = (*GIVEN[:1], "votes=neighbour.npz", *GIVEN[2:])
    line = refused(folder, run_snakemake, *other, "epsilon=20")
    assert "labels of your votes are out already (1 release, at most epsilon = " in line
    assert line.endswith("or allow it with --config again=yes")
    assert contents(folder) == before


@pytest.mark.slow
def test_deleted_labels_are_put_back_and_drawn_again_only_if_that_is_allowed(copy, run_snakemake):
    before = contents(copy)
    deleted = run_snakemake(copy, *TINY, *GIVEN, "epsilon=20", "--delete-all-output")
    assert deleted.returncode == 0, deleted.stderr
    assert set(contents(copy)) == KEPT
    refused(copy, run_snakemake, *GIVEN, "epsilon=10")
    assert set(contents(copy)) == KEPT
    back = run_snakemake(copy, *TINY, *GIVEN, "epsilon=20")
    assert back.returncode == 0, back.stderr
    assert "drawn and charged before: they cost nothing more" in back.stderr
    assert contents(copy) == before
    done = run_snakemake(copy, *TINY, *GIVEN, "epsilon=10", "again=yes")
    assert done.returncode == 0, done.stderr
    words = "Releasing again. With the 1 release before: at most epsilon = "
    (said,) = re.findall(words + r"(\S+) and delta = 2e-05 \(replace_one\) together", done.stderr)
    after = contents(copy)
    assert {name: after[name] for name in KEPT} == {name: before[name] for name in KEPT}
    assert after["0002/labels.csv"] == after["labels.csv"]
    total = sum(one.cost.epsilon for one in releases(copy / "results/own"))
    assert 29 < total <= 30
    page = contents(copy)["index.html"].decode()
    shown = r"All releases of this folder together cost at most ε = (\S+), δ = "
    (page_says,) = re.findall(shown, page)
    assert total <= float(page_says) <= total * (1 + 1e-4)
    assert total <= float(said) <= 30  # before the labels are drawn the whole budget counts


@pytest.mark.slow
def test_a_mistake_after_a_release_leaves_its_labels(copy, run_snakemake):
    before = contents(copy)
    line = refused(copy, run_snakemake, *GIVEN, "epsilon=20", "labels_wanted=61", "again=yes")
    assert "labels_wanted = 61: must be at least 1 and at most" in line
    assert contents(copy) == before


@pytest.mark.slow
def test_a_rehearsal_is_its_owners_alone_told_by_every_name_and_leaves_the_release(
    finished, run_snakemake, planned
):
    """Whoever has the seed and a hash of the labels can try votes until they fit."""
    folder, _ = finished
    before = contents(folder)
    # Of fewer labels than the release has: those would be the same, as the teachers agree.
    fewer = ("noise=reproducible", "labels_wanted=50")
    done = run_snakemake(folder, *TINY, *GIVEN, "epsilon=20", *fewer)
    assert done.returncode == 0, done.stderr
    own = folder / "results/own"
    names = {path.name for path in (own / "rehearsal").iterdir()}
    assert names == {f"rehearsal_{name}" for name in NEWEST}
    page = (own / "rehearsal/rehearsal_index.html").read_text(encoding="utf-8")
    assert "A rehearsal: the noise is from a seed." in page
    assert (own / "rehearsal").stat().st_mode & 0o777 == 0o700
    files = [path for path in own.rglob("rehearsal_*") if path.is_file()]
    assert len(files) == 7
    assert {path.stat().st_mode & 0o077 for path in files} == {0}
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest().encode() for path in files]
    everything = [path for path in (folder / "results").rglob("*") if path.is_file()]
    assert [path for path in everything if any(one in path.read_bytes() for one in hashes)] == []
    assert list((folder / "results/provenance").rglob("*rehearsal*")) == []
    assert contents(folder) == before
    assert planned(folder, "--configfile", "config/scenarios/tiny.yaml", *GIVEN, "epsilon=20") == {}


@pytest.mark.slow
def test_what_is_of_little_use_stops_before_the_draw_and_says_what_would_help(
    folder, run_snakemake
):
    where = ("--directory", "useless")
    words = (*TINY, *where, *GIVEN, "epsilon=0.1", "unit=patient")
    done = run_snakemake(folder, *words)
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert re.match(r"error: usefulness = 0\.\d\d: must be at least 0\.5", line)
    assert line.endswith("or allow it with --config anyway=yes")
    assert "apply_votes: expected on an assumed profile, not yours" in done.stderr
    own = folder / "useless/results/own"
    assert [path for path in own.rglob("*") if path.name in PUBLISHED] == []
    assert list(own.glob("private/*")) == []
    done = run_snakemake(folder, *words, "anyway=yes")
    assert done.returncode == 0, done.stderr
    (one,) = releases(own)
    assert one.plan.task.protection.unit == "patient"


@pytest.mark.slow
def test_words_identifiers_and_a_list_of_queries_are_read(folder, run_snakemake, planned):
    """Another list is another request; the names and the identifiers stand beside the labels."""
    names, votes = np.array(["cat", "dog", "bird"]), np.load(folder / "votes.npz")["votes"]
    table = pd.DataFrame(names[votes], columns=[f"model {at}" for at in range(votes.shape[1])])
    table.iloc[7, 1] = None  # absent
    table.insert(0, "image", [f"x{at}.png" for at in range(len(votes))])
    table.to_parquet(folder / "words.parquet")
    (folder / "list.txt").write_text("x7.png\nx2.png\n", encoding="utf-8")
    given = ("--config", "votes=words.parquet", "class_names=cat,dog,bird", "id_column=image")
    given += (
        "n_teachers=40",
        "answer=list.txt",
        "epsilon=20",
        "delta=1e-5",
        "noise=reproducible",
        "absent=yes",
    )
    words = (*TINY, "--directory", "worded", *given)
    done = run_snakemake(folder, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    own = folder / "worded/results/own/rehearsal"
    labels = pd.read_csv(own / "rehearsal_labels.csv")
    assert list(labels) == ["query", "id", "label", "class_name"]
    assert set(labels["query"]) <= {2, 7}
    assert (labels["id"] == [f"x{query}.png" for query in labels["query"]]).all()
    assert (labels["class_name"] == names[labels["label"]]).all()
    page = (own / "rehearsal_index.html").read_text(encoding="utf-8")
    assert "the queries of a stated list are answered, in its order" in page
    line = refused(folder, run_snakemake, "--directory", "worded", *given, "answer=gone.txt")
    assert "answer = 'gone.txt': must be first, random or an existing file" in line


@pytest.fixture
def place(tmp_path, copy_workflow):
    """The workflow beside a session of 15 labels and a file of 10 queries."""
    place = copy_workflow(tmp_path / "session")
    votes = np.random.default_rng(0).choice(3, (10, 60), p=[0.8, 0.1, 0.1])
    np.savez(place / "march.npz", votes=votes)
    flat.named(place / "w.session", **SESSION, class_names="a,b,c").close()
    return place


SESSION = {"teachers": 60, "classes": 3, "labels": 15, "epsilon": 5, "delta": 1e-5}
SESSION |= {"mechanisms": ["gnmax_analytic"], "shards": "disjoint"}
BATCH = ("--cores", "1", "--config", "session=w.session", "votes=march.npz")


def test_a_batch_is_released_once_and_what_exceeds_the_session_is_refused(place, run_snakemake):
    """Its name is the one that is written: to Snakemake 1_10 is the number 110."""
    done = run_snakemake(place, *BATCH, "batch=1_10")
    assert done.returncode == 0, done.stdout + done.stderr
    labels = place / "results" / "own" / "session" / "1_10" / "labels.csv"
    released = labels.read_text()
    said = done.stdout + done.stderr
    assert "Releasing batch 1_10 of " in said
    assert f"\nLabels: {labels}\n" in said
    assert released.startswith("query,label,class_name\n")
    assert len(released.splitlines()) == 11
    status = json.loads(labels.with_name("session.json").read_text())
    assert (status["labels"], status["remaining"]) == (10, 5)
    with Session.open(place / "w.session") as session:
        assert [batch.key for batch in session.batches()] == ["1_10"]
    line = refused(place, run_snakemake, *BATCH[2:], "batch=april")
    assert "10 queries: must be at most 5" in line
    assert not labels.parent.with_name("april").joinpath("labels.csv").exists()
    with Session.open(place / "w.session") as session:
        assert session.remaining == 5


@pytest.mark.slow
def test_labels_of_a_batch_come_back_for_nothing_and_by_the_same_names(place, run_snakemake):
    labels = place / "results" / "own" / "session" / "1_10" / "labels.csv"
    done = run_snakemake(place, *BATCH, "batch=1_10")
    assert done.returncode == 0, done.stdout + done.stderr
    released = labels.read_text()
    labels.unlink()
    line = refused(place, run_snakemake, *BATCH[2:], "batch=1_10", "class_names=b,a,c")
    assert "class_names = 'b,a,c': must be 'a,b,c', which the session" in line
    done = run_snakemake(place, *BATCH, "batch=1_10")
    assert done.returncode == 0, done.stdout + done.stderr
    assert labels.read_text() == released
    with Session.open(place / "w.session") as session:
        assert session.remaining == 5
