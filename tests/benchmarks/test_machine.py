"""What a measurement was taken on is said in words that a reader needs."""

import pandas as pd

from benchmarks import machine


def test_machine_is_described_with_the_versions_asked_for():
    found = machine.describe("numpy")
    assert {"date", "processor", "cores", "load", "memory", "system", "python"} < set(found)
    assert found["numpy"].count(".") >= 1
    assert all(isinstance(text, str) and text for text in found.values())


def test_runs_on_two_machines_name_both():
    data = pd.DataFrame({"machine_cores": ["2", "2", "8"], "seconds": [1, 2, 3]})
    assert machine.attached(data) == {"cores": "2, 8"}


def test_a_commit_without_the_folder_is_not_what_is_checked_out():
    assert machine.unchanged_since("HEAD", "no/such/folder")
    assert not machine.unchanged_since("no-such-commit")
