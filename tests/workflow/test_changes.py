"""The machinery of the tables of reruns finds who reruns too much or too little."""

import pytest

from . import changes

CASES = {
    "file: a.py": {"make"},
    "file: b.py": {"make"},
    "file: c.py": {"draw"},
    "file: d.py": set(),
    "file: e.py": set(),
    "value: x": {"make"},
    "value: y": {"make"},
    "value: z": set(),
    "act: nothing": set(),
}


class Rerun:
    """What changes rerun, by name; made at once, they rerun all that each of them does."""

    universe = {"make/1", "make/2", "draw/1"}

    def __init__(self, **differing):
        self.jobs = {name: changes.expand(jobs, self.universe) for name, jobs in CASES.items()}
        self.jobs |= {f"file: {name}.py": jobs for name, jobs in differing.items()}

    def rerun(self, *names):
        return set().union(*(self.jobs[name] for name in names))


def judged(changed, titles):
    for title in titles:
        changes.check(changed, CASES, changes.together(CASES)[title])


def test_changes_of_one_kind_and_of_the_same_jobs_are_judged_at_once():
    groups = changes.together(CASES)
    assert list(groups.values()) == [
        ["file: a.py", "file: b.py"],
        ["file: c.py"],
        ["file: d.py", "file: e.py"],
        ["value: x", "value: y"],
        ["value: z"],
        ["act: nothing"],
    ]
    assert list(groups)[:2] == ["file: a.py and 1 more", "file: c.py"]
    assert changes.group_company(CASES) == ["file: a.py", "file: b.py", "value: x", "value: y"]
    judged(Rerun(), groups)


@pytest.mark.parametrize(
    "differing",
    [
        {"b": {"make/1", "make/2", "draw/1"}},
        {"a": {"make/1"}, "b": {"make/1"}},
        {"c": set()},
        {"e": {"draw/1"}},
    ],
    ids=["too much", "two too little", "nothing", "not nothing"],  # sets are in no order
)
def test_who_reruns_otherwise_is_named(differing):
    with pytest.raises(AssertionError, match=rf"file: {min(differing)}\.py"):
        judged(Rerun(**differing), changes.together(CASES))


def test_an_edit_that_reruns_too_little_is_found_by_itself():
    changed = Rerun(b={"make/1"})
    judged(changed, changes.together(CASES))  # a.py covers for it
    with pytest.raises(AssertionError, match=r"file: b\.py"):
        for case in changes.group_company(CASES):
            changes.check(changed, CASES, [case])
