"""What Snakemake costs: the measuring script's arithmetic, and the DAG of a large grid."""

import resource

import pytest

from benchmarks.embedded import job_seconds


def test_seconds_of_jobs_come_from_the_benchmark_files(finished_tiny_run, tmp_path):
    seconds = job_seconds(finished_tiny_run)
    assert len(seconds["optimize_gamma"]) == 3
    assert all(second > 0 for each in seconds.values() for second in each)
    with pytest.raises(ValueError, match="must hold benchmark files"):
        job_seconds(tmp_path)


@pytest.mark.parametrize(
    ("points", "seconds"), [(1000, 7), pytest.param(5000, 20, marks=pytest.mark.slow)]
)
def test_dry_run_of_many_grid_points_takes_a_few_seconds(
    points, seconds, root, tmp_path, start_snakemake
):
    # Of CPU time: on a busy machine the clock on the wall tells of others.
    m = ", ".join(map(str, range(1, points + 1)))
    grid = f"darrm:\n  figure2:\n    K: {points + 1 - points % 2}\n    m: [{m}]\n"
    (tmp_path / "grid.yaml").write_text(grid)
    arguments = ("-n", "-q", "--directory", str(tmp_path), "--configfile")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = start_snakemake(root, *arguments, str(tmp_path / "grid.yaml"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < seconds
