"""What tests run in a fork of a Snakemake that is already loaded is what a user runs."""

import json
import re
import signal
import subprocess

import pytest

SNAKEFILE = """
import os, sys, resource
print("MODULES", [name for name in sys.modules if name.startswith("private")], file=sys.stderr)
print("WHERE", os.getcwd(), sys.path[0], os.environ.get("COLOUR"), file=sys.stderr)
print("MEMORY", resource.getrlimit(resource.RLIMIT_AS)[0], file=sys.stderr)
rule all:
    output: "all.txt"
    shell: config.get("command", "echo made > {output}")
"""
# The moment, the run's number, how Python was started; jobs and files are in no order.
VARYING = ("[", "  Date:", "  Workflow ID:", "  Command:", "    jobid:")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    return tmp_path


def test_dry_run_says_the_same(folder, copy_workflow, run_snakemake, start_snakemake):
    where = copy_workflow(folder / "workflow-copy")
    arguments = ("-n", "--configfile", "tests/config/tiny.yaml")
    started, warm = (run(where, *arguments) for run in (start_snakemake, run_snakemake))
    assert started.returncode == warm.returncode == 0
    one, other = (
        sorted(
            sorted(re.split("[ ,;]+", line))
            for line in run.stdout.splitlines()
            if not line.startswith(VARYING)
        )
        for run in (started, warm)
    )
    assert len(one) > 50
    assert one == other
    assert started.stderr == warm.stderr


def test_runs_know_nothing_of_each_other(folder, run_snakemake):
    first = run_snakemake(folder, "--cores", "1", COLOUR="green")
    assert first.returncode == 0, first.stderr
    assert (folder / "all.txt").read_text() == "made\n"
    assert f"WHERE {folder} {folder} green" in first.stderr
    again = run_snakemake(folder, "--cores", "1", memory=6 << 30)
    assert "Nothing to be done" in again.stdout + again.stderr
    assert f"WHERE {folder} {folder} None" in again.stderr
    assert f"MEMORY {6 << 30}" in again.stderr
    assert "MODULES []" in again.stderr


def test_failure_is_a_failure(folder, run_snakemake):
    assert run_snakemake(folder, "--cores", "1", "--config", "command=false").returncode == 1
    assert run_snakemake(folder, "-n", "nothing.txt").returncode == 1
    assert run_snakemake(folder, "--no-such-option").returncode == 2
    (folder / "Snakefile").write_text("import sys\nsys.exit('error: a reason')\n")
    done = run_snakemake(folder, "-n")
    assert done.returncode == 1
    assert "error: a reason\n" in done.stderr


def test_run_that_takes_too_long_is_killed(folder, run_snakemake):
    (folder / "Snakefile").write_text("import time\ntime.sleep(60)\n")
    with pytest.raises(subprocess.TimeoutExpired):
        run_snakemake(folder, "-n", timeout=1)
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0  # of this process


@pytest.mark.parametrize("name", ["private_ensembles/configuration/nzc.py", "rules/nzc.smk"])
def test_what_is_remembered_of_a_file_is_not_taken_for_an_edited_one(
    tmp_path, copy_workflow, run_snakemake, name
):
    folder = copy_workflow(tmp_path / "copy")
    dry = (folder, "-n", "--quiet", "all", "--configfile", "tests/config/tiny.yaml")
    assert run_snakemake(*dry).returncode == 0
    with open(folder / "workflow" / name, "a") as file:
        file.write('\nimport sys\n\nsys.exit("error: edited")\n')
    done = run_snakemake(*dry)
    assert done.returncode == 1
    assert "error: edited\n" in done.stderr


def test_a_failure_in_a_remembered_file_names_the_same_line(folder, run_snakemake, start_snakemake):
    with open(folder / "Snakefile", "a") as file:
        file.write("\n\n# A remark.\nrule other:\n    params: 1 / 0\n")
    runs = [run(folder, "-n") for run in (run_snakemake, run_snakemake, start_snakemake)]
    lines = [re.findall(r"(?i)line \d+", run.stdout + run.stderr) for run in runs]
    assert lines[0]
    assert lines[0] == lines[1] == lines[2]


JOBS = """
rule all:
    input: "good.txt", "bad.txt", "dead.txt"
rule job:
    output: "{name}.txt"
    log: "{name}.log"
    threads: 1
    params: code=lambda wc: dict(good="pass", bad="sys.exit('error: bad')", dead="1 / 0")[wc.name]
    script: "job.py"
"""
JOB = """
import json, os, sys
print("out of", snakemake.wildcards.name)
assert "snakemake.cli" not in sys.modules
exec(snakemake.params.code)
names = ("OMP_NUM_THREADS", "PWD", "COLOUR", "PYTHONPATH")
values = [os.environ.get(name) for name in names]
facts = [os.getcwd(), __name__, values, __file__, sys.path[:5], sys.argv[1:]]
json.dump(facts, open(snakemake.output[0], "w"))
"""


def test_a_job_in_a_fork_is_as_one_that_python_starts(tmp_path, run_snakemake):
    (tmp_path / "Snakefile").write_text(JOBS)
    (tmp_path / "job.py").write_text(JOB)
    found = []
    for fresh in (False, True):
        done = run_snakemake(
            *(tmp_path, "--cores", "1", "--keep-going", "--force", "--verbose"),
            *("good.txt", "bad.txt", "dead.txt"),
            fresh=fresh,
            COLOUR="green",
        )
        assert done.returncode == 1
        lines = done.stderr.splitlines()
        told = [line for line in lines if line.startswith(("error: ", "ZeroDivisionError"))]
        made = json.loads((tmp_path / "good.txt").read_text())
        found.append((sorted(told), "out of good" in done.stdout, *made))
        assert not [name for name in ("bad.txt", "dead.txt") if (tmp_path / name).exists()]
        (tmp_path / "good.txt").unlink()
    assert found[0] == found[1]
    assert found[0][0] == ["ZeroDivisionError: division by zero", "error: bad"]
    assert found[0][2:5] == (str(tmp_path), "__main__", ["1", str(tmp_path), "green", None])
