"""Libraries held at one instruction set use no other, and then other processors give the same bits.

Each process here loads libraries anew, because they look at the processor once.
"""

import io
import json
import os
import shutil
import subprocess
import sys

import pytest

from private_ensembles.base import instruction_sets
from private_ensembles.base.instruction_sets import PORTABLE
from tests.instructions import OLDEST, needs_avx2

pytestmark = needs_avx2

# One function or more of each library that rounds by its instructions.
COMPUTE = """
import hashlib, json
import numpy as np, scipy.linalg, torch
from private_ensembles.base import instruction_sets

torch.set_num_threads(1)
a = np.random.default_rng(0).standard_normal((200, 200))
t = torch.from_numpy(a.astype(np.float32))
stack = t[:196].reshape(7, 28, 200)
kernels = t.reshape(-1)[:400].reshape(16, 1, 5, 5)
results = {
    "NumPy": [np.exp(a), np.log(np.abs(a)), np.abs(a) ** 1.3, np.argsort(a.round().ravel())],
    "OpenBLAS": [a @ a, scipy.linalg.qr(a)[1]],
    "MKL": [t @ t, torch.bmm(stack, stack.mT), torch.linalg.qr(t)[1]],
    "oneDNN": [torch.conv2d(stack.unsqueeze(1), kernels)],
    "PyTorch": [torch.softmax(t, 1), t.sum(), t.tanh(), t.norm()],
}
bits = {
    name: hashlib.sha256(b"".join(np.asarray(part).tobytes() for part in parts)).hexdigest()
    for name, parts in results.items()
}
print("RESULT", json.dumps([bits, instruction_sets.describe_loaded()]))
"""


def compute(root, *interpreter, **variables):
    """Return the bits of each library's results, the sets it reports, and all that was printed."""
    environment = {name: value for name, value in os.environ.items() if name not in PORTABLE}
    environment |= {"PYTHONPATH": str(root / "workflow"), **variables}
    words = [*interpreter, sys.executable, "-c", COMPUTE]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said, _, result = done.stdout.rpartition("RESULT ")
    bits, sets = json.loads(result)
    return bits, sets, said


@pytest.fixture(scope="module")
def held(root):
    """What libraries compute that are held at one set; MKL and oneDNN tell what they take."""
    return compute(root, **PORTABLE, MKL_VERBOSE="1", ONEDNN_VERBOSE="1")


def test_every_library_is_held_at_the_set_that_its_variable_names(held):
    _, sets, said = held
    assert sets["NumPy"] in ("X86_V3", "AVX2")  # by the newer and the older names
    assert (sets["OpenBLAS"], sets["PyTorch"]) == ("Haswell", "AVX2")
    assert (sets["oneDNN"], sets["MKL"]) == ("AVX2", "COMPATIBLE")
    # By their own words, and not by what the environment says.
    assert "cpu,isa:Intel AVX2\n" in said
    calls = [line for line in said.splitlines() if " CNR:" in line]
    assert calls
    assert all(" CNR:COMPATIBLE " in line for line in calls)


def test_other_instructions_give_other_bits(held, root):
    bits, sets, _ = compute(root, **OLDEST)
    assert sets["PyTorch"] in ("DEFAULT", "NO AVX")
    differ = {name for name in bits if bits[name] != held[0][name]}
    assert {"NumPy", "OpenBLAS", "MKL", "PyTorch"} <= differ


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("qemu-x86_64-static") is None, reason="needs the package qemu-user-static"
)
@pytest.mark.parametrize("processor", ["Haswell", "EPYC"])
def test_an_emulated_processor_of_another_maker_gives_the_same_bits(processor, held, root):
    """One of Intel's or AMD's, with its maker's name and without AVX-512, as libraries see it."""
    emulator = (shutil.which("qemu-x86_64-static"), "-cpu", processor)
    bits, sets, _ = compute(root, *emulator, **PORTABLE)
    assert (bits, sets) == held[:2]


def test_variables_that_lack_or_are_otherwise_are_listed():
    almost = PORTABLE | {"MKL_CBWR": "AUTO"}
    assert instruction_sets.list_missing(almost) == {"MKL_CBWR": "COMPATIBLE"}
    assert instruction_sets.list_missing({}) == PORTABLE
    assert instruction_sets.list_missing(PORTABLE) == {}


@pytest.mark.parametrize(
    ("machine", "cpuinfo", "obstacle"),
    [
        ("aarch64", "", "is aarch64"),
        ("x86_64", "flags : sse4_2 avx\n\nflags : avx2 fma\n", "has no AVX2 and no FMA"),
        ("x86_64", "flags : avx2 sse4_2\n", "has no FMA"),
        ("x86_64", "flags : avx2 fma\n", None),
        ("AMD64", None, None),  # where nothing tells
    ],
)
def test_a_processor_without_the_instructions_is_told(
    monkeypatch, stand_in, machine, cpuinfo, obstacle
):
    def open_cpuinfo(*arguments, **named):
        if cpuinfo is None:
            raise FileNotFoundError
        return io.StringIO(cpuinfo)

    stand_in(instruction_sets, "platform", machine=lambda: machine)
    monkeypatch.setattr(instruction_sets, "open", open_cpuinfo, raising=False)
    assert instruction_sets.find_obstacle() == obstacle


def test_a_processor_is_named_with_maker_family_and_model(monkeypatch):
    text = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Xeon 8480\n\n"
    monkeypatch.setattr(instruction_sets, "open", lambda *a, **k: io.StringIO(text), raising=False)
    assert instruction_sets.describe_processor() == "Xeon 8480 (GenuineIntel 6 143)"
