"""The same seed on the same machine: the same bytes, however many cores, and a known origin."""

import hashlib
import json
import shutil

import numpy as np
import pytest

from private_ensembles.base.provenance import record_path

from . import comparison

KINDS = {
    "tiny": {"csv", "html", "json", "npz", "pdf", "png", "pt"},
    "tiny_pate": {"csv", "html", "npz", "pdf", "png", "pt"},
}
TINY = ("--configfile", "config/scenarios/tiny.yaml")
KEYS = {
    *("file", "sha256", "rule", "wildcards", "params", "seed", "inputs"),
    *("versions", "revision", "python", "machine", "device"),
}


# Runs that are killed and resumed (test_kills.py) end in the results of "tiny" as well. The next
# test is of what PATE has of its own.
@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_one_core_and_two_give_the_same_results_from_two_fresh_copies(
    name, finish_run, tmp_path, copy_workflow, run_snakemake
):
    # The finished run is another copy, run on two cores. Nothing but the list in comparison.py
    # is left out: figures, votes, teachers, students and the page are compared byte for byte.
    folder = copy_workflow(tmp_path / "another" / "place")
    done = run_snakemake(folder, "--configfile", f"config/scenarios/{name}.yaml", "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    one, two = comparison.contents(folder), comparison.contents(finish_run(name))
    assert {file.rsplit(".", 1)[1] for file in one} == KINDS[name]
    assert comparison.differences(one, two) == []


def test_labels_accounts_and_students_made_again_on_one_core_are_the_same(
    finished_tiny_pate_run, tmp_path, run_snakemake
):
    folder = shutil.copytree(finished_tiny_pate_run, tmp_path / "copy")
    made = [
        "results/pate/labels/task=digits.csv",
        "results/pate/privacy/task=digits.csv",
        "results/pate/students/task=digits,aggregator=lnmax-60,seed=0.csv",
    ]
    before = {name: (folder / name).stat().st_mtime_ns for name in made}
    tiny = ("--configfile", "config/scenarios/tiny_pate.yaml", "--cores", "1")
    done = run_snakemake(folder, *tiny, "--force", *made)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all((folder / name).stat().st_mtime_ns > before[name] for name in made)
    one, two = comparison.contents(folder), comparison.contents(finished_tiny_pate_run)
    assert comparison.differences(one, two) == []


@pytest.mark.parametrize("name", KINDS)
def test_every_result_has_a_record_of_its_origin(name, finish_run):
    finished = finish_run(name)
    suffixes = set()
    for file in comparison.contents(finished):
        path = finished / "results" / file
        record = json.loads((finished / record_path(f"results/{file}")).read_text())
        assert set(record) >= KEYS, file
        assert record["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest(), file
        assert record["params"]["code"], file
        assert record["seed"] == 0, file
        suffixes.add(path.suffix)
    assert suffixes == {f".{kind}" for kind in KINDS[name]}


@pytest.mark.parametrize("name", ["tiny", "tiny_pate", "tiny_nzc"])
def test_a_finished_run_has_nothing_left_to_do(name, finish_run, planned):
    folder = finish_run(name)
    assert planned(folder, "--configfile", f"config/scenarios/{name}.yaml", "--cores", "2") == {}
    for page in ("index.html", "fidelity.csv"):
        assert (folder / "results" / page).stat().st_size > 0


@pytest.mark.parametrize("name", ["tiny", "tiny_pate", "tiny_nzc"])
def test_a_run_leaves_neither_temporary_files_nor_checkpoints(name, finish_run):
    results = finish_run(name) / "results"
    assert list(results.rglob(".*.part*")) == []
    assert not [path for path in results.glob("*/checkpoints/**/*") if path.is_file()]


def test_record_holds_the_slice_of_the_configuration_that_the_rule_used(finished_tiny_run):
    name = "results/darrm/labels/dataset=digits,m=3.csv"
    record = json.loads((finished_tiny_run / record_path(name)).read_text())
    assert record["params"]["settings"]["epsilon"] == 0.11
    assert record["params"]["noise"] == "reproducible"
    assert record["versions"]["numpy"]
    for path, sha256 in record["inputs"].items():
        data = (finished_tiny_run / path).read_bytes()
        assert hashlib.sha256(data).hexdigest() == sha256


def test_votes_carry_their_origin_wherever_they_are_taken(finished_tiny_run):
    path = finished_tiny_run / "results/votes/digits/kind=private,K=5,seed=0.npz"
    with np.load(path, allow_pickle=False) as archive:
        origin = json.loads(str(archive["provenance"]))
    assert {"versions", "revision", "seed", "training", "dataset", "shards"} <= set(origin)


def test_secure_noise_repeats_nothing_but_what_is_public(
    finished_tiny_run, tmp_path, run_snakemake
):
    labels = "results/darrm/labels/dataset=digits,m=1"
    archives = []
    folder = shutil.copytree(finished_tiny_run, tmp_path / "copy")
    # The same votes both times: what differs is the noise of the labels themselves.
    forced = (*TINY, "--cores", "1", "--rerun-triggers", "mtime", "--force")
    for _ in range(2):
        done = run_snakemake(folder, *forced, f"{labels}.csv", "--config", "noise=secure")
        assert done.returncode == 0, done.stderr
        record = json.loads((folder / record_path(f"{labels}.npz")).read_text())
        assert record["params"]["noise"] == "secure"
        archives.append(np.load(folder / f"{labels}.npz", allow_pickle=False))
    one, two = archives
    assert np.array_equal(one["queries_50"], two["queries_50"])
    for i, name in enumerate(one["mechanisms"]):
        # The majority has no noise, and there are five committees: two draws may agree.
        if name not in ("majority_private", "committee"):
            assert not np.array_equal(one["labels_50"][i], two["labels_50"][i]), name
