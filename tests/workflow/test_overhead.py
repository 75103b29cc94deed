"""What Snakemake costs: the measuring script's arithmetic, and the DAG of a large grid."""

import pytest

from benchmarks.embedded import job_seconds


def test_seconds_of_jobs_come_from_the_benchmark_files(finished_tiny_run, tmp_path):
    seconds = job_seconds(finished_tiny_run)
    assert len(seconds["optimize_gamma"]) == 3
    assert all(second > 0 for each in seconds.values() for second in each)
    with pytest.raises(ValueError, match="must hold benchmark files"):
        job_seconds(tmp_path)


def test_a_grid_of_a_thousand_points_is_planned(root, tmp_path, start_snakemake):
    m = ", ".join(map(str, range(1, 1001)))
    grid = f"darrm:\n  figure2:\n    K: 1001\n    m: [{m}]\n"
    (tmp_path / "grid.yaml").write_text(grid)
    arguments = ("-n", "-q", "--directory", str(tmp_path), "--configfile")
    done = start_snakemake(root, *arguments, str(tmp_path / "grid.yaml"))
    assert done.returncode == 0, done.stdout + done.stderr
