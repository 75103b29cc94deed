"""What Snakemake costs: the measuring script's arithmetic, and the DAG of a large grid."""

import importlib.util
import os
import resource
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def overhead(root):
    spec = importlib.util.spec_from_file_location("overhead", root / "benchmarks/overhead.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def imported_by(root):
    """The modules that are loaded once a script's own imports are done, by script."""
    program = (
        "import ast, sys; tree = ast.parse(open(sys.argv[1]).read());"
        "tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)];"
        "exec(compile(tree, 'imports', 'exec'), {}); print(*sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(root / "workflow")}
    return {
        script.stem: set(
            subprocess.check_output(
                [sys.executable, "-c", program, str(script)], env=environment, text=True
            ).split()
        )
        for script in sorted((root / "workflow/scripts").glob("*.py"))
    }


def test_seconds_of_jobs_come_from_the_benchmark_files(overhead, finished_tiny_run, tmp_path):
    seconds = overhead.job_seconds(finished_tiny_run)
    assert len(seconds["optimize_gamma"]) == 3
    assert all(second > 0 for each in seconds.values() for second in each)
    with pytest.raises(ValueError, match="must hold benchmark files"):
        overhead.job_seconds(tmp_path)


def test_dry_run_of_5000_grid_points_takes_less_than_20_seconds(
    overhead, root, tmp_path, run_snakemake
):
    # Of CPU time: on a busy machine the clock on the wall tells of others.
    (tmp_path / "grid.yaml").write_text(overhead.grid_configuration(5000))
    arguments = ("-n", "-q", "--directory", str(tmp_path), "--configfile")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run_snakemake(root, *arguments, str(tmp_path / "grid.yaml"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 20


def test_no_script_imports_a_heavy_library_that_it_does_not_use(root, imported_by):
    # What each pays for before it does anything: torch 1 s, scipy.stats 0.6 s, pandas 0.3 s.
    torch = {name for name, found in imported_by.items() if "torch" in found}
    assert torch == {"train_teachers", "cast_votes", "train_student"}
    assert {name for name, found in imported_by.items() if "opacus" in found} == set()
    assert {name for name, found in imported_by.items() if "scipy.stats" in found} == set()
    light = ("account_teachers", "download_data", "publish_docs", "optimize_gamma")
    for name in light:
        assert not imported_by[name] & {"pandas", "matplotlib", "scipy", "sklearn"}, name
