"""Data sets and votes beyond DaRRM's: what is planned for them, and small ones to their end."""

import hashlib
import json
import re

import numpy as np
import pytest
import yaml

pytestmark = pytest.mark.slow

LINE = (
    "{age}, Private, 1000, 11th, 7, Never-married, Sales, Own-child, White, Male, 0, 0, 40, "
    "United-States, {income}"
)
MNIST = ["results/datasets/mnist.npz", "results/datasets/mnist-10.npz"]
FOREST = "results/votes/adult/kind=forest,K=4,seed=0.npz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, copy_workflow):
    return copy_workflow(tmp_path_factory.mktemp("votes") / "workflow-copy")


def test_two_data_sets_of_the_same_files_download_them_once(folder, planned, tmp_path):
    plan = planned(folder, *MNIST, "--config", "data=paper", f"data_mirror={tmp_path}")
    assert plan == {"download_data": 4, "prepare_dataset": 2}


def test_forests_vote_on_what_the_two_files_hold(folder, run_snakemake):
    """30 people, rich if and only if over 40, and 10 more: every forest must find that out."""
    ages = {"adult.data": range(25, 55), "adult.test": range(21, 71, 5)}
    entries = {}
    for (name, people), role in zip(ages.items(), ("train", "test"), strict=True):
        path = folder / "mirror" / "adult" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        incomes = {age: ">50K" if age > 40 else "<=50K" for age in people}
        lines = [LINE.format(age=age, income=income) for age, income in incomes.items()]
        path.write_text("\n".join(lines) + "\n\n")
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        entries[name] = {"role": role, "sha256": sha256, "urls": ["https://127.0.0.1:9/x"]}
    settings = {"data_mirror": "mirror", "forest_teachers": {"n_estimators": 3, "max_features": 1}}
    settings["datasets"] = {"adult": {"n_train": 30, "n_test": 10, "files": entries}}
    # DPBag cuts thirds of the same records into shards.
    settings["dpbag"] = {"logistic": {"n": [2]}, "boosted_trees": {"n": [2]}}
    (folder / "small.yaml").write_text(yaml.safe_dump(settings))
    done = run_snakemake(folder, FOREST, "--configfile", "small.yaml", "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b4 forests in [\d.]+ s", done.stderr)
    with np.load(folder / FOREST, allow_pickle=False) as file:
        assert file["labels"].tolist() == [0] * 4 + [1] * 6
        assert (file["votes"].mean(axis=1) > 0.5).tolist()[-4:] == [True] * 4
        assert file["votes"].shape == (10, 4)
        facts = json.loads(str(file["provenance"]))
    assert facts["kind"] == "forest"
    assert facts["shards"] == {"assignment": "permutation", "size": 7}
    assert facts["release"].startswith("not for release")
    assert facts["training"]["max_features"] == 1.0


def test_synthetic_votes_say_that_they_are_and_share_their_queries(folder, run_snakemake):
    (folder / "few.yaml").write_text(
        "synthetic_votes: {glyph: {n_queries: 50, n_classes: 7}}\n"
        "pate: {tasks: {glyph: null}, figure4: null, figure5: null}\n"
    )
    names = [f"results/votes/glyph/kind=synthetic,K={K},seed=0.npz" for K in (10, 300)]
    done = run_snakemake(folder, *names, "--configfile", "few.yaml", "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    labels = []
    for name, K in zip(names, (10, 300), strict=True):
        with np.load(folder / name, allow_pickle=False) as file:
            assert file["counts"].shape == (50, 7)
            assert (file["counts"].sum(axis=1) == K).all()
            labels.append(file["labels"].tolist())
            facts = json.loads(str(file["provenance"]))
        assert facts["synthetic"] is True
        assert facts["profile"]["name"] == "glyph"
        assert facts["release"].startswith("synthetic")
    assert labels[0] == labels[1]
