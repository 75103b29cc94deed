"""The workflow on a real Slurm: one node on loopback, made by tests/slurm/cluster.sh; all slow."""

import os
import pathlib
import shutil
import signal
import subprocess

import pytest
import yaml
from snakemake_interface_common.exceptions import WorkflowError

TINY = ("--configfile", "config/scenarios/tiny.yaml")
# A job with a GPU, and one that fails until it has twice the memory of its first attempt.
SNAKEFILE = """
rule all:
    input: "gpu.txt", "memory.txt"

rule gpu:
    output: "gpu.txt"
    resources: gpu=1, mem_mb=400, runtime=5
    shell: 'echo "$SLURM_JOB_PARTITION $CUDA_VISIBLE_DEVICES" > {output}'

rule memory:
    output: "memory.txt"
    resources: mem_mb=lambda wildcards, attempt: 400 * attempt, runtime=5
    shell: 'squeue -h -j $SLURM_JOB_ID -o %m > {output}; grep -x 800M {output}'
"""


@pytest.fixture(scope="module")
def slurm(root):
    """The arguments that send a run to a cluster, which lives as long as this module's tests."""
    missing = [name for name in ("munged", "slurmctld", "slurmd") if not shutil.which(name)]
    if os.environ.get("NO_SLURM"):
        pytest.skip(f"Slurm cannot be installed here: {os.environ['NO_SLURM']}")
    if os.environ.get("CI") != "true":
        if missing:
            pytest.skip(f"Slurm is not installed (apt-get install slurm-wlm munge): {missing}")
        if os.geteuid() != 0:
            pytest.skip("Slurm's daemons need root here")
        configured = pathlib.Path("/etc/slurm/slurm.conf")
        if configured.exists() and "tests/slurm/cluster.sh" not in configured.read_text():
            pytest.skip(f"{configured} exists: this machine has a Slurm of its own")
    assert not missing, f"CI must have Slurm, but lacks {missing}"
    script = str(root / "tests/slurm/cluster.sh")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SNAKEMAKE_SLURM_PARTITIONS", str(root / "tests/slurm/partitions.yaml"))
        started = subprocess.run([script, "start"], capture_output=True, text=True, timeout=120)
        assert started.returncode == 0, started.stdout + started.stderr
        try:
            yield ("--workflow-profile", str(root / "tests/slurm/profile"))
        finally:
            subprocess.run([script, "stop"], check=True, timeout=120)
    assert not os.path.exists("/etc/slurm/slurm.conf")
    assert not os.path.exists("/run/slurm-for-tests")


def _jobs(folder):
    """What Slurm knows of the jobs that ran in a folder: (rule or group, state, partition, MB)."""
    command = ["squeue", "--states=all", "--noheader", "--format=%Z|%k|%T|%P|%m"]
    lines = subprocess.check_output(command, text=True).splitlines()
    return sorted(tuple(line.split("|")[1:]) for line in lines if line.split("|")[0] == str(folder))


# Two points of a grid are one job, two at a time; an ensemble and its votes are another.
VOTES = "results/votes/digits/kind=private,K=5,seed=0.npz"
POINT = "results/darrm/gamma/K=5,m={},epsilon=0.11,Delta=0.0001,delta={},prior=uniform:0.5,1.json"
GROUPS = [POINT.format(1, "0.0001"), POINT.format(3, "0.000299970001"), VOTES]
# The votes of both ensembles are one job, for which each ensemble is a group of its own.
JOBS = [("cast", "800M"), ("gamma", "1200M"), ("teachers", "1200M"), ("teachers", "1200M")]
# The labels of both m are one as well, and the plan and the study of objectives one each.
MORE = [("labels", "1200M"), ("plan", "1000M"), ("study", "900M")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("targets", "expected"),
    [(GROUPS, JOBS), (["all"], sorted(JOBS + MORE))],
    ids=["groups", "all"],
)
def test_tiny_workflow_runs_through_slurm_to_the_end(
    slurm, tmp_path, copy_workflow, run_snakemake, planned, finish_run, targets, expected
):
    folder = copy_workflow(tmp_path / "workflow-copy")
    done = run_snakemake(folder, *slurm, *TINY, "--", *targets, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert planned(folder, *slurm, *TINY, "--", *targets) == {}

    jobs = _jobs(folder)
    assert {job[1:3] for job in jobs} == {("COMPLETED", "main")}, jobs
    assert [(job[0].split("_")[1], job[3]) for job in jobs] == expected

    at_home = finish_run("tiny")  # another process makes it while Slurm's jobs wait for each other
    results = [VOTES]
    if targets == ["all"]:
        darrm = at_home / "results/darrm"
        made = [*darrm.glob("labels/*.csv"), *darrm.glob("tables/table*.csv")]
        results += [*(path.relative_to(at_home) for path in made), "results/fidelity.csv"]
        assert len(results) >= 10
    for path in results:
        assert (folder / path).read_bytes() == (at_home / path).read_bytes(), path


@pytest.mark.slow
def test_teachers_go_to_a_gpu_where_the_configuration_insists(
    slurm, tmp_path, copy_workflow, run_snakemake
):
    # They fail there, since /dev/null is no GPU; what matters is where they went.
    folder = copy_workflow(tmp_path / "workflow-copy")
    target = "results/teachers/digits/kind=plain,K=5,seed=0.pt"
    run_snakemake(
        folder,
        *slurm,
        "--restart-times",
        "0",
        *TINY,
        "--config",
        "device=cuda",
        "--",
        target,
    )
    assert [job[2] for job in _jobs(folder)] == ["accelerated"]


@pytest.mark.slow
def test_gpu_is_allocated_on_its_partition_and_memory_grows_with_attempts(
    slurm, tmp_path, run_snakemake
):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    done = run_snakemake(tmp_path, *slurm, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "gpu.txt").read_text().split() == ["accelerated", "0"]
    assert (tmp_path / "memory.txt").read_text().split() == ["800M"]


@pytest.mark.slow
def test_what_a_killed_run_left_is_cleared_away(slurm, root):
    cluster = [str(root / "tests/slurm/cluster.sh"), "start"]
    assert "runs already" in subprocess.run(cluster, capture_output=True, text=True).stderr
    for daemon in ("slurmd", "slurmctld", "munged"):
        number = int(pathlib.Path(f"/run/slurm-for-tests/{daemon}.pid").read_text())
        os.kill(number, signal.SIGKILL)
    subprocess.run(cluster, check=True, timeout=120)


@pytest.mark.slow
def test_the_reason_why_sbatch_refuses_a_group_is_on_the_screen(
    root, tmp_path, copy_workflow, run_snakemake
):
    folder = copy_workflow(tmp_path / "workflow-copy")
    commands = tmp_path / "bin"
    commands.mkdir()
    reason = "sbatch: error: invalid account or partition"
    for name in ("sbatch", "sinfo", "squeue", "sacct", "scontrol"):
        (commands / name).write_text(f"#!/bin/sh\necho '{reason}' >&2\nexit 1\n")
        (commands / name).chmod(0o755)
    profile = ("--workflow-profile", str(root / "tests/slurm/profile"), "--restart-times", "0")
    path = f"{commands}:{os.environ['PATH']}"
    done = run_snakemake(folder, *profile, *TINY, "--", GROUPS[0], PATH=path, timeout=300)
    assert done.returncode != 0
    assert done.stderr.count(f"The error message was '{reason}'") == 1, done.stderr


def test_times_are_read_as_the_comments_of_the_profile_say(root, tmp_path):
    from snakemake.resources import Resource
    from snakemake_executor_plugin_slurm.partitions import read_partition_file

    limits = {"1440": 1440, "90m": 90, "12h": 720, "2d": 2880, "24:00:00": 86400}
    limits |= {'"24:00:00"': 1440, '"1-12:00:00"': 2160, '"1:30"': 90}
    comment = (root / "profiles/slurm/partitions.yaml").read_text()
    for written, minutes in limits.items():
        assert written in comment
        (tmp_path / "p.yaml").write_text(f"partitions: {{p: {{max_runtime: {written}}}}}")
        (partition,) = read_partition_file(tmp_path / "p.yaml")
        assert partition.limits.max_runtime == minutes, written

    comment = (root / "profiles/slurm/config.yaml").read_text()
    for written, minutes in {"90m": 90, "12h": 720, "2d": 2880}.items():
        assert written in comment
        assert Resource.parse_human_friendly("runtime", written) == minutes
    with pytest.raises(WorkflowError, match="could not be parsed"):
        Resource.parse_human_friendly("runtime", "1-12:00:00")


def test_profile_of_the_tests_is_the_users_but_for_speed(root):
    users = yaml.safe_load((root / "profiles/slurm/config.yaml").read_text())
    tests = yaml.safe_load((root / "tests/slurm/profile/config.yaml").read_text())
    differs = {"cores", "latency-wait", "slurm-status-command", "seconds-between-status-checks"}
    differs |= {"slurm-init-seconds-before-status-checks"}
    assert {k: v for k, v in users.items() if k not in differs} == {
        k: v for k, v in tests.items() if k not in differs
    }


def test_partitions_of_the_profile_know_which_has_a_gpu(root):
    partitions = yaml.safe_load((root / "profiles/slurm/partitions.yaml").read_text())["partitions"]
    assert sorted(limits.get("max_gpu", 0) for limits in partitions.values()) == [0, 1]
