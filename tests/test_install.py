"""What `pip install .` gives: a light core that works alone, and one line for whatever is missing.

The quick tests build both distributions and run the wheel beside links to the packages of the core
alone. The slow one makes an empty virtual environment and lets pip find these packages.
"""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.docs

HEAVY = {"torch", "pandas", "matplotlib", "sklearn", "snakemake", "pydantic", "yaml", "gurobipy"}
WORK = """
import json, sys
import private_ensembles
facts = {"imported": sorted(sys.modules)}
from private_ensembles import audit, optimize_gamma
solution = optimize_gamma(K=11, m=3, epsilon=0.1, Delta=1e-5, solver="highs")
facts["utility"], facts["holds"] = solution.utility, solution.certificate.holds
from private_ensembles.base.files import describe
table = lambda counts: (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)
facts["audited"] = audit.audit_function(table, 5, 2).epsilon(0.0)
for name in ("training.teachers.dpsgd", "papers.common.style", "run.check"):
    try:
        __import__(f"private_ensembles.{name}")
    except ModuleNotFoundError as error:
        facts[name] = describe(error)
facts["loaded"] = sorted(sys.modules)
print(json.dumps(facts))
"""


@pytest.fixture(scope="module")
def distributions(root, tmp_path_factory):
    """The wheel and the source distribution of this checkout, built by its own backend."""
    folder = tmp_path_factory.mktemp("distributions")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(root / name, source)
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("workflow", "tests"):
        shutil.copytree(root / name, source / name, ignore=ignore)
    build = "import setuptools.build_meta as b; b.build_sdist('..'); b.build_wheel('..')"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_both_distributions_hold_the_package_and_nothing_else(distributions, root):
    wheel, sdist = distributions
    package = root / "workflow" / "private_ensembles"
    sources = [path for path in package.rglob("*") if path.suffix in (".py", ".html", ".yaml")]
    wanted = {path.relative_to(package.parent).as_posix() for path in sources}
    wanted.add("private_ensembles/py.typed")
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
        (licence,) = (name for name in archive.namelist() if name.endswith("/LICENSE"))
        assert archive.read(licence) == (root / "LICENSE").read_bytes()
    assert found == wanted
    with tarfile.open(sdist) as archive:
        members = {name.partition("/")[2] for name in archive.getnames()}
    files = {
        name
        for name in members
        if name.endswith((".py", ".html", ".yaml", ".typed", ".toml", ".md", "LICENSE"))
    }
    assert files == {f"workflow/{name}" for name in wanted} | {
        "LICENSE",
        "README.md",
        "pyproject.toml",
    }


def _core() -> list[str]:
    """The distributions that a plain `pip install .` brings, other than this one."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    found, wanted = set(), [Requirement(text) for text in project["dependencies"]]
    while wanted:
        one = wanted.pop()
        name = canonicalize_name(one.name)
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        more = importlib.metadata.requires(name) or []
        wanted += [need for need in map(Requirement, more) if "extra" not in str(need.marker)]
    return sorted(found)


@pytest.fixture(scope="module")
def core(distributions, tmp_path_factory):
    """A folder with the wheel and links to the core's packages; nothing else can be imported."""
    folder = tmp_path_factory.mktemp("core")
    with zipfile.ZipFile(distributions[0]) as archive:
        archive.extractall(folder)
    for name in _core():
        distribution = importlib.metadata.distribution(name)
        for top in {path.parts[0] for path in distribution.files if path.parts[0] != ".."}:
            (folder / top).symlink_to(distribution.locate_file(top))
    return folder


def _python(core: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess:
    # -S leaves out site-packages, and with them all but the standard library and `core`.
    command = [sys.executable, "-S", "-P", *arguments]
    environment = os.environ | {"PYTHONPATH": str(core)}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def _works(python, cwd):
    """Check the core by a function that runs Python with arguments in a folder."""
    done = python("-c", WORK, cwd=cwd)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["holds"] is True
    assert facts["utility"] == pytest.approx(0.848806, abs=1e-6)
    assert facts["audited"] == pytest.approx(0.6931471806)  # 5 of 5 votes or 4: 6/7 and 1/7, 2/7
    assert not HEAVY & set(facts["loaded"])
    assert not {"numpy", "scipy", "argparse"} & set(facts["imported"])
    said = "{} is not installed; in the folder of pyproject.toml run: pip install '.[{}]'"
    assert facts["training.teachers.dpsgd"] == said.format("torch", "teachers")
    assert facts["papers.common.style"] == said.format("matplotlib", "workflow")
    assert facts["run.check"] == said.format("yaml", "workflow")

    (cwd / "votes.csv").write_text("0,0,1,0,0,2,0\n" * 19 + "0,0,0,0,0,0,0\n")
    names = ["--mechanism", "gnmax_analytic", "--mechanism", "permute_and_flip"]
    (cwd / "mine.py").write_text("def uniform(counts):\n    return (counts + 1) / (7 + 3)\n")
    sizes = ["--teachers", "7", "--classes", "3"]
    stated = ["--shards", "disjoint", "--anyway"]  # seven teachers, and much noise
    for arguments, status in (
        (["plan", *sizes, "--queries", "20", "--epsilon", "2", *names], 0),
        (["audit", "mine.py:uniform", *sizes, "--claims", "0.1,1e-5"], 1),
        (["release", "votes.csv", *sizes, "--epsilon", "9", *stated, *names], 0),
        (["gamma", "-K", "11", "-m", "3", "--epsilon", "0.1", "--out", "gamma.json"], 0),
        (["verify", "gamma.json", "results/own/release/0001/certificate.json"], 0),
    ):
        done = python("-m", "private_ensembles", *arguments, cwd=cwd)
        assert done.returncode == status, (arguments, done.stdout, done.stderr)
    labels = (cwd / "results/own/release/0001/labels.csv").read_text().splitlines()
    assert labels[0] == "query,label"
    assert len(labels) == 21
    assert done.stderr == ""


def test_the_wheel_works_beside_the_core_s_packages_alone(core, tmp_path):
    _works(lambda *arguments, cwd: _python(core, *arguments, cwd=cwd), tmp_path)


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_virtual_environment(distributions, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True, timeout=300)
    python = tmp_path / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", distributions[0]]
    subprocess.run(install, check=True, timeout=600)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*arguments, cwd):
        command = [python, *arguments]
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
        )

    _works(run, tmp_path)
