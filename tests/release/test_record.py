"""The record of releases: whole or refused, on the disk before it counts, added up."""

import csv
import hashlib
import json
import os
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import pytest

from private_ensembles.mechanisms.laws.gamma import NoisyMajority
from private_ensembles.mechanisms.laws.gaussian import GaussianNoise
from private_ensembles.mechanisms.task import Budget, Ensemble, Protection, Task, Wanted
from private_ensembles.planner.ranking import Plan
from private_ensembles.release import record, release_plan
from private_ensembles.release.record import Release, Total, append, read, together

MODEL = ("disjoint_shards", "replace_one")
NOTED = '{"task": {"reach": 1}}', 3, "0001/labels.csv"
ONE = Release("2026-01-01T00:00:00+00:00", "gnmax", 0.1, 1e-5, *MODEL, "a", *NOTED)
TWO = Release("2026-01-02T00:00:00+00:00", "ladder", 0.2, 1e-6, *MODEL, "b", *NOTED)


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "release"
    folder.mkdir(mode=0o755)
    return folder / "releases.csv"


def test_what_was_appended_is_read_back(path):
    assert read(path) == []
    append(ONE, path)
    append(TWO, path)
    assert read(path) == [ONE, TWO]
    assert [one.name for one in path.parent.iterdir()] == ["releases.csv"]
    assert path.stat().st_mode & 0o777 == 0o644  # as its folder
    with open(path) as file:
        assert next(csv.reader(file)) == [
            *("time", "mechanism", "epsilon", "delta", "privacy_model", "adjacency"),
            *("labels_sha256", "terms", "labels", "file"),
        ]


HEADER = ",".join(field.name for field in fields(Release)) + "\n"


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "", "\0", "\xff", HEADER])
def test_a_record_that_cannot_be_read_or_holds_no_release_is_refused(path, text):
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"releases\.csv: ") as caught:
        read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("there", [False, True])
def test_a_record_that_is_a_link_is_refused(path, there):
    """An addition would replace the link; what it leads to, if anything, would not be charged."""
    other = path.with_name("elsewhere.csv")
    if there:
        append(ONE, other)
    path.symlink_to(other)
    for use in (read, lambda place: append(TWO, place)):
        with pytest.raises(ValueError, match=r"releases\.csv: is a link to .*elsewhere\.csv: must"):
            use(path)
    assert path.is_symlink()
    assert other.exists() == there


def test_a_record_is_written_apart_and_the_disk_has_it_before_anybody_sees_the_labels(
    path, tmp_path, monkeypatch, stand_in
):
    """What is written tells the hash of labels that are not charged yet."""
    events, workshop = [], tmp_path / "private"
    workshop.mkdir()
    replace, synced = os.replace, record.synced

    def watched(source, target):
        assert {one.name for one in path.parent.iterdir()} <= {"releases.csv"}
        events.append(("replace", Path(source).parent))
        replace(source, target)

    stand_in(record, "os", replace=watched)
    monkeypatch.setattr(
        record, "synced", lambda place: (events.append(("sync", Path(place).name)), synced(place))
    )
    append(ONE, path, workshop=workshop)
    assert events == [("sync", ".releases.part.csv"), ("replace", workshop), ("sync", "release")]
    assert list(workshop.iterdir()) == []
    assert path.stat().st_mode & 0o777 == 0o644
    assert path.stat().st_mtime_ns % 10**9 == 0  # how long the draw took is nobody's business


@pytest.mark.parametrize(
    "change",
    [
        *(("0.1", "-0.1"), ("0.1", "nan"), ("0.1", "inf"), ("1e-05", "2")),
        *((",3,0001/labels.csv", ",3"), (",3,", ",,"), ("reach", "rich")),
    ],
)
def test_a_row_that_is_no_release_is_named(path, change):
    append(ONE, path)
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(ValueError, match=r"line 2 is not a release: restore the file"):
        read(path)


def test_costs_add_up_and_are_rounded_up():
    total = together([ONE, TWO])
    assert total.adjacency == "replace_one"
    assert Fraction(total.epsilon) >= Fraction(0.1) + Fraction(0.2)
    assert total.epsilon == pytest.approx(0.3, rel=1e-15)
    assert Fraction(total.delta) >= Fraction(1e-5) + Fraction(1e-6)
    assert str(total) == "epsilon = 0.30001 and delta = 1.1001e-05 (replace_one)"
    assert together([Total(1, 0.7, "add_remove")] * 2) == Total(2, 1.0, "add_remove")


def test_releases_for_two_adjacencies_are_added_up_for_the_wider_one():
    total = together([ONE, Total(0.5, 1e-5, "add_remove")])
    assert total.adjacency == "replace_one"
    assert total.epsilon == pytest.approx(1.1)  # two steps of add_remove for one replaced
    assert total.delta >= 1e-5 + (1 + 2.718281828**0.5) * 1e-5


def test_releases_of_different_reach_add_up_for_the_least_that_all_of_them_cover():
    wide = replace(ONE, terms=json.dumps({"task": {"reach": 2}}))
    assert (ONE.reach, wide.reach) == (1, 2)
    both = together([wide, wide])
    assert (both.reach, both.mixed) == (2, False)
    assert str(both).endswith("(replace_one)")
    mixed = together([wide, TWO])
    assert (mixed.reach, mixed.mixed) == (1, True)
    assert str(mixed).endswith("(replace_one; for a unit with reach 1, the least stated)")
    assert together([mixed, ONE]).mixed
    assert mixed.epsilon == together([ONE, TWO]).epsilon


def test_a_release_names_its_file_by_its_hash(tmp_path):
    (tmp_path / "labels.csv").write_bytes(b"query,label\n0,1\n1,0\n")
    row = {"mechanism": "m", "epsilon": 1, "delta": 1e-5}
    row |= {"privacy_model": "disjoint_shards", "adjacency": "add_remove", "answers": 3}
    row |= {"terms": "{}"}
    found = record.release_of(row, tmp_path / "labels.csv", 3)
    digest = hashlib.sha256((tmp_path / "labels.csv").read_bytes()).hexdigest()
    assert found.labels_sha256 == digest
    assert found.time.endswith("+00:00")
    assert (found.mechanism, found.epsilon, found.adjacency) == ("m", 1.0, "add_remove")
    assert (found.labels, found.file) == (2, "0003/labels.csv")


def of_labels(number, sigma=35.0, labels=100, delta=1e-6):
    sizes = {"queries": labels, "labels": labels, "n_teachers": 250, "n_classes": 2}
    task = Task.read({"epsilon": 1.0, "delta": delta, **sizes, "secure": True})
    chosen = Plan("gnmax_exact", None, GaussianNoise(sigma, labels), 1.0, labels, labels, 0.0)
    terms = release_plan.of(task, chosen, None).text()
    file = f"{number:04}/labels.csv"
    return Release(f"{number}", "gnmax_exact", 1.0, delta, *MODEL, "a", terms, labels, file)


def test_releases_of_the_same_noise_cost_what_all_their_labels_do():
    twelve = [of_labels(number) for number in range(12)]
    apart, joint = together(twelve), record.jointly(twelve)
    assert apart == Total(12.0, pytest.approx(1.2e-5), "replace_one")
    assert joint.delta == apart.delta
    family = release_plan.read(twelve[0].terms)
    assert joint.epsilon == family.epsilon(1200, 1200, joint.delta)
    assert joint.epsilon < 5


@pytest.mark.parametrize(
    "other",
    [of_labels(2, sigma=36.0), ONE, TWO],
    ids=["other noise", "of a plan that cannot be read", "another mechanism"],
)
def test_others_are_added_to_releases_of_the_same_noise(other):
    two = [of_labels(0), of_labels(1)]
    both = record.jointly(two)
    assert both.epsilon < 2
    all_three = record.jointly([*two, other])
    assert all_three == together([both, other])


def test_teachers_whose_labels_have_no_noise_of_their_own_are_added_up():
    plan = release_plan.read(
        release_plan.of(
            Task(
                Ensemble(11, 2, private=Budget(0.2, 0.0)),
                Budget(3.0, 1e-5),
                Wanted(1),
                protection=Protection.shared(adjacency="add_remove"),
            ),
            Plan("darrm_sub", None, NoisyMajority(3.0, 1, 11, 1e-5, 0.2, 0.0), 0.6, 1, 1, 0.0),
            None,
        ).text()
    )
    assert not plan.fresh
    model, noted = ("shared_data", "add_remove"), (plan.text(), 1, "0001/labels.csv")
    one = Release("0", "darrm_sub", 0.6, 1e-5, *model, "a", *noted)
    assert record.jointly([one, one]) is None
