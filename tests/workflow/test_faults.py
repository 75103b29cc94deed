"""What breaks while the workflow runs: a clear message or a recovery, never a wrong table."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from private_ensembles.base.provenance import record_path

from ..conftest import jobs_by_rule
from ..loopback import CONTENT, SHA256, Server

pytestmark = pytest.mark.slow

TINY = ("--configfile", "config/scenarios/tiny.yaml", "--cores", "1")
DIGITS = "results/datasets/digits.npz"
SIGMA = "results/darrm/privacy/mechanism=gnmax,K=5,epsilon=0.11,delta=0.0001.csv"
GAMMA = (
    "results/darrm/gamma/K=5,m=3,epsilon=0.1,Delta=1e-05,delta=2.9999700001000004e-05,"
    "prior=uniform:0.5,1.json"
)
VOTES = "results/votes/digits/kind=private,K=5,seed=0.npz"
LABELS = "results/darrm/labels/dataset=digits,m=3.csv"


@pytest.fixture
def folder(tmp_path, copy_workflow):
    """The workflow, nothing run yet."""
    return copy_workflow(tmp_path / "workflow-copy")


@pytest.fixture
def finished(finished_tiny_run, tmp_path):
    """A finished tiny run to be spoilt."""
    return shutil.copytree(finished_tiny_run, tmp_path / "finished")


@pytest.fixture
def mount():
    """Mount small or read-only file systems; undone after the test."""
    points = []

    def mount(point, *options, remount=False):
        point.mkdir(parents=True, exist_ok=True)
        again = ["remount"] if remount else []
        command = ["mount", "-t", "tmpfs", "-o", ",".join([*again, *options]), "tmpfs", str(point)]
        if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None:
            pytest.skip("mounting a small or read-only file system takes root on Linux")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        if not remount:
            points.append(point)

    yield mount
    for point in points:
        subprocess.run(["umount", "--lazy", str(point)], check=False)


def error_line(done):
    """The one line that a failed job shows."""
    assert done.returncode != 0, done.stdout
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return lines[0]


def damage(path, data):
    """Change what a file holds but not its time, as a failing disk does."""
    before = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_full_disk_is_one_line_and_the_run_goes_on_when_there_is_room(
    folder, run_snakemake, finished_tiny_run, mount
):
    mount(folder / "results", "size=32k")
    done = run_snakemake(folder, *TINY, DIGITS)
    assert error_line(done) == f"error: No space left on device (writing {DIGITS})"
    assert list((folder / "results").rglob("*digits*.npz")) == []

    mount(folder / "results", "size=4m", remount=True)
    done = run_snakemake(folder, *TINY, DIGITS)
    assert done.returncode == 0, done.stderr
    assert (folder / DIGITS).read_bytes() == (finished_tiny_run / DIGITS).read_bytes()


def test_deleted_results_are_made_again_as_the_note_says(
    finished, run_snakemake, planned, start_snakemake, root
):
    """What is asked for at once; the rest by the command in results/README.md."""
    table = "results/darrm/tables/table1.csv"
    others = {
        VOTES: "cast_darrm_votes",
        GAMMA: "optimize_gamma",
        "results/darrm/figures/figure2.pdf": "draw_gamma_shapes",
        "results/planner/figures/correct_labels.pdf": "plan_mechanisms",
    }
    for path in (table, *others):
        (finished / path).unlink()
    tiny = ("--configfile", "config/scenarios/tiny.yaml")

    darrm = (*TINY, "darrm")  # of the target `all` the comparison and the page would follow
    done = run_snakemake(finished, *darrm)
    assert done.returncode == 0, done.stderr
    assert jobs_by_rule(done.stdout + done.stderr) == {"tabulate_label_accuracy": 1, "darrm": 1}
    assert (finished / table).is_file()
    assert "Nothing to be done" in run_snakemake(finished, *darrm, "-n").stdout

    (command,) = re.findall(
        r"snakemake all \$\(snakemake --summary \| awk -F'\\t' '(.*)'\) --cores all",
        (root / "results" / "README.md").read_text(encoding="utf-8"),
    )
    summary = start_snakemake(finished, "--summary", *tiny).stdout
    missing = subprocess.run(
        ["awk", "-F\t", command], input=summary, capture_output=True, text=True, check=True
    ).stdout.split()
    assert sorted(missing) == sorted(others)
    assert set(others.values()) <= set(planned(finished, "all", *missing, *TINY))


def test_read_only_results_are_named_before_anything_is_computed(folder, run_snakemake, mount):
    mount(folder / "results", "size=32k,ro")
    done = run_snakemake(folder, *TINY, DIGITS)
    assert done.returncode != 0
    assert "Read-only file system: 'results" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_finished_results_survive_on_a_read_only_disk(finished, run_snakemake, mount):
    kept = (finished / SIGMA).read_bytes()
    results = finished / "results"
    inside = shutil.copytree(results, finished / "copy")
    mount(results, "size=8m")
    shutil.copytree(inside, results, dirs_exist_ok=True)
    mount(results, "ro", remount=True)
    assert "Nothing to be done" in run_snakemake(finished, *TINY, "-n").stdout
    done = run_snakemake(finished, *TINY, "--force", SIGMA)
    assert done.returncode != 0
    assert "Write-protected output files" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert (finished / SIGMA).read_bytes() == kept


def test_a_home_that_cannot_be_written_is_no_reason_to_stop(folder, run_snakemake):
    (folder / "file").touch()
    home = {"HOME": str(folder / "file/home"), "XDG_CACHE_HOME": ""}
    done = run_snakemake(folder, "-n", *TINY, **home)
    assert done.returncode == 0, done.stderr
    # A profile of one's own, as docs/reproduce.md says.
    done = run_snakemake(folder, "-n", "--workflow-profile", "none", *TINY, **home)
    assert "NotADirectoryError" in done.stdout + done.stderr
    home["XDG_CACHE_HOME"] = str(folder / ".cache")
    done = run_snakemake(folder, "-n", "--workflow-profile", "none", *TINY, **home)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


def test_download_through_the_workflow_ends_in_a_clear_line_and_recovers(
    folder, run_snakemake, server
):
    name = "t10k-labels-idx1-ubyte.gz"
    target = f"data/raw/mnist/{name}"
    file = {"role": "test_labels", "sha256": SHA256, "urls": [f"{server.url}/{name}"]}
    config = {
        "data": "paper",
        "download_timeout": 0.5,
        "datasets": {"mnist": {"files": {name: file}}},
    }
    (folder / "loopback.json").write_text(json.dumps(config))
    arguments = ("--configfile", "loopback.json", "--cores", "1", target)

    server.behaviours = ["wrong"]
    message = error_line(run_snakemake(folder, *arguments))
    for part in (f"mnist/{name}", server.url, "wrong sha256", SHA256, "put the file by hand at"):
        assert part in message
    assert not (folder / target).exists()

    server.behaviours = ["stall"]
    message = error_line(run_snakemake(folder, *arguments))
    assert "stalled" in message
    assert not (folder / target).exists()

    server.ranges.clear()
    server.behaviours = ["truncate", "wrong", "good"]
    done = run_snakemake(folder, *arguments)
    assert done.returncode == 0, done.stderr
    assert (folder / target).read_bytes() == CONTENT
    assert [path.name for path in (folder / target).parent.iterdir()] == [name]


@pytest.mark.parametrize("recorded", [True, False])
def test_flipped_bytes_in_a_vote_cache_never_reach_a_table(finished, run_snakemake, recorded):
    if not recorded:  # the archive's own checksum serves
        (finished / record_path(VOTES)).unlink()
    data = bytearray((finished / VOTES).read_bytes())
    data[80] ^= 0xFF
    damage(finished / VOTES, data)
    (finished / LABELS).unlink()
    done = run_snakemake(finished, *TINY, LABELS)
    message = error_line(done)
    assert message.startswith(f"error: {VOTES}: ")
    assert recorded == ("is damaged" in message), message
    assert not (finished / LABELS).exists()
    if recorded:  # what the message advises
        (finished / VOTES).unlink()
        done = run_snakemake(finished, *TINY, VOTES)
        assert done.returncode == 0, done.stderr


def test_flipped_byte_in_a_table_is_noticed_by_who_reads_it(finished, run_snakemake):
    # One digit of a CSV: nothing about the format is wrong.
    data = (finished / SIGMA).read_bytes()
    damage(finished / SIGMA, data.replace(b"sigma_rdp,", b"sigma_rdp,1", 1))
    labels = LABELS.replace("m=3", "m=1")
    (finished / labels).unlink()
    message = error_line(run_snakemake(finished, *TINY, labels))
    assert message.startswith(f"error: {SIGMA}: is damaged")
    assert not (finished / labels).exists()


def test_worker_without_memory_is_one_line(folder, run_snakemake):
    # What 10^6 queries may be answered with, of 10^4 classes, takes 75 GiB; a process may have 6.
    (folder / "large.yaml").write_text(
        "synthetic_votes: {glyph: {n_queries: 1000000, n_classes: 10000}}\n"
    )
    votes = "results/votes/glyph/kind=synthetic,K=20,seed=0.npz"
    tiny = (folder, "--configfile", "config/scenarios/tiny_pate.yaml")
    done = run_snakemake(*tiny, "large.yaml", "--cores", "1", votes, memory=6 << 30)
    assert error_line(done).startswith("error: out of memory: Unable to allocate")
    assert not (folder / votes).exists()


FAKE_GUROBI = """
import os
class GurobiError(Exception): pass
class Env:
    def __init__(self, **options):
        {behaviour}
"""


@pytest.mark.parametrize(
    "behaviour", ["raise GurobiError('No Gurobi license found')", "os.abort()"]
)
def test_solver_without_licence_or_crashing_leaves_no_gamma(folder, run_snakemake, behaviour):
    (folder / "fake").mkdir()
    (folder / "fake" / "gurobipy.py").write_text(FAKE_GUROBI.format(behaviour=behaviour))
    fake = {"PYTHONPATH": str(folder / "fake")}
    done = run_snakemake(folder, *TINY, "--config", "solver=gurobi", "--", GAMMA, **fake)
    if "raise" in behaviour:
        assert error_line(done) == "error: Gurobi: No Gurobi license found"
    else:
        assert done.returncode != 0
        assert "SIGABRT" in done.stderr
    assert not (folder / GAMMA).exists()


def test_expired_licence_is_no_reason_to_stop(folder, run_snakemake):
    (folder / "expired.lic").write_text("TYPE=NODE\nVERSION=1\nEXPIRATION=2001-01-01\nKEY=ABCD\n")
    licence = {"GRB_LICENSE_FILE": str(folder / "expired.lic")}
    done = run_snakemake(folder, *TINY, GAMMA, **licence)
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / GAMMA).read_text())["solver"]["name"] == "highs"
    assert f"Result: {folder / GAMMA}\n" in done.stderr  # a grid point is all that was asked for
    done = run_snakemake(folder, *TINY, "--config", "solver=gurobi", "--", GAMMA, **licence)
    assert error_line(done).startswith("error: Gurobi: ")
