"""The house has floors: a room imports from those below its own only, and nothing in a circle.

grimp reads every import statement, those inside functions included: a late import hides no arrow.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import grimp
import pytest

import private_ensembles
from private_ensembles.labels import registry
from private_ensembles.papers.all import ALL

PACKAGE = "private_ensembles"
HOUSE = Path(__file__).resolve().parents[1] / "workflow" / PACKAGE
# What `python -m private_ensembles` runs: it hands over to `command` and stands on no floor.
DOORSTEP = f"{PACKAGE}.__main__"
# From the ground up (CONTRIBUTING.md); rooms of one floor do not know each other. Apart from
# them lies `verify`, which is no package and imports nothing of ours.
FLOORS = (
    {"base"},
    {"accounting"},
    {"audit", "training"},
    {"labels"},
    {"papers"},
    {"release"},
    {"run"},
    {"report", "command"},
)
# What each room imports. An arrow more is a decision.
ARROWS = {
    "base": set(),
    "accounting": {"base"},
    "audit": {"base", "accounting"},
    "training": {"base", "accounting"},
    "labels": {"base", "accounting", "audit"},
    "papers": {"base", "accounting", "audit", "training", "labels"},
    "release": {"base", "accounting", "audit", "labels", "papers"},
    "run": {"base", "training", "labels", "papers", "release"},
    "report": {"base", "labels", "papers", "run"},
    "command": {"base", "audit", "labels", "papers", "release", "run"},
}
# Parts of `papers`, and which others they know. `all` names papers, and knows nothing of them.
PARTS = {
    "all": set(),
    "common": set(),
    "compare": {"all", "common"},
    "ledger": {"common", "darrm", "dpbag", "nzc", "pate"},
}
PARTS |= {paper.name: {"common", "compare"} for paper in ALL}
PARTS["pate"] |= {"dpbag"}
PARTS["nzc"] |= {"pate"}
# What lays out results sees tables; how they were computed, and from what, is not its business.
# Of mechanisms it knows the facts that it shows: the order, the labels and the looks.
SEES_TABLES = (
    "labels.display_names",
    "labels.registry",
    "labels.assumed_profile",
    "papers.common.style",
)
SEES_TABLES += ("papers.all", "papers.common.findings", "papers.compare")


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph(PACKAGE, include_external_packages=True)


def _room(module: str) -> str:
    return module.split(".")[1]


def _inner(graph) -> list[str]:
    names = (name for name in graph.modules if name.startswith(f"{PACKAGE}."))
    return sorted(name for name in names if name != DOORSTEP)


def _arrows(graph):
    for module in _inner(graph):
        for imported in sorted(graph.find_modules_directly_imported_by(module)):
            if imported.startswith(f"{PACKAGE}."):
                yield module, imported


def test_every_room_has_a_floor_and_no_module_stands_outside(graph):
    assert {_room(name) for name in _inner(graph)} == set().union(*FLOORS) == set(ARROWS)
    loose = {path.name for path in HOUSE.iterdir() if path.is_file()}
    assert loose == {"__init__.py", "__main__.py", "py.typed"}


def test_no_arrow_points_up():
    floor = {name: level for level, names in enumerate(FLOORS) for name in names}
    up = [(room, at) for room, known in ARROWS.items() for at in known if floor[at] >= floor[room]]
    assert up == []


def test_a_room_imports_what_its_line_says(graph):
    found = {room: set() for room in ARROWS}
    for module, imported in _arrows(graph):
        found[_room(module)] |= {_room(imported)} - {_room(module)}
    assert found == ARROWS


def test_a_paper_imports_of_others_what_its_line_says(graph):
    inside = f"{PACKAGE}.papers."
    found = {part: set() for part in PARTS}
    for arrow in _arrows(graph):
        if all(end.startswith(inside) for end in arrow):
            start, to = (end.removeprefix(inside).split(".")[0] for end in arrow)
            found[start] |= {to} - {start}
    assert found == PARTS


def test_the_doorstep_leads_to_the_command_and_nowhere_else(graph):
    found = graph.find_modules_directly_imported_by(DOORSTEP)
    assert {name for name in found if name.startswith(f"{PACKAGE}.")} == {f"{PACKAGE}.command.main"}


def test_figures_and_the_page_know_tables_and_not_how_they_were_computed(graph):
    known = [
        f"{module} imports {imported}"
        for module, imported in _arrows(graph)
        if (_room(module) == "report" or module.endswith(("figures", "findings")))
        and _room(imported) in ("labels", "papers")
        and not imported.removeprefix(f"{PACKAGE}.").startswith(SEES_TABLES)
    ]
    assert known == []


def test_what_the_registry_names_is_a_law_an_account_or_a_check(graph):
    laws = re.compile(r"labels\.laws\.\w+|papers\.\w+\.(law|committee_law|majority)")
    accounts = re.compile(r"labels\.accounts\.\w+|papers\.\w+\.accounts?")
    for entry in registry.ENTRIES:
        for where, named in ((laws, entry.law), (accounts, entry.account), (laws, entry.check)):
            module = named.rpartition(".")[0]
            assert not named or (where.fullmatch(module) and f"{PACKAGE}.{module}" in graph.modules)


def test_no_module_reaches_itself(graph):
    circles = []
    for module in _inner(graph):
        for imported in graph.find_modules_directly_imported_by(module):
            if imported.startswith(f"{PACKAGE}.") and graph.find_shortest_chain(imported, module):
                circles.append(f"{module} -> {imported}")
    assert sorted(circles) == []


def test_the_library_does_not_know_snakemake(graph):
    assert [name for name in graph.modules if name.partition(".")[0] == "snakemake"] == []


@pytest.mark.docs
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


@pytest.mark.docs
def test_the_table_of_rooms_has_every_room_from_the_ground_up(root):
    page = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.partition("### The rooms")[2].partition("###")[0]
    floor = {name: level for level, names in enumerate(FLOORS) for name in names}
    levels = [floor[name] for name in re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)]
    assert levels == sorted(floor.values())


def test_every_room_says_what_lives_in_it():
    for name in set().union(*FLOORS):
        text = (HOUSE / name / "__init__.py").read_text(encoding="utf-8")
        assert "import" in text.split('"""')[1].lower(), f"{name}: says nothing of what it imports"


def test_no_module_needs_what_no_extra_brings(graph):
    """Every import of another project's module is of the core, or `EXTRAS` says where it is."""
    outside = {name for name in graph.modules if not name.startswith(PACKAGE)}
    outside -= set(sys.stdlib_module_names)
    assert outside == {"numpy", "scipy", "pandas", "highspy", "opendp", "threadpoolctl"} | (
        set(private_ensembles.EXTRAS)
    )
