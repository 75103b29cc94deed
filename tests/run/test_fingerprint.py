"""Fingerprints: what changes results changes them, what does not does not.

That nothing is missed: tests/test_script_imports.py.
"""

import ast
import importlib
import os

import pytest

from private_ensembles.labels import registry
from private_ensembles.papers.all import ALL
from private_ensembles.run import fingerprint as module
from private_ensembles.run.fingerprint import PACKAGE, closure, fingerprint

# Packages that offer names of their modules, which they load when they are asked for.
PAPERS = tuple(f"papers.{paper.name}" for paper in ALL)
LENDERS = ("audit", "papers.darrm.mathematics", "papers.pate.mathematics")


def forget():
    for known in (module._modules, module._source):
        known.cache_clear()


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A package and a script of our own making, in place of ours; returns a rewriting function."""
    package, scripts = tmp_path / PACKAGE, tmp_path / "scripts"
    (package / "room").mkdir(parents=True)
    scripts.mkdir()

    def write(**files):
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        forget()
        return fingerprint("script.py")

    monkeypatch.setattr(module, "ROOT", package)
    monkeypatch.setattr(module, "SCRIPTS", scripts)
    monkeypatch.setattr(module, "STUDIES", tmp_path / "studies")
    (package / "__init__.py").write_text("")
    (package / "room" / "__init__.py").write_text("CONSTANT = 1\n")
    (package / "room" / "used.py").write_text("def f(x):\n    return x\n")
    (package / "room" / "unused.py").write_text("def g(x):\n    return x\n")
    (scripts / "script.py").write_text(f"from {PACKAGE}.room.used import f\nprint(f(1))\n")
    yield write
    forget()


USED = f"{PACKAGE}__room__used"


def test_comments_docstrings_layout_unused_modules_and_touches_do_not_count(toy, tmp_path):
    before = toy()
    text = '"""A module."""\n\n\ndef f( x ):\n    """F."""\n    # why\n    return x\n'
    assert toy(**{USED: text}) == before
    assert toy(**{f"{PACKAGE}__room__unused": "def g(x):\n    return 2 * x\n"}) == before
    for path in tmp_path.rglob("*.py"):
        os.utime(path, (1, 1))
    assert toy() == before


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x + 1\n",
        "def f(x, y=None):\n    return x\n",
        "def f(x):\n    return x\n\n\nprint(f)\n",
        "def f(x):\n    return 'x'\n",
        "def f(x):\n    return None\n",
        "def f(x):\n    return\n",
        "def f(x):\n    return ...\n",
    ],
)
def test_what_the_code_does_counts(toy, text):
    assert toy(**{USED: text}) != toy(**{USED: "def f(x):\n    return x\n"})


def test_another_version_or_offer_of_a_package_does_not_count_but_its_code_does(toy, tmp_path):
    def fingerprint_of(text):
        (tmp_path / PACKAGE / "__init__.py").write_text(text)
        return toy()

    before = fingerprint_of('__version__ = "1"\n_PUBLIC = {"f": "room"}\nSITE = ""\n')
    assert fingerprint_of('__version__ = "2"\n_PUBLIC = {}\n__all__ = []\nSITE = ""\n') == before
    assert fingerprint_of('__version__ = "1"\n_PUBLIC = {"f": "room"}\nSITE = "x"\n') != before
    assert toy(**{USED: "__version__ = 1\n"}) != toy(**{USED: "__version__ = 2\n"})


def test_kinds_of_constants_differ(toy):
    marks = {
        toy(**{USED: f"x = {value}\n"}) for value in ("1", "1.0", "True", "'1'", "b'1'", "None")
    }
    assert len(marks) == 6


def test_texts_that_look_like_what_is_left_out_count(toy):
    texts = ("", "x=[]", ", x=[]", "y=[]", "x=Load()", "(, y", "(y")
    assert len({toy(**{USED: f"x = {text!r}\n"}) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (f"import {PACKAGE}.room.used", {"room", "room.used"}),
        (f"from {PACKAGE}.room import used", {"room", "room.used"}),
        (f"from {PACKAGE} import room", {"room"}),
        (f"from {PACKAGE}.room import CONSTANT", {"room"}),
        (f"def late():\n    from {PACKAGE}.room.used import f", {"room", "room.used"}),
        ("import json", set()),
    ],
)
def test_every_way_to_import_is_followed(toy, script, expected):
    toy(scripts__script=script + "\n")
    found = {name.removeprefix(f"{PACKAGE}.") for name in closure("script.py")} - {PACKAGE}
    assert found == expected


def test_imports_of_imports_are_followed(toy):
    toy(**{USED: f"from {PACKAGE}.room import unused\nfrom {PACKAGE} import top\n"})
    toy(**{f"{PACKAGE}__top": "x = 1\n"})
    assert {f"{PACKAGE}.room.unused", f"{PACKAGE}.top"} <= set(closure("script.py"))


@pytest.mark.parametrize("line", ["from . import unused", f"from {PACKAGE}.room import *"])
def test_an_import_that_names_no_module_is_refused(toy, line):
    with pytest.raises(ValueError, match=r"used\.py, line 1: must import a module by its name"):
        toy(**{USED: line + "\n"})


def test_no_module_takes_from_a_package_what_only_its_getattr_would_load():
    """A closure would miss it: what our own code needs, it imports from where it is."""
    lent = {f"{PACKAGE}.{room}": importlib.import_module(f"{PACKAGE}.{room}") for room in LENDERS}
    for path in [*module.ROOT.rglob("*.py"), *module.SCRIPTS.rglob("*.py")]:
        text = path.read_text()
        if not any(f"from {name} import" in text for name in lent):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module in lent:
                names = {alias.name for alias in node.names}
                assert not names & set(lent[node.module].__all__), path


@pytest.mark.parametrize("script", ["labels/plan_mechanisms.py", "release/apply_votes.py"])
def test_every_mechanism_counts_for_what_offers_it(script):
    found = set(closure(script))
    for entry in registry.ENTRIES:
        for named in (entry.law, entry.account):
            assert f"{PACKAGE}.{named.rpartition('.')[0]}" in found
    assert "private_ensembles.labels.ladder" in found


@pytest.mark.parametrize("beside", [False, True])
def test_a_module_that_loads_by_name_counts_with_what_it_or_its_imports_name(toy, beside):
    before = toy(**{f"{PACKAGE}__room__listed": 'NAMED = "room.unused.g"\n'})
    assert f"{PACKAGE}.room.unused" not in closure("script.py")
    named = f"from {PACKAGE}.room.listed import NAMED" if beside else 'NAMED = "room.unused.g"'
    toy(**{USED: f"{named}\n\n\ndef f(name):\n    return NAMED\n"})
    assert f"{PACKAGE}.room.unused" not in closure("script.py")
    loads = (
        "from importlib import import_module\n\n\ndef f(name):\n    return import_module(NAMED)\n"
    )
    toy(**{USED: f"{named}\n{loads}"})
    assert f"{PACKAGE}.room.unused" in closure("script.py")
    once = toy()
    assert toy(**{f"{PACKAGE}__room__unused": "def g(x):\n    return 3 * x\n"}) not in {
        once,
        before,
    }


def test_a_text_with_a_gap_names_a_module_of_every_folder_but_in_a_script(toy):
    for folder in ("one", "two"):
        toy(
            **{
                f"{PACKAGE}__room__{folder}__part": "x = 1\n",
                f"{PACKAGE}__room__{folder}__more": "",
            }
        )
    text = f'def f(name):\n    return f"{PACKAGE}.room.{{name}}.part"\n'
    toy(scripts__script=text)
    assert closure("script.py") == []
    before = toy(**{"scripts__script": f"import {PACKAGE}.room.used\n", USED: text})
    named = {name for name in closure("script.py") if name.endswith((".part", ".more"))}
    assert named == {f"{PACKAGE}.room.{folder}.part" for folder in ("one", "two")}
    assert toy(**{f"{PACKAGE}__room__two__part": "x = 2\n"}) != before
    for other in ("room.{name}", "room.{name}part", "{room}.{name}.part"):
        toy(**{USED: f'def f(room, name):\n    return f"{PACKAGE}.{other}"\n'})
        assert not any(name.endswith(".part") for name in closure("script.py"))


def test_of_the_studies_the_modules_that_a_script_imports_count(toy, tmp_path):
    toy(studies__used="x = 1\n", studies__other="x = 1\n")
    (tmp_path / "studies" / "__init__.py").write_text("")
    assert "studies" not in closure("script.py")
    before = toy(
        scripts__script=f"import json\nfrom studies.used import x\nfrom {PACKAGE} import room\n"
    )
    assert {"studies", "studies.used", f"{PACKAGE}.room"} <= set(closure("script.py"))
    assert toy(studies__other="x = 2\n") == before
    assert toy(studies__used="x = 2\n") != before


def test_circular_imports_end(toy):
    toy(**{USED: f"import {PACKAGE}.room.unused\n"})
    toy(**{f"{PACKAGE}__room__unused": f"import {PACKAGE}.room.used\n"})
    assert len(closure("script.py")) == 4


def test_data_beside_the_code_counts_by_its_bytes(toy, tmp_path):
    data = tmp_path / "published" / "table1.csv"
    data.parent.mkdir()
    data.write_text("1\n")
    first = fingerprint("script.py", data_files=["published/*.csv"])
    data.write_text("2\n")
    second = fingerprint("script.py", data_files=["published/*.csv"])
    assert len({toy(), first, second}) == 3
    (data.parent / "table1.yaml").write_text("a: 1\n")
    both = fingerprint("script.py", data_files=["published/*.csv", "published/*.yaml"])
    assert both not in {first, second}
    with pytest.raises(ValueError, match="must match a file"):
        fingerprint("script.py", data_files=["nowhere/*.csv"])


def test_a_module_that_a_parameter_names_counts_with_what_it_imports(toy):
    toy(
        scripts__script="import json\n",
        **{f"{PACKAGE}__room__unused": f"from {PACKAGE}.room import used\n"},
    )
    name = f"{PACKAGE}.room.unused"
    assert closure("script.py", name) == sorted(
        {PACKAGE, f"{PACKAGE}.room", f"{PACKAGE}.room.used", name}
    )
    assert fingerprint("script.py", name) != fingerprint("script.py")
    with pytest.raises(ValueError, match="must be a module of"):
        fingerprint("script.py", f"{PACKAGE}.room.misspelt")


def test_missing_script_is_a_clear_error():
    with pytest.raises(ValueError, match=r"no_such\.py: must be an existing file"):
        fingerprint("no_such.py")


def test_fingerprint_is_the_same_on_every_python(toy):
    # Computed once with 3.11; newer Pythons dump syntax trees in other words.
    assert toy() == "f039dc559c259688"


@pytest.mark.parametrize(
    ("script", "foreign"),
    [
        (
            "darrm/optimize_gamma.py",
            ("training", "labels", "papers.pate", "papers.compare", "report"),
        ),
        ("training/train_teachers.py", ("labels", "papers", "release", "report")),
        ("training/cast_votes.py", ("papers", "release", "report")),
        ("training/download_data.py", ("training.teachers", "labels", "papers", "report")),
        ("darrm/release_labels.py", ("training", *PAPERS, "papers.compare", "report")),
    ],
)
def test_closure_stays_within_the_rooms_that_the_script_needs(script, foreign):
    rooms = tuple(f"{PACKAGE}.{room}" for room in foreign)
    assert [name for name in closure(script) if name.startswith(rooms)] == []
