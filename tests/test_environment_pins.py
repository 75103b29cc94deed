"""The locks and the conda environment say the same, and cover what pyproject asks for.

No machine of ours builds images, so the Dockerfile is read, and its commands of pip are run
in an empty virtual environment.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import chain

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.docs

LOCKS = ("requirements", "docs")


def _lock(root, name="requirements"):
    lines = (root / "envs" / f"{name}.lock").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _pins(root, name="requirements"):
    pins = dict(line.split("==") for line in _lock(root, name))
    return {canonicalize_name(package): version for package, version in pins.items()}


@pytest.mark.parametrize("name", LOCKS)
def test_lock_pins_every_package_to_one_public_version(root, name):
    for line in _lock(root, name):
        assert re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9A-Za-z.]*", line), line


@pytest.mark.parametrize("name", LOCKS)
def test_lock_is_sorted_and_names_each_package_once(root, name):
    names = [canonicalize_name(line.split("==")[0]) for line in _lock(root, name)]
    assert names == sorted(set(names))


def test_both_locks_fit_into_one_environment(root):
    pins, docs = _pins(root), _pins(root, "docs")
    assert {name: pins.get(name, version) for name, version in docs.items()} == docs


def test_conda_environment_has_the_pins_of_the_lock(root):
    environment = yaml.safe_load((root / "envs" / "environment.yaml").read_text())
    (pip,) = [item["pip"] for item in environment["dependencies"] if isinstance(item, dict)]
    assert pip == _lock(root)


def _name(requirement):
    return canonicalize_name(Requirement(requirement).name)


def test_lock_satisfies_the_ranges_of_pyproject(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras, pins = project["optional-dependencies"], _pins(root)
    pins |= {name: _pins(root, "docs")[name] for name in map(_name, extras["docs"])}
    wanted = [*project["dependencies"], *chain(*extras.values())]
    for requirement in map(Requirement, wanted):
        if canonicalize_name(requirement.name) == project["name"]:
            continue  # the extra that stands for all others
        assert pins[canonicalize_name(requirement.name)] in requirement.specifier, requirement


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_holds_all_that_its_packages_require(root, lock):
    from importlib.metadata import PackageNotFoundError, requires

    pins = _pins(root, lock)
    for name in pins:
        try:
            required = requires(name) or []
        except PackageNotFoundError:
            continue  # installed elsewhere with other extras; the other packages still count
        for requirement in map(Requirement, required):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                needed = canonicalize_name(requirement.name)
                # torch pins its own CUDA libraries; see the head of the lock.
                if name != "torch":
                    assert needed in pins, f"{name} requires {needed}"


def test_all_name_the_pythons_on_which_the_lock_installs(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    python = re.compile(r"Programming Language :: Python :: (3\.\d+)")
    pythons = [found[1] for found in map(python.fullmatch, project["classifiers"]) if found]
    assert project["requires-python"] == f">={pythons[0]}"
    ci = yaml.safe_load((root / ".github/workflows/ci.yml").read_text())
    assert ci["jobs"]["everything"]["strategy"]["matrix"]["python"] == pythons
    sentence = f"{', '.join(pythons[:-1])} or {pythons[-1]}"
    for page in ("README.md", "CONTRIBUTING.md", "paper/artifact.md", "docs/reproduce.md"):
        assert sentence in (root / page).read_text(), page


def _hashed(root, name):
    """The requirements of a lock with hashes, and of those that it includes: name -> line."""
    text = (root / "envs" / f"{name}.lock").read_text()
    logical = text.replace("\\\n", " ").splitlines()
    found = {}
    for line in logical:
        if line.startswith("-r "):
            found |= _hashed(root, line.removeprefix("-r ").removesuffix(".lock"))
        elif line and not line.startswith("#"):
            found[canonicalize_name(line.split("==")[0])] = line
    return found


@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_locks_with_hashes_have_the_pins_of_the_lock_and_a_hash_for_each(root, name):
    pins = _pins(root)
    hashed = _hashed(root, name)
    for package, version in pins.items():
        line = hashed.pop(package)
        assert Requirement(line.split(" --hash")[0]).specifier.contains(version) or (
            package == "torch" and line.startswith(f"torch=={version}+cpu ")
        )
        assert re.search(r"--hash=sha256:[0-9a-f]{64}(?= |$)", line), line
    # What is left are the libraries that torch brings along on Linux, and nothing on a CPU.
    assert all("sys_platform == 'linux'" in line and "--hash=" in line for line in hashed.values())
    assert bool(hashed) is (name == "cuda")
    assert all(re.match("nvidia-|cuda-|triton", package) for package in hashed)


def _instructions(root):
    """The Dockerfile's instructions and what they are given, in their order."""
    text = re.sub(r"^#.*\n", "", (root / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = filter(None, text.replace("\\\n", " ").splitlines())
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def test_the_image_is_slim_pinned_and_not_of_root(root):
    found = _instructions(root)
    environment = yaml.safe_load((root / "envs/environment.yaml").read_text())
    python = next(item for item in environment["dependencies"] if str(item).startswith("python="))
    assert ("FROM", python.replace("=", ":") + "-slim") in found  # the conda environment's Python
    assert dict(found)["USER"] not in ("root", "0")
    assert ("ARG", "LOCK=cpu") in found


def test_the_image_writes_nothing_into_its_home(root):
    # Another user may run it, and cannot write there.
    (variables,) = (given for name, given in _instructions(root) if name == "ENV")
    variables = dict(word.split("=", 1) for word in variables.split())
    for name in ("XDG_CACHE_HOME", "MPLCONFIGDIR"):
        assert variables[name].startswith("/tmp/"), name


def test_the_image_knows_its_revision(root, tmp_path):
    """The build takes the repository along, nothing tracked is left out, and git may be asked."""
    ignored = (root / ".dockerignore").read_text().splitlines()
    ignored = [line for line in ignored if line and not line.startswith("#")]
    assert ".git" not in ignored
    left_out = tuple(f"{line}/" for line in ignored if "*" not in line and line[0] != "!")
    done = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
    missing = {path for path in done.stdout.splitlines() if path.startswith(left_out)}
    assert missing == {line[1:] for line in ignored if line[0] == "!"}
    home = next(given for name, given in _instructions(root) if name == "WORKDIR")
    (variables,) = (given for name, given in _instructions(root) if name == "ENV")
    variables = dict(word.split("=", 1) for word in variables.split())
    assert variables["GIT_CONFIG_VALUE_0"] == home
    # These variables, and they alone, let another user ask for the revision.
    copy = tmp_path / "copy"
    (copy / "workflow").mkdir(parents=True)
    git = ["git", "-C", str(copy), "-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "all"]):
        subprocess.run([*git, *command], check=True)
    # Git's own way to pretend that somebody else owns it.
    another = os.environ | {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    ask = ["git", "-C", str(copy / "workflow"), "describe", "--always"]
    assert subprocess.run(ask, env=another, capture_output=True).returncode != 0
    another |= variables | {"GIT_CONFIG_VALUE_0": str(copy), "HOME": str(tmp_path)}
    assert subprocess.run(ask, env=another, capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the image is one of Python 3.11")
def test_the_image_s_pip_commands_make_an_environment_that_runs_the_workflow(root, tmp_path):
    """All RUN lines that call pip, one by one, in an empty environment in place of the image's."""
    copy = tmp_path / "private-ensembles"
    ignore = shutil.ignore_patterns(".git", ".snakemake", "__pycache__", "results", ".ci", "build")
    shutil.copytree(root, copy, ignore=ignore)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    commands = [given for name, given in _instructions(root) if name == "RUN" and "pip " in given]
    assert len(commands) == 2
    bin_folder = tmp_path / "venv" / "bin"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"PATH": f"{bin_folder}:{os.environ['PATH']}", "LOCK": "cpu"}
    commands += ["pip check", "snakemake -n --configfile config/scenarios/tiny.yaml --cores 1"]
    commands += ["cd / && private-ensembles --version"]
    for command in commands:
        done = subprocess.run(
            ["sh", "-c", command], cwd=copy, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, (command, done.stdout[-3000:], done.stderr[-3000:])
