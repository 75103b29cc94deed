"""Names of files: made from parameters, read back from wildcards, the same everywhere."""

from pathlib import Path

import pytest
import yaml

from private_ensembles.base.provenance import is_private
from private_ensembles.run import file_names
from private_ensembles.run.check import check


@pytest.fixture
def config(root):
    return yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))


def test_an_ensemble_is_one_file_or_one_for_each_slice():
    one = file_names.teachers([], "svhn", "plain", "5", "0")
    assert one == ["results/teachers/svhn/kind=plain,K=5,seed=0.pt"]
    two = file_names.teachers(["1of2", "2of2"], "svhn", "plain", "5", "0")
    assert [path.rpartition("slice=")[2] for path in two] == ["1of2.pt", "2of2.pt"]


def test_docs_keep_the_paper_and_the_name():
    results = {"tables": ["results/pate/tables/table1.csv", "results/privacy_ledger.csv"]}
    assert file_names.copies_in_docs(results) == {
        "tables": ["docs/pate/table1.csv", "docs/privacy_ledger.csv"]
    }


def test_a_rehearsal_is_told_by_every_name_and_only_one_file_is_private(config):
    release, rehearsal = (
        file_names.own_votes(check(config | {"noise": noise}))
        for noise in ("secure", "reproducible")
    )
    assert {Path(path).parent.name for path in release.values()} == {"release", "private"}
    assert all(Path(path).name.startswith("rehearsal_") for path in rehearsal.values())
    assert [what for what, path in release.items() if is_private(path)] == ["private"]
    assert all(is_private(path) for path in rehearsal.values())
    assert not set(release.values()) & set(rehearsal.values())
