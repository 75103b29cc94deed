"""The lock and the conda environment say the same, and both cover what pyproject asks for."""

import re
import tomllib
from itertools import chain

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def _lock(root):
    lines = (root / "envs" / "requirements.lock").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_lock_pins_every_package_to_one_public_version(root):
    for line in _lock(root):
        assert re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9A-Za-z.]*", line), line


def test_lock_is_sorted_and_names_each_package_once(root):
    names = [canonicalize_name(line.split("==")[0]) for line in _lock(root)]
    assert names == sorted(set(names))


def test_conda_environment_has_the_pins_of_the_lock(root):
    environment = yaml.safe_load((root / "envs" / "environment.yaml").read_text())
    (pip,) = [item["pip"] for item in environment["dependencies"] if isinstance(item, dict)]
    assert pip == _lock(root)


def test_lock_satisfies_the_ranges_of_pyproject(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    pins = dict(line.split("==") for line in _lock(root))
    pins = {canonicalize_name(name): version for name, version in pins.items()}
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    for requirement in map(Requirement, wanted):
        if canonicalize_name(requirement.name) == project["name"]:
            continue  # the extra that stands for all others
        assert pins[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_lock_holds_all_that_its_packages_require(root):
    from importlib.metadata import PackageNotFoundError, requires

    pins = {canonicalize_name(line.split("==")[0]) for line in _lock(root)}
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
