"""Jobs: all outputs or none, one line when something fails, nothing left behind by a kill."""

import io as memory
import json
import math
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

from private_ensembles.base import files


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_outputs_appear_together_when_the_block_succeeds(fake_snakemake, tmp_path):
    with files.job(fake_snakemake(named={"table": "new/a.csv", "data": "new/b.npz"})) as job:
        job.output.table.write_text("1")
        assert job.output[1] == job.output.data
        assert job.output.data.suffix == ".npz"
        job.output.data.write_text("2")
        assert not (tmp_path / "new" / "a.csv").exists()
    assert _names(tmp_path / "new") == ["a.csv", "b.npz"]


def test_failure_leaves_no_output_and_one_line(fake_snakemake, tmp_path, capsys):
    (tmp_path / "out.txt").write_text("before")
    with pytest.raises(SystemExit) as exit_, files.job(fake_snakemake()) as job:
        job.output[0].write_text("half")
        raise ValueError("epsilon = -1: must be\nabove 0")
    assert exit_.value.code == 1
    assert capsys.readouterr().err == "error: epsilon = -1: must be above 0\n"
    log = (tmp_path / "job.log").read_text()
    assert "Traceback" in log
    assert "epsilon = -1" in log
    assert _names(tmp_path) == ["job.log", "out.txt"]
    assert (tmp_path / "out.txt").read_text() == "before"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (KeyError("m"), "KeyError: 'm'"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError(28, "No space left on device", "results/x.npz"), "results/x.npz: No space left"),
        (MemoryError(), "out of memory"),
        (RuntimeError("solver: no licence"), "solver: no licence"),
        (ValueError(), "ValueError"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
    ],
)
def test_every_error_fits_one_line(error, line):
    assert files.describe(error).startswith(line)
    assert "\n" not in files.describe(error)


def test_an_output_that_was_not_written_is_an_error(fake_snakemake, tmp_path, capsys):
    with pytest.raises(SystemExit), files.job(fake_snakemake(("a.txt", "b.txt"))) as job:
        job.output[0].write_text("1")
    assert "some_rule did not write" in capsys.readouterr().err
    assert _names(tmp_path) == ["job.log"]


def test_script_that_exits_by_itself_has_failed(fake_snakemake, tmp_path):
    with pytest.raises(SystemExit) as exit_, files.job(fake_snakemake()) as job:
        job.output[0].write_text("1")
        sys.exit(0)
    assert exit_.value.code == 1
    assert _names(tmp_path) == ["job.log"]


def test_what_a_killed_job_left_is_removed_at_the_next_start(fake_snakemake, tmp_path):
    (tmp_path / ".out.part.txt").write_text("left by SIGKILL")
    with files.job(fake_snakemake()) as job:
        assert not job.output[0].exists()
        job.output[0].write_text("whole")
    assert _names(tmp_path) == ["job.log", "out.txt"]


def test_outputs_already_moved_are_taken_back_if_a_later_one_cannot_be(
    fake_snakemake, tmp_path, stand_in
):
    # A folder that is not empty and cannot be removed stands for a full or read-only target.
    snakemake = fake_snakemake(("a.txt", "b.txt"))
    real = os.replace

    def replace(source, target):
        if str(target).endswith("b.txt"):
            raise OSError(28, "No space left on device", str(target))
        real(source, target)

    stand_in(files, "os", replace=replace)
    with pytest.raises(SystemExit), files.job(snakemake) as job:
        for path in job.output:
            path.write_text("1")
    assert _names(tmp_path) == ["job.log"]


def test_folders_can_be_outputs(fake_snakemake, tmp_path):
    for content in ("old", "new"):
        with files.job(fake_snakemake(("folder",))) as job:
            job.output[0].mkdir()
            (job.output[0] / content).write_text(content)
    assert _names(tmp_path / "folder") == ["new"]


def test_unknown_output_name_is_reported_with_the_known_ones(fake_snakemake, capsys):
    with pytest.raises(SystemExit), files.job(fake_snakemake(named={"table": "a.csv"})) as job:
        job.output.tabel.write_text("1")
    assert "no file named 'tabel': must be one of table" in capsys.readouterr().err


def test_progress_reaches_log_and_terminal_and_warnings_the_log_only(
    fake_snakemake, tmp_path, capsys
):
    with files.job(fake_snakemake()) as job:
        job.report_progress("teacher %d of %d", 1, 11)
        job.log.info("detail")
        warnings.warn("from a library", stacklevel=1)
        # Written at once, so that one can watch a long job.
        assert "teacher 1 of 11" in (tmp_path / "job.log").read_text()
        job.output[0].write_text("1")
    assert capsys.readouterr().err == "some_rule: teacher 1 of 11\n"
    log = (tmp_path / "job.log").read_text()
    assert "detail" in log
    assert "from a library" in log


def test_job_works_without_a_log(fake_snakemake, tmp_path):
    with files.job(fake_snakemake(log=None)) as job:
        job.output[0].write_text("1")
    assert _names(tmp_path) == ["out.txt"]


def test_full_disk_is_one_line_even_if_the_log_is_on_it(fake_snakemake, capsys):
    snakemake = fake_snakemake(log=None)
    snakemake.log = ["/dev/full"]
    with pytest.raises(SystemExit), files.job(snakemake), open("/dev/full", "w") as file:
        file.write("x")
    message = capsys.readouterr().err
    assert message.startswith("error: No space left on device (writing ")
    assert message.count("\n") == 1


def test_log_that_cannot_be_opened_is_one_line(fake_snakemake, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as exit_, files.job(fake_snakemake(log="file/job.log")):
        pass
    assert exit_.value.code == 1
    assert capsys.readouterr().err.startswith("error: ")
    assert capsys.readouterr().err.count("\n") <= 1


SLEEPER = """
import signal, sys, time
# A test run started in the background hands on that SIGINT is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from types import SimpleNamespace
from private_ensembles.base import files
folder = sys.argv[1]
snakemake = SimpleNamespace(input=[], output=[folder + "/out.txt"], params=[], wildcards=[],
                            threads=1, log=[folder + "/job.log"], rule="sleeper", config={})
with files.job(snakemake) as job:
    job.output[0].write_text("half")
    print("ready", flush=True)
    try:
        time.sleep(60)
    except Exception:
        pass  # a library that swallows exceptions must not keep the job alive
    time.sleep(60)
"""


def python(code, root, *arguments):
    """Start Python as a job does, uninstalled."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(root / "workflow")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("signum", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_signal_ends_a_job_without_leaving_files(tmp_path, root, signum, code):
    process = python(SLEEPER, root, str(tmp_path))
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signum)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == code
    assert stderr == f"error: stopped by {signum.name}\n"
    assert _names(tmp_path) == ["job.log"]
    assert f"stopped by {signum.name}" in (tmp_path / "job.log").read_text()


def test_killed_job_leaves_no_complete_looking_file(tmp_path, root):
    process = python(SLEEPER, root, str(tmp_path))
    process.stdout.readline()
    process.kill()
    process.communicate(timeout=20)
    assert not (tmp_path / "out.txt").exists()


def test_io_imports_only_the_standard_library_and_none_of_what_provenance_names(root):
    code = (
        "import sys; from private_ensembles.base import files; files.provenance('torch', 'numpy');"
        "print([m for m in ('numpy', 'pandas', 'torch', 'yaml', 'snakemake') if m in sys.modules])"
    )
    assert python(code, root).communicate() == ("[]\n", "")


ROWS = [
    {"name": "a,b", "value": 0.1 + 0.2, "count": np.int64(3), "flag": np.bool_(True), "none": None},
    {"name": 'say "x"', "value": math.nan, "count": 4, "flag": False, "none": np.float64(1e-5)},
]


def test_rows_and_frame_write_the_same_table(tmp_path):
    files.write_csv(tmp_path / "rows.csv", ROWS)
    text = (tmp_path / "rows.csv").read_bytes()
    assert text == (
        b"name,value,count,flag,none\n"
        b'"a,b",0.30000000000000004,3,True,\n'
        b'"say ""x""",,4,False,1e-05\n'
    )
    files.write_csv(tmp_path / "frame.csv", pd.DataFrame(ROWS))
    assert (tmp_path / "frame.csv").read_bytes() == text


def test_table_needs_equal_columns(tmp_path):
    with pytest.raises(ValueError, match="same columns, but not all: b"):
        files.write_csv(tmp_path / "x.csv", [{"a": 1}, {"a": 1, "b": 2}])
    with pytest.raises(ValueError, match="must not be empty"):
        files.write_csv(tmp_path / "x.csv", [])
    files.write_csv(tmp_path / "x.csv", [], columns=["a"])
    assert (tmp_path / "x.csv").read_text() == "a\n"


def test_json_takes_arrays_and_refuses_nan(tmp_path):
    files.write_json(tmp_path / "x.json", {"gamma": np.array([0.5, 1]), "K": np.int64(11)})
    assert json.loads((tmp_path / "x.json").read_text()) == {"gamma": [0.5, 1.0], "K": 11}
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(tmp_path / "y.json", {"x": math.nan})
    assert not (tmp_path / "y.json").exists()
    with pytest.raises(ValueError, match="type object"):
        files.write_json(tmp_path / "y.json", {"x": object()})


def test_arrays_come_back_and_always_make_the_same_bytes(tmp_path):
    arrays = {"votes": np.arange(6, dtype=np.uint8).reshape(2, 3), "provenance": "text"}
    for name in ("a.npz", "b.npz"):
        files.write_npz(tmp_path / name, **arrays)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    read = files.read_npz(tmp_path / "a.npz", required=["votes"])
    assert read["votes"].dtype == np.uint8
    assert np.array_equal(read["votes"], arrays["votes"])
    assert str(read["provenance"]) == "text"


def test_arrays_of_objects_are_refused(tmp_path):
    with pytest.raises(ValueError, match="x: must be numbers or text"):
        files.write_npz(tmp_path / "x.npz", x=np.array([None, {}], dtype=object))
    assert not (tmp_path / "x.npz").exists()


NPY = memory.BytesIO()
np.save(NPY, np.zeros(3))


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 cut short", b"not an archive", pickle.dumps([1]), NPY.getvalue()]
)
def test_unreadable_archive_is_one_clear_error(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.npz: not a readable npz file"):
        files.read_npz(tmp_path / "x.npz")


def test_a_member_that_is_no_array_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("votes", "not an array")
    with pytest.raises(ValueError, match=r"x\.npz: votes is not an array"):
        files.read_npz(tmp_path / "x.npz")
    with pytest.raises(FileNotFoundError):
        files.read_npz(tmp_path / "nothing.npz")


def test_archive_without_a_required_array_is_refused(tmp_path):
    files.write_npz(tmp_path / "x.npz", votes=np.zeros(1))
    with pytest.raises(ValueError, match=r"x\.npz: lacks labels: has votes"):
        files.read_npz(tmp_path / "x.npz", required=["votes", "labels"])


def test_provenance_is_json_and_names_versions_and_revision():
    assert files.provenance()["device"] == "cpu"
    facts = files.provenance("numpy", "no-such-package", device="cuda: H100", K=11)
    assert json.loads(json.dumps(facts)) == facts
    assert facts["K"] == 11
    assert facts["versions"]["numpy"] == np.__version__
    assert facts["versions"]["no-such-package"] is None
    assert facts["versions"]["private-ensembles"]
    assert facts["device"] == "cuda: H100"
    assert set(facts) >= {"revision", "python", "machine"}


def test_outputs_are_private_until_they_are_in_place(fake_snakemake, tmp_path):
    before = os.umask(0o022)
    try:
        with files.job(fake_snakemake(outputs=("out.txt", "folder"))) as job:
            job.output[0].write_text("x")
            job.output[1].mkdir()
            (job.output[1] / "inside").write_text("x")
            assert job.output[0].stat().st_mode & 0o777 == 0o600
            assert job.output[1].stat().st_mode & 0o777 == 0o700
        modes = {p.name: p.stat().st_mode & 0o777 for p in tmp_path.rglob("*")}
        mask = os.umask(0o022)
    finally:
        os.umask(before)
    assert modes == {"out.txt": 0o644, "job.log": 0o644, "folder": 0o755, "inside": 0o644}
    assert mask == 0o022


def test_what_lies_in_a_private_folder_stays_its_owners(fake_snakemake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snakemake = fake_snakemake()
    names = "private/votes.csv", "rehearsal/rehearsal_labels.csv", "release/labels.csv"
    snakemake.output[:] = [f"results/own/{name}" for name in names]
    before = os.umask(0o022)
    try:
        (tmp_path / "results/own/private").mkdir(parents=True)  # as Snakemake does
        with files.job(snakemake, confidential=True) as job:
            for path in job.output:
                path.write_text("x")
    finally:
        os.umask(before)
    modes = {p.name: p.stat().st_mode & 0o777 for p in tmp_path.rglob("*") if p.parent.name}
    assert (modes["private"], modes["votes.csv"]) == (0o700, 0o600)
    assert (modes["rehearsal"], modes["rehearsal_labels.csv"]) == (0o700, 0o600)
    assert (modes["release"], modes["labels.csv"]) == (0o755, 0o644)
    assert modes["job.log"] == 0o600  # an error in it may quote the votes
    records = sorted(path.name for path in (tmp_path / "results/provenance").rglob("*.json"))
    assert records == ["labels.csv.json"]


def _hold(lock, held, let_go):
    with files.hold_lock(lock):
        held.set()
        let_go.wait(30)


def test_a_job_with_a_lock_touches_no_output_before_it_has_it(fake_snakemake, tmp_path):
    """A job whose Snakemake was killed goes on; the next one must leave its files alone."""
    context = multiprocessing.get_context("fork")
    held, let_go = context.Event(), context.Event()
    lock, unfinished = tmp_path / "new" / ".lock", tmp_path / ".out.part.txt"
    orphan = context.Process(target=_hold, args=(lock, held, let_go))
    orphan.start()
    assert held.wait(30)
    unfinished.write_text("the orphan's")

    def next_one():
        with files.job(fake_snakemake(), lock=lock) as job:
            job.output[0].write_text("1")

    other = context.Process(target=next_one)
    other.start()
    time.sleep(0.3)
    assert unfinished.read_text() == "the orphan's"
    let_go.set()
    other.join(30)
    orphan.join(30)
    assert other.exitcode == orphan.exitcode == 0
    assert (tmp_path / "out.txt").read_text() == "1"
