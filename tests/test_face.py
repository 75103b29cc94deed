"""The package's face: names are found, load late, and open with an example; pages use no others."""

import inspect
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from typing import get_args, get_type_hints

import pytest

import private_ensembles

MOST_ARGUMENTS, MOST_FIELDS = 9, 10
# Pages for those who change the package, and so use its modules.
FOR_CONTRIBUTORS = {
    "docs/add-a-figure.md",
    "docs/add-a-mechanism.md",
    "docs/add-a-paper.md",
    "docs/add-a-vote-file-format.md",
}


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


def things():
    """The public classes, and the dataclasses that their fields hold, by name."""
    found = {}
    asked = [getattr(private_ensembles, name) for name in private_ensembles.__all__]
    while asked:
        thing = asked.pop()
        asked += get_args(thing)
        if inspect.isclass(thing) and thing.__module__.startswith("private_ensembles"):
            found[thing.__name__] = thing
            if is_dataclass(thing):
                asked += get_type_hints(thing).values()
    return found


def test_no_public_call_takes_more_than_nine_arguments():
    """A function's; a class's own and its methods', without the self that they are called on."""
    calls = {name: getattr(private_ensembles, name) for name in private_ensembles.__all__}
    for name, thing in things().items():
        methods = (key for key in vars(thing) if not key.startswith("_"))
        calls |= {f"{name}.{key}": getattr(thing, key) for key in methods} | {name: thing}
    taken = {
        name: [key for key in inspect.signature(call).parameters if key != "self"]
        for name, call in calls.items()
        if callable(call)
    }
    assert {"plan", "Session", "Session.create", "Session.release"} <= set(taken)
    assert not {name: keys for name, keys in taken.items() if len(keys) > MOST_ARGUMENTS}


def test_no_public_thing_has_more_than_ten_fields():
    sizes = {name: len(fields(thing)) for name, thing in things().items() if is_dataclass(thing)}
    assert {"Budget", "Ensemble", "Protection", "Wanted", "Rehearsal"} <= set(sizes)
    assert not {name: size for name, size in sizes.items() if size > MOST_FIELDS}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'release_label'"):
        _ = private_ensembles.release_label


def inner_names(code):
    """What a text of Python names in the package that is not public, as modules or attributes."""
    names = set(re.findall(r"\bprivate_ensembles\.(\w+)", code))
    for listed in re.findall(r"from private_ensembles import (\([^)]*\)|.*)", code):
        names |= set(re.findall(r"(?<!as )\b\w+", listed)) - {"as"}
    return names - set(private_ensembles.__all__) - {"__version__"}


@pytest.mark.docs
def test_examples_and_pages_use_public_names_alone(root):
    """Findings are about other packages. Pages for contributors show inner modules."""
    pages = [*(root / "docs").rglob("*.md"), root / "README.md", *(root / "examples").glob("*.md")]
    texts = {
        path: "\n".join(
            re.sub(r"(?m)^(>>>|\.\.\.) ?", "", block)
            for block in re.findall(r"(?ms)^ *```py\w*\n(.*?)^ *```", path.read_text("utf-8"))
        )
        for path in pages
    } | {path: path.read_text("utf-8") for path in (root / "examples").glob("*.py")}
    inner = {str(path.relative_to(root)): inner_names(text) for path, text in texts.items()}
    shown = {name for name, names in inner.items() if names}
    assert shown <= FOR_CONTRIBUTORS, {name: inner[name] for name in shown - FOR_CONTRIBUTORS}
    assert sum("private_ensembles" in text for text in texts.values()) > 12


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("from private_ensembles.audit import audit_sampler", {"audit"}),
        ("import private_ensembles.audit as audit", {"audit"}),
        ("from private_ensembles import plan, audit", {"audit"}),
        ("from private_ensembles import (\n    plan,\n    labels,\n)\nx = 1", {"labels"}),
        ("from private_ensembles import plan\nimport private_ensembles\nplan()", set()),
    ],
)
def test_inner_names_are_seen_however_they_are_imported(code, names):
    assert inner_names(code) == names


def test_importing_the_package_loads_nothing(root):
    code = "import sys, private_ensembles; dir(private_ensembles); print(sorted(sys.modules))"
    given = {"capture_output": True, "text": True, "check": True}
    shown = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(root / "workflow")}, **given
    ).stdout
    for heavy in ("numpy", "scipy", "torch", "pandas", "matplotlib", "snakemake"):
        assert f"'{heavy}'" not in shown
