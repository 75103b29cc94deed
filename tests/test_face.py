"""The package's face: names are found, load late, and open with an example."""

import inspect
import subprocess
import sys

import pytest

import private_ensembles


@pytest.mark.parametrize("name", private_ensembles.__all__)
def test_a_name_is_listed_and_opens_with_an_example(name):
    assert name in dir(private_ensembles)
    found = getattr(private_ensembles, name)
    assert callable(found)
    text = inspect.getdoc(found)
    summary, example = text.split("\n\n")[:2]
    assert "\n" not in summary
    assert example.startswith(">>> ")
    assert "ValueError" in text  # what it raises


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'release_label'"):
        _ = private_ensembles.release_label


def test_importing_the_package_loads_nothing(root):
    code = "import sys, private_ensembles; dir(private_ensembles); print(sorted(sys.modules))"
    given = {"capture_output": True, "text": True, "check": True}
    shown = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(root / "workflow")}, **given
    ).stdout
    for heavy in ("numpy", "scipy", "torch", "pandas", "matplotlib", "snakemake"):
        assert f"'{heavy}'" not in shown
