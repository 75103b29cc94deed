"""records: each result has its origin beside it, and a changed result is not used."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from private_ensembles.base import files
from private_ensembles.base import provenance as records
from private_ensembles.base.provenance import (
    check_inputs,
    read_record,
    record_path,
    surroundings,
)

NAME = "results/darrm/tables/table1.csv"


@pytest.fixture
def rule(fake_snakemake, tmp_path, monkeypatch):
    """Build what Snakemake hands over for files by name in the current folder, a fresh one."""
    monkeypatch.chdir(tmp_path)

    def build(inputs=(), outputs=()):
        snakemake = fake_snakemake(params={"m": 3, "code": "abc"})
        snakemake.input[:], snakemake.output[:] = inputs, outputs
        snakemake.config = {"seed": 7}
        return snakemake

    return build


@pytest.fixture
def recorded_file(rule):
    """A result made by a job."""
    with files.job(rule(outputs=[NAME])) as job:
        job.output[0].write_text("a,b\n1,2\n")
    return Path(NAME)


def change(path, text):
    """Change a file but not its time, as a failing disk does."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_record_says_where_a_result_came_from(recorded_file):
    record = json.loads(Path("results/provenance/darrm/tables/table1.csv.json").read_text())
    assert record == read_record(recorded_file)
    assert record["file"] == NAME
    assert record["rule"] == "some_rule"
    assert record["params"] == {"m": 3, "code": "abc"}
    assert record["seed"] == 7
    assert record["sha256"] == hashlib.sha256(recorded_file.read_bytes()).hexdigest()
    assert {"versions", "revision", "python", "machine", "device", "inputs"} <= set(record)
    assert {"processor", "instruction_sets", "portable"} <= set(record)


def test_what_results_hold_themselves_is_the_same_on_every_processor():
    """Votes and teachers hold their surroundings, and a portable run promises their bytes."""
    assert set(surroundings()) == {"versions", "revision", "python", "machine", "device"}


def test_failed_job_leaves_no_record(rule):
    with pytest.raises(SystemExit), files.job(rule(outputs=[NAME])) as job:
        job.output[0].write_text("half")
        raise ValueError("no")
    assert [path for path in Path("results").rglob("*") if path.is_file()] == []


def test_unchanged_input_is_passed_with_its_checksum(recorded_file):
    assert check_inputs([recorded_file]) == {NAME: read_record(recorded_file)["sha256"]}


@pytest.mark.parametrize("confidential", [False, True])
def test_input_that_differs_from_its_record_stops_the_job(
    recorded_file, rule, capsys, confidential
):
    change(recorded_file, "a,b\n1,3\n")
    with pytest.raises(ValueError, match=r"table1\.csv: is damaged") as caught:
        check_inputs([recorded_file])
    assert "\n" not in str(caught.value)
    with pytest.raises(SystemExit), files.job(rule([NAME]), confidential=confidential):
        raise AssertionError("the block must not run")
    assert f"error: {NAME}: is damaged" in capsys.readouterr().err


def test_input_that_was_changed_on_purpose_is_used_once_its_record_is_deleted(recorded_file):
    recorded_file.write_text("a,b\n1,3\n")
    with pytest.raises(ValueError, match="is damaged") as caught:
        check_inputs([recorded_file])
    assert str(caught.value).endswith(f"delete its record, {record_path(recorded_file)}")
    record_path(recorded_file).unlink()
    assert check_inputs([recorded_file]) == {NAME: hashlib.sha256(b"a,b\n1,3\n").hexdigest()}


@pytest.mark.parametrize("content", ["", "[1]", "{", "null"])
def test_record_that_cannot_be_read_is_no_record(recorded_file, content):
    record_path(recorded_file).write_text(content)
    assert read_record(recorded_file) == {}
    assert check_inputs([recorded_file])


@pytest.mark.parametrize(
    "path",
    [
        "data/raw/mnist/x.gz",
        "docs/darrm/README.md",
        "results",
        "results/benchmarks/rule/x.tsv",
        "results/provenance/x.json",
        "results/../secrets",
        "results/own/private/votes.csv",
        "ours/results/own/private/votes.csv",
        "results/own/rehearsal/rehearsal_labels.csv",
        "ours/results/own/rehearsal/rehearsal_index.html",
        "ours/results/benchmarks/rule/x.tsv",
        "/tmp/results/x.csv",
    ],
)
def test_what_is_no_result_has_no_record(path):
    assert record_path(path) is None


def test_a_prefix_stands_before_the_record_too():
    assert record_path("ours/results/a/b.csv") == Path("ours/results/provenance/a/b.csv.json")
    assert record_path("a/results/b/results/c.csv") == Path(
        "a/results/provenance/b/results/c.csv.json"
    )


@pytest.mark.parametrize("prefix", ["", "ours/", "/tmp/ours/", "a/results/b/"])
def test_what_is_private_is_private_behind_any_prefix(prefix):
    assert records.is_private(f"{prefix}results/own/private/votes.csv")
    assert records.is_private(f"{prefix}results/own/rehearsal/rehearsal_labels.csv")
    assert not records.is_private(f"{prefix}results/own/release/labels.csv")


def test_a_confidential_job_records_no_hash_of_its_inputs(rule):
    snakemake = rule(["votes.csv"], ["results/own/release/labels.csv"])
    Path("votes.csv").write_text("0,1\n")
    with files.job(snakemake, confidential=True) as job:
        job.output[0].write_text("x")
    assert read_record("results/own/release/labels.csv")["inputs"] == {"votes.csv": None}
    sha256 = hashlib.sha256(b"0,1\n").hexdigest()
    assert [path for path in Path().rglob("*.*") if sha256 in path.read_text()] == []


@pytest.mark.parametrize("name", ["private/votes.csv", "rehearsal/rehearsal_index.html"])
def test_what_reads_private_results_records_no_hash_of_them(rule, name):
    source = Path("results/own") / name
    snakemake = rule([str(source)], ["results/summary.json"])
    source.parent.mkdir(parents=True)
    source.write_text("the votes say so")
    with files.job(snakemake) as job:
        job.output[0].write_text("{}")
    assert read_record("results/summary.json")["inputs"] == {str(source): None}


def test_outputs_of_a_confidential_job_have_one_time_a_whole_second(rule):
    """How long it took to draw labels, or to account for votes, is nobody's business."""
    names = ["results/own/release/mechanisms.csv", "results/own/release/labels.csv"]
    with files.job(rule(outputs=names), confidential=True) as job:
        for number, path in enumerate(job.output):
            path.write_text("x")
            os.utime(path, ns=(number, 1_700_000_000_123_456_789 + 10**10 * number))
    times = {os.stat(name).st_mtime_ns for name in names}
    assert len(times) == 1
    assert times.pop() % 10**9 == 0
    assert {read_record(name)["mtime_ns"] % 10**9 for name in names} == {0}
    assert check_inputs(names)


def test_revision_is_none_outside_of_git(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "__file__", str(tmp_path / "records.py"))
    records._revision.cache_clear()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert surroundings()["revision"] is None
    records._revision.cache_clear()


def test_downloaded_files_have_no_record_but_a_sha256(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    raw = Path("data/raw/mnist/labels.gz")
    raw.parent.mkdir(parents=True)
    raw.write_bytes(b"labels")
    assert read_record(raw) == {}
    assert check_inputs([raw]) == {str(raw): hashlib.sha256(b"labels").hexdigest()}
