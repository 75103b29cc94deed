"""What others planted: nothing of it runs, whether it lies in a file or in the configuration."""

import ast
import copy
import io
import os
import pickle
import shutil
import zipfile

import numpy as np
import pytest
import torch
import yaml

from private_ensembles.base.provenance import record_path

TINY = ("--configfile", "config/scenarios/tiny.yaml", "--cores", "1")
DATASET = "results/datasets/digits.npz"
TEACHERS = "results/teachers/digits/kind=private,K=5,seed=0.pt"
VOTES = "results/votes/digits/kind=private,K=5,seed=0.npz"
LABELS = "results/darrm/labels/dataset=digits,m=3.csv"


class Payload:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


def _npy(payload):
    buffer = io.BytesIO()
    np.save(buffer, np.array([payload], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def _npz(payload):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("votes", "labels", "n_classes", "provenance", "train_images"):
            archive.writestr(f"{name}.npy", _npy(payload))
    return buffer.getvalue()


def _pt(payload):
    buffer = io.BytesIO()
    torch.save({"teachers": {0: payload}, "metadata": "{}"}, buffer)
    return buffer.getvalue()


FORMS = {"npz": _npz, "pt": _pt}


@pytest.fixture
def finished(finished_tiny_run, tmp_path):
    """A finished tiny run to plant things in."""
    return shutil.copytree(finished_tiny_run, tmp_path / "finished")


def test_payload_would_run_if_it_were_unpickled(tmp_path):
    pickle.loads(pickle.dumps(Payload(tmp_path / "ran")))
    assert (tmp_path / "ran").exists()


@pytest.mark.slow  # what reads each kind of file refuses it in tests of its room
@pytest.mark.parametrize(
    ("place", "form", "target"),
    [(VOTES, "npz", LABELS), (TEACHERS, "pt", VOTES), (DATASET, "npz", VOTES)],
)
def test_planted_file_is_refused_by_name_and_nothing_in_it_runs(
    finished, run_snakemake, place, form, target
):
    ran = finished / "ran"
    (finished / place).write_bytes(FORMS[form](Payload(ran)))
    (finished / record_path(place)).unlink()  # which would refuse it before it is read
    (finished / target).unlink()
    # The file is taken for what it is called, however new it is.
    done = run_snakemake(finished, *TINY, "--rerun-triggers", "params", "--", target)
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode != 0
    assert len(lines) == 1, done.stderr
    assert place in lines[0]
    assert not ran.exists()
    assert not (finished / target).exists()


def test_members_that_point_out_of_an_archive_are_not_written(tmp_path):
    from private_ensembles.base.files import read_npz

    buffer = io.BytesIO()
    np.save(buffer, np.arange(3))
    (tmp_path / "inside").mkdir()
    with zipfile.ZipFile(tmp_path / "inside" / "a.npz", "w") as archive:
        for name in ("../out.npy", "/tmp/out-of-archive.npy", "a.npy"):
            archive.writestr(name, buffer.getvalue())
    assert set(read_npz(tmp_path / "inside" / "a.npz")) >= {"a"}
    assert [path.name for path in tmp_path.rglob("*")] == ["inside", "a.npz"]
    assert not os.path.exists("/tmp/out-of-archive.npy")


def test_code_holds_no_call_that_could_run_what_it_reads(root):
    # numpy.load and torch.load are allowed with the arguments that make them safe.
    forbidden = {
        *("eval", "exec", "compile", "__import__"),
        *("os.system", "os.popen", "marshal.loads", "marshal.load", "shelve.open"),
        *("pickle.load", "pickle.loads", "pickle.Unpickler", "pd.read_pickle", "joblib.load"),
        *("yaml.load", "yaml.unsafe_load", "yaml.full_load"),
        *("shutil.unpack_archive", "tempfile.mktemp"),
    }
    required = {"np.load": ("allow_pickle", False), "torch.load": ("weights_only", True)}
    for path in (root / "workflow").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            where = f"{path}:{node.lineno}: {name}"
            assert name not in forbidden, where
            assert not name.endswith((".extractall", ".extract")), where
            keywords = {
                k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)
            }
            assert not keywords.get("shell"), where
            if name in required:
                keyword, value = required[name]
                assert keywords.get(keyword) is value, where


HOSTILE = [
    "$(touch ran)",
    "`touch ran`",
    "'; touch ran; '",
    '"; touch ran; "',
    'a b/it\'s "here"',
    "{input}$(touch ran){{}}",
    "a\ntouch ran",
    "; touch ran #",
]


@pytest.mark.slow
def test_mirror_of_any_name_is_a_folder_and_nothing_else(copy_workflow, run_snakemake, tmp_path):
    folder, text = copy_workflow(tmp_path / "copy"), HOSTILE[5]
    mirror = folder / text / "mnist"
    mirror.mkdir(parents=True)
    (mirror / "t10k-labels-idx1-ubyte.gz").write_bytes(b"wrong bytes")
    file = {"role": "test_labels", "urls": ["https://127.0.0.1:9/x"]}
    settings = {
        "data": "paper",
        "data_mirror": text,
        "datasets": {"mnist": {"files": {"t10k-labels-idx1-ubyte.gz": file}}},
    }
    (folder / "hostile.yaml").write_text(yaml.safe_dump(settings))
    target = "data/raw/mnist/t10k-labels-idx1-ubyte.gz"
    done = run_snakemake(folder, "--configfile", "hostile.yaml", "--cores", "1", target)
    assert done.returncode != 0
    assert "wrong sha256" in done.stderr, done.stderr
    assert list(folder.rglob("ran")) == []
    assert not (folder / target).exists()


@pytest.fixture(scope="module")
def defaults(root):
    return yaml.safe_load((root / "config.yaml").read_text())


@pytest.mark.parametrize("key", ["dataset", "file", "prior", "device", "solver", "url"])
def test_name_that_is_none_is_refused_in_one_line(defaults, key):
    from private_ensembles.run.check import ConfigError, check

    for text in (*HOSTILE[::3], "../../etc", "mnist\n", "a,b=c", ".hidden"):
        config = copy.deepcopy(defaults)
        mnist = config["datasets"]["mnist"]
        if key == "dataset":
            config["datasets"][text] = mnist
        elif key == "file":
            mnist["files"][f"{text}.gz"] = mnist["files"].pop("t10k-labels-idx1-ubyte.gz")
        elif key == "prior":
            config["darrm"]["prior"] += text
        elif key in ("device", "solver"):
            config[key] = text
        else:
            mnist["files"]["t10k-labels-idx1-ubyte.gz"]["urls"] = [text]
        try:
            check(config)
        except ConfigError as error:
            assert "\n" not in str(error)
        else:
            pytest.fail(f"{key} = {text!r} is accepted")


def test_results_are_made_under_names_that_nobody_else_can_read(finished_tiny_run):
    # Temporary files are checked in test_io; finished ones are ordinary files.
    for path in (finished_tiny_run / "results").rglob("*.*"):
        assert path.stat().st_mode & 0o022 == 0, path
