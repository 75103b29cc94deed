"""The section of one's own votes, and the keys that are typed in its place; its page has each."""

import copy
import re
from operator import attrgetter

import pytest

from private_ensembles.release.own_keys import SECTION_PATHS, request_of
from private_ensembles.run.check import (
    ConfigError,
    check,
    check_or_exit,
    fill_defaults,
)
from tests.run.shipped import DEFAULT

TYPED = {
    "votes": "votes.csv",
    "n_teachers": 5,
    "class_names": "no,yes",
    "absent_as": "x",
    "epsilon": 2,
    "shards": "disjoint",
    "adjacency": "add_remove",
    "teacher_epsilon": 0.5,
    "labels_wanted": 7,
}
SECTION = {
    "votes": "votes.csv",
    "ensemble": {"teachers": 5, "teacher_epsilon": 0.5},
    "budget": {"epsilon": 2},
    "protection": {"shards": "disjoint", "adjacency": "add_remove"},
    "wanted": {"labels": 7},
    "reading": {"class_names": "no,yes", "absent_as": "x"},
}


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("votes.csv", "w.session"):
        (tmp_path / name).touch()


def write_section(own):
    return fill_defaults({"own": own}, DEFAULT)


def test_what_is_typed_and_what_a_file_says_are_the_same():
    typed, stated = check(DEFAULT | TYPED).to_dict(), check(write_section(SECTION)).to_dict()
    assert repr(typed) == repr(stated)  # in the same order, too
    ensemble = typed["own"]["ensemble"]  # what follows from names, and from what is absent
    assert (ensemble["classes"], ensemble["absent"]) == (2, True)
    assert check(write_section(SECTION) | {"epsilon": 3}).own.budget.epsilon == 3


def test_a_request_has_what_is_asked_for_by_the_keys_that_are_typed():
    """The command asks by them, too: the same request is the same in both, and on the ledger."""
    asked = request_of(check(DEFAULT | TYPED).to_dict())
    assert asked["votes"].endswith("/votes.csv")
    given = {key: value for key, value in TYPED.items() if key != "votes"}
    assert {key: asked[key] for key in given} == given
    assert (asked["noise"], asked["seed"], asked["delta"]) == ("secure", 0, 1e-5)
    stated = {"adjacency": "add_remove", "teacher_epsilon": 0.5, "teacher_Delta": 0}
    assert asked["planner"] == DEFAULT["planner"] | stated


@pytest.mark.parametrize("part", [None, 3, [], "x"])
@pytest.mark.parametrize("given", [{}, {"epsilon": 2}])
def test_what_is_no_section_is_refused(part, given):
    for own in (part, DEFAULT["own"] | {"budget": part}):
        with pytest.raises(ConfigError, match=r"^own"):
            check(DEFAULT | {"own": own} | given)


MISTAKES = [
    ("epsilon", 0, "must be a number >= 1e-06"),
    ("reach", 0, "must be an integer >= 1"),
    ("adjacency", "both", "must be one of add_remove, replace_one"),
    ("n_teachers", None, "must be the number of teachers, as in --config n_teachers=25"),
    ("shards", None, "must be stated for a release"),
    ("batch", "march", "must be null, as no session is given"),
    ("answer", "last", "must be first, random or an existing file"),
    ("votes", "gone.csv", "must be an existing file"),
    ("class_names", "a,b,a", "must be right: 'a' comes twice"),
    ("already_spent", [1, -1], "must be a number >= 0"),
]


@pytest.mark.parametrize(("key", "value", "says"), MISTAKES)
def test_a_mistake_bears_the_name_that_was_written(key, value, says):
    shown = r"(\[1\])? = .*: "
    with pytest.raises(ConfigError, match=f"^{key}{shown}{says}"):
        check(write_section(SECTION) | {key: value})
    section, _, name = SECTION_PATHS[key].rpartition(".")
    own = copy.deepcopy(fill_defaults(SECTION, DEFAULT["own"]))
    (own[section] if section else own)[name] = value
    place = SECTION_PATHS[key].replace(".", r"\.")
    with pytest.raises(ConfigError, match=rf"^own\.{place}{shown}{says}"):
        check(DEFAULT | {"own": own})


@pytest.mark.parametrize(
    ("sources", "epsilon"),
    [
        ([{"own": {"budget": {"epsilon": 2}}}, {"epsilon": 3}], 3),
        ([{"epsilon": 3}], 3),
        ([{"epsilon": 3}, {"own": {"budget": {"epsilon": 2}}}], None),
        ([{"epsilon": 3, "own": {"budget": {"epsilon": 2}}}], None),
    ],
)
def test_what_is_typed_goes_before_a_file_and_never_against_a_later_word(sources, epsilon, capsys):
    config = DEFAULT
    for source in sources:
        config = fill_defaults(source, config)
    named = [("config.yaml", DEFAULT), *((f"{at}.yaml", one) for at, one in enumerate(sources))]
    if epsilon is not None:
        assert check_or_exit(config, [], named).own.budget.epsilon == epsilon
        return
    with pytest.raises(SystemExit):
        check_or_exit(config, [], named)
    (line,) = capsys.readouterr().err.splitlines()
    last = len(sources) - 1
    says = f"epsilon: must be left out: it is own.budget.epsilon, which {last}.yaml states, too"
    assert line == f"error: 0.yaml: {says}"


def test_a_key_that_is_typed_wrong_may_have_been_another_one():
    with pytest.raises(ConfigError, match=r"^epsilom: unknown key; did you mean epsilon\?"):
        check(DEFAULT | {"epsilom": 2})
    with pytest.raises(ConfigError, match=r"^own\.budget\.epsilom: .* mean own\.budget\.epsilon\?"):
        check(write_section({"budget": {"epsilom": 2}}))


@pytest.mark.parametrize(("key", "value"), [("adjacency", "add_remove"), ("teacher_epsilon", 0.5)])
def test_what_the_planner_assumes_is_not_taken_for_what_own_votes_state(key, value):
    """Version 0.3 took it from there."""
    stated = {"votes": "votes.csv", "n_teachers": 5, "n_classes": 3, "shards": "disjoint"}
    config = DEFAULT | {"planner": DEFAULT["planner"] | {key: value}}
    assert attrgetter(f"planner.{key}")(check(config)) == value
    with pytest.raises(ConfigError, match=rf"^planner\.{key} = .* \(own\.{SECTION_PATHS[key]}\)$"):
        check(config | stated)
    assert check(config | stated | {key: value}).own.votes.endswith("/votes.csv")
    batch = {"votes": "votes.csv", "session": "w.session", "batch": "march"}
    assert check(config | batch).own.session.batch == "march"  # the session states its own


def test_every_key_of_the_section_can_be_typed_and_nothing_else_is_called_so():
    own = DEFAULT["own"]
    leaves = {
        f"{part}.{key}" if isinstance(keys, dict) else part
        for part, keys in own.items()
        for key in (keys if isinstance(keys, dict) else [None])
    }
    assert sorted(SECTION_PATHS.values()) == sorted(leaves)
    assert not SECTION_PATHS.keys() & DEFAULT.keys()


def test_the_page_on_own_votes_names_every_key_that_is_typed_otherwise(root):
    """All others are typed as config.yaml has them."""
    page = (root / "docs/own-votes.md").read_text(encoding="utf-8")
    sentence = page.partition("have other names there:")[2].partition(". ")[0]
    otherwise = {key for key, path in SECTION_PATHS.items() if key != path.rpartition(".")[2]}
    assert set(re.findall(r"`(\w+)`", sentence)) - {"file"} == otherwise
