"""The house has floors: a package imports from those below its own only, and nothing in a circle.

grimp reads every import statement, those inside functions included: a late import hides no arrow.
"""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import grimp
import pytest

PACKAGE = "private_ensembles"
HOUSE = Path(__file__).resolve().parents[1] / "workflow" / PACKAGE
# What `python -m private_ensembles` runs: it hands over to `command` and stands on no floor.
DOORSTEP = f"{PACKAGE}.__main__"
# From the ground up (docs/architecture.md); packages of one floor do not know each other.
FLOORS = (
    {"checks"},
    {"noise"},
    {"accounting"},
    {"configuration"},
    {"jobs"},
    {"audit"},
    {"votes"},
    {"darrm", "pate", "dpbag", "nzc"},
    {"mechanisms"},
    {"datasets", "teachers", "student"},
    {"planner"},
    {"release"},
    {"papers"},
    {"ledger", "api", "published"},
    {"figures"},
    {"page"},
    {"command"},
)
# What stands on a higher floor and must be left alone for another reason.
MUST_NOT_KNOW = {
    ("mechanisms", "configuration"),
    ("mechanisms", "jobs"),
    ("datasets", "mechanisms"),
    ("teachers", "mechanisms"),
    ("student", "mechanisms"),
}
# What draws and lays out results sees tables; how they were computed, and from what, is not its
# business.
SEES_TABLES = {
    "figures": {"mechanisms", "published"},
    "page": {"mechanisms", "configuration", "figures", "published"},
}
# Of mechanisms they know the facts that they show: the order, the labels and the looks.
FACTS_OF_MECHANISMS = f"{PACKAGE}.mechanisms.registry"


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph(PACKAGE, include_external_packages=True)


def _package(module: str) -> str:
    return module.split(".")[1]


def _inner(graph) -> list[str]:
    names = (name for name in graph.modules if name.startswith(f"{PACKAGE}."))
    return sorted(name for name in names if name != DOORSTEP)


def _arrows(graph):
    for module in _inner(graph):
        for imported in sorted(graph.find_modules_directly_imported_by(module)):
            if imported.startswith(f"{PACKAGE}."):
                yield module, imported


def test_every_package_has_a_floor_and_no_module_stands_outside(graph):
    assert {_package(name) for name in _inner(graph)} == set().union(*FLOORS)
    loose = {path.name for path in HOUSE.iterdir() if path.is_file()}
    assert loose == {"__init__.py", "__main__.py", "py.typed", "checks.py"}


def test_no_arrow_points_up(graph):
    floor = {name: level for level, names in enumerate(FLOORS) for name in names}
    up = [
        f"{module} imports {imported}"
        for module, imported in _arrows(graph)
        if _package(module) != _package(imported)
        and floor[_package(imported)] >= floor[_package(module)]
    ]
    assert up == []


def test_the_doorstep_leads_to_the_command_and_nowhere_else(graph):
    found = graph.find_modules_directly_imported_by(DOORSTEP)
    assert {name for name in found if name.startswith(f"{PACKAGE}.")} == {f"{PACKAGE}.command.main"}


def test_nobody_knows_what_is_none_of_their_business(graph):
    known = [
        f"{module} imports {imported}"
        for module, imported in _arrows(graph)
        if (_package(module), _package(imported)) in MUST_NOT_KNOW
    ]
    assert known == []


def test_figures_and_the_page_know_tables_and_not_how_they_were_computed(graph):
    arrows = [arrow for arrow in _arrows(graph) if _package(arrow[0]) in SEES_TABLES]
    known = [
        f"{module} imports {imported}"
        for module, imported in arrows
        if _package(imported) not in {_package(module), *SEES_TABLES[_package(module)]}
    ]
    for module, imported in arrows:
        if _package(imported) == "mechanisms" and imported != FACTS_OF_MECHANISMS:
            known.append(f"{module} imports {imported}")
    assert known == []


def test_no_module_reaches_itself(graph):
    circles = []
    for module in _inner(graph):
        for imported in graph.find_modules_directly_imported_by(module):
            if imported.startswith(f"{PACKAGE}.") and graph.find_shortest_chain(imported, module):
                circles.append(f"{module} -> {imported}")
    assert sorted(circles) == []


def test_the_library_does_not_know_snakemake(graph):
    assert [name for name in graph.modules if name.partition(".")[0] == "snakemake"] == []


def test_the_picture_of_the_house_shows_these_floors(root):
    svg = "{http://www.w3.org/2000/svg}"
    tree = ElementTree.parse(root / "docs" / "architecture" / "floors.svg")
    groups = [group for group in tree.iter(f"{svg}g") if group.get("class") == "floor"]
    drawn = [
        {text.text for text in group.iter(f"{svg}text") if text.get("class") == "package"}
        for group in groups
    ]
    assert drawn[::-1] == list(FLOORS)
    heights = [float(group.find(f"{svg}rect").get("y")) for group in groups]
    assert heights == sorted(heights)


def test_the_page_on_architecture_tells_of_every_package_from_the_ground_up(root):
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = page.partition("## The packages")[2]
    floor = {name: level for level, names in enumerate(FLOORS) for name in names}
    levels = [
        floor[name]
        for line in told.splitlines()
        if line.startswith("**`")
        for name in line.split("**")[1].replace("`", "").split(", ")
    ]
    assert levels == sorted(floor.values())


def test_every_package_says_what_lives_in_it():
    for name in set().union(*FLOORS):
        file = HOUSE / name / "__init__.py"
        text = (file if file.exists() else HOUSE / f"{name}.py").read_text(encoding="utf-8")
        assert "import" in text.split('"""')[1].lower(), f"{name}: says nothing of what it imports"
