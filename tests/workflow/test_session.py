"""A batch of a session in the workflow: released once, put back for nothing, or refused."""

import json

import numpy as np
import pytest

from private_ensembles import Session

from ..release import flat


@pytest.fixture(scope="module")
def folder(tmp_path_factory, copy_workflow):
    place = copy_workflow(tmp_path_factory.mktemp("session"))
    votes = np.random.default_rng(0).choice(3, (10, 60), p=[0.8, 0.1, 0.1])
    np.savez(place / "march.npz", votes=votes)
    sizes = {
        "teachers": 60,
        "classes": 3,
        "labels": 15,
        "epsilon": 5,
        "delta": 1e-5,
        "shards": "disjoint",
    }
    flat.create(place / "w.session", mechanisms=["gnmax_analytic"], **sizes).close()
    return place


BATCH = ("--cores", "1", "--config", "session=w.session", "votes=march.npz")


def test_a_batch_is_released_once_and_its_labels_come_back_for_nothing(folder, run_snakemake):
    done = run_snakemake(folder, *BATCH, "batch=2026-03-01")
    assert done.returncode == 0, done.stdout + done.stderr
    labels = folder / "results" / "own" / "session" / "2026-03-01" / "labels.csv"
    released = labels.read_text()
    said = done.stdout + done.stderr
    assert "Releasing batch 2026-03-01 of " in said
    assert f"\nLabels: {labels}\n" in said
    assert len(released.splitlines()) == 11
    status = json.loads(labels.with_name("session.json").read_text())
    assert (status["labels"], status["remaining"]) == (10, 5)
    labels.unlink()
    done = run_snakemake(folder, *BATCH, "batch=2026-03-01")
    assert done.returncode == 0, done.stdout + done.stderr
    assert labels.read_text() == released
    with Session.open(folder / "w.session") as session:
        assert session.remaining == 5
    # Ten more than remain.
    done = run_snakemake(folder, *BATCH, "batch=2026-04-01")
    assert done.returncode != 0
    assert "10 queries: must be at most 5" in done.stdout + done.stderr
    assert not labels.parent.with_name("2026-04-01").joinpath("labels.csv").exists()


def test_batches_have_the_names_that_are_written(folder, run_snakemake):
    """To Snakemake 1_10 and 11_0 are both 110, 007 is 7, and 2026.10 is 2026.1."""
    sizes = {"teachers": 40, "classes": 3, "labels": 30, "epsilon": 40, "delta": 1e-5}
    stated = {"mechanisms": ["gnmax_analytic"], "shards": "disjoint", "anyway": True}
    flat.create(folder / "names.session", **sizes, **stated).close()
    names = {"1_10": 0, "11_0": 2, "007": 1, "2026.10": 0}
    for name, label in names.items():
        np.savez(folder / "batch.npz", votes=np.full((5, 40), label))
        given = ("session=names.session", "votes=batch.npz", f"batch={name}")
        done = run_snakemake(folder, "--cores", "1", "--config", *given)
        assert done.returncode == 0, done.stdout + done.stderr
        rows = folder.joinpath("results/own/session", name, "labels.csv").read_text().split()
        assert [row.split(",")[1] for row in rows[1:]] == [str(label)] * 5
    with Session.open(folder / "names.session") as session:
        assert [batch.key for batch in session.batches()] == list(names)
        # The same name by other means is the same batch.
        assert session.release([[40, 0, 0]] * 5, key="1_10").tolist() == [0] * 5
        assert session.state.batches == 4
    (folder / "batch.yaml").write_text("batch: 1_10\n")
    given = ("--configfile", "batch.yaml", "--config", "session=names.session", "votes=batch.npz")
    done = run_snakemake(folder, "-n", *given)
    assert done.returncode != 0
    assert "batch.yaml: batch = 110: must be text" in done.stdout + done.stderr
    assert "it was read as a number: put it in quotes" in done.stdout + done.stderr


def test_a_batch_that_names_classes_otherwise_is_refused(folder, run_snakemake):
    sizes = {"teachers": 60, "classes": 3, "labels": 15, "epsilon": 5, "delta": 1e-5}
    stated = {"mechanisms": ["gnmax_analytic"], "shards": "disjoint"}
    with flat.named(folder / "c.session", **sizes, **stated, class_names="a,b,c"):
        pass
    given = (*BATCH[:3], "session=c.session", *BATCH[4:], "batch=march")
    done = run_snakemake(folder, *given, "class_names=b,a,c")
    assert done.returncode != 0
    assert "class_names = 'b,a,c': must be 'a,b,c', which the session" in done.stdout + done.stderr
    done = run_snakemake(folder, *given)
    assert done.returncode == 0, done.stdout + done.stderr
    labels = folder / "results" / "own" / "session" / "march" / "labels.csv"
    assert labels.read_text().startswith("query,label,class_name\n")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("session=w.session", "votes=march.npz"), "batch = null: must be a name for this batch"),
        (("batch=3",), "batch = '3': must be null, as no session is given"),
        (
            ("session=gone.session", "votes=march.npz", "batch=3"),
            "gone.session': must be an existing file",
        ),
        (("session=w.session", "batch=3"), "votes = null: must be the file of a batch of votes"),
    ],
)
def test_what_is_missing_is_said_before_anything_runs(folder, run_snakemake, given, says):
    done = run_snakemake(folder, "-n", "--config", *given)
    assert done.returncode != 0
    assert says in done.stdout + done.stderr
