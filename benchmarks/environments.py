"""Other packages in environments of their own: made from pinned versions, and run there.

`run_script` makes the environment of a reproducer once, in a folder that
PRIVATE_ENSEMBLES_LIBRARIES names (or ~/.cache/private-ensembles/libraries), and returns the numbers
that the reproducer prints. Each environment has exactly the versions of its list, installed by
`pip install --no-deps`. What is not on the list (NumPy, SciPy, PyTorch, ...) is taken from the
environment that runs this file.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("reproducers")
FOLDER_VARIABLE = "PRIVATE_ENSEMBLES_LIBRARIES"
# Installing and running may take so many seconds.
_INSTALL, _RUN = 900, 600


@dataclass(frozen=True)
class Skipped:
    """Why there are no numbers of a package."""

    reason: str


def run_script(script: str, pins: str | None = None) -> dict | Skipped:
    """Return what reproducers/SCRIPT.py prints in the environment of reproducers/PINS.txt.

    pins: None for the environment that runs this.
    """
    python = sys.executable if pins is None else ensure_environment(FOLDER / f"{pins}.txt")
    if isinstance(python, Skipped):
        return python
    # With -I nothing of this project is on the path, and no file's name hides a package's.
    command = [str(python), "-I", "-W", "ignore", str(FOLDER / f"{script}.py")]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=_RUN)
    except subprocess.TimeoutExpired:
        return Skipped(f"ran for more than {_RUN} s")
    if completed.returncode:
        return Skipped(f"did not run: {_last_line(completed.stderr)}")
    try:
        return json.loads(completed.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return Skipped("printed no numbers")


def ensure_environment(pins: Path) -> Path | Skipped:
    """Return the Python of an environment with these pins, made if it is not there."""
    text = pins.read_text(encoding="utf-8")
    made_from = f"{sys.prefix} {sys.version} {text}"
    name = f"{pins.stem}-{hashlib.sha256(made_from.encode()).hexdigest()[:12]}"
    base = (
        os.environ.get(FOLDER_VARIABLE)
        or Path.home() / ".cache" / "private-ensembles" / "libraries"
    )
    folder = Path(base) / name
    python = folder / "bin" / "python"
    if (folder / "complete").is_file():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _build_environment(folder, python, pins)
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        message = _last_line(getattr(error, "stderr", None) or str(error))
        return Skipped(f"could not be installed: {message}")
    (folder / "complete").touch()
    return python


def _build_environment(folder: Path, python: Path, pins: Path) -> None:
    """Make an environment, let it see this one's packages behind its own, and install the pins."""

    def call(*command: str) -> None:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_INSTALL)

    folder.parent.mkdir(parents=True, exist_ok=True)
    call(sys.executable, "-m", "venv", "--without-pip", str(folder))
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (site_packages / "parent.pth").write_text(
        sysconfig.get_path("purelib") + "\n", encoding="utf-8"
    )
    pip = (sys.executable, "-m", "pip", "--python", str(python), "--quiet")
    call(*pip, "install", "--no-deps", "--requirement", str(pins))


def _last_line(text: str) -> str:
    """Return the last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no message"


def read_installation_note(pins: str) -> str:
    """Return what the first line of a list of pins says of the installation."""
    first = (FOLDER / f"{pins}.txt").read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix("#").strip()
