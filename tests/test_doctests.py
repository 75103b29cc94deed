"""The examples in the docstrings of public entry points give what they say, and need no torch."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "workflow" / "private_ensembles"
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
# Prints one line a module: its name, how many examples ran, how many failed.
RUN = """
import doctest, importlib, sys
for name in sys.argv[1:]:
    result = doctest.testmod(importlib.import_module(f"private_ensembles.{name}"))
    print("RESULT", name, result.attempted, result.failed)
print("TORCH", "torch" in sys.modules)
"""


@pytest.fixture(scope="module")
def results(root):
    """One process for all: imports are what takes time."""
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", RUN, *MODULES],
        env={**os.environ, "PYTHONPATH": str(root / "workflow")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_examples_of_the_docstrings_hold(results):
    found = re.findall(r"^RESULT (\S+) (\d+) (\d+)$", results, re.M)
    assert [module for module, *_ in found] == MODULES
    for module, attempted, failed in found:
        assert int(attempted) > 0, module
        assert int(failed) == 0, results


def test_examples_need_no_torch(results):
    assert "TORCH False" in results
