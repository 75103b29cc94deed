"""The run on embedded data: what its jobs took, and what is left for Snakemake."""

import pandas as pd
import pytest

from benchmarks import embedded


def test_what_no_job_uses_is_of_all_cores():
    data = pd.DataFrame(
        {"round": [0, 0, 1, 1], "rule": ["a", "b"] * 2, "jobs": [2, 1] * 2, "wall": [10.0] * 4}
        | {"seconds": [10.0, 6.0, 8.0, 6.0]}
    )
    section = embedded.section(data)
    assert "is at most 30% " in section
    assert "2 runs of 3 jobs took 10 to 10 s, their jobs 14 to 16 s" in section
    assert "| a | 2 | 8.0 |" in section


@pytest.mark.slow
def test_a_tiny_run_is_measured():
    data = embedded.measure(quick=True)
    assert (data["wall"] > data["longest"]).all()
    assert "optimize_gamma" in embedded.section(data)


def test_seconds_of_jobs_come_from_the_benchmark_files(finished_tiny_run, tmp_path):
    seconds = embedded.job_seconds(finished_tiny_run)
    assert len(seconds["optimize_gamma"]) == 3
    assert all(second > 0 for each in seconds.values() for second in each)
    with pytest.raises(ValueError, match="must hold benchmark files"):
        embedded.job_seconds(tmp_path)
