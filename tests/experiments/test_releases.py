"""Releases: recorded whole, added up, and made once unless somebody says again."""

import csv
from fractions import Fraction
from types import SimpleNamespace

import pytest

from private_ensembles.experiments import releases
from private_ensembles.experiments.releases import Release, Total, append, read, together

MODEL = ("disjoint_shards", "replace_one")
ONE = Release("2026-01-01T00:00:00+00:00", "gnmax", 0.1, 1e-5, *MODEL, "a")
TWO = Release("2026-01-02T00:00:00+00:00", "ladder", 0.2, 1e-6, *MODEL, "b")
CONFIG = {
    "noise": "secure",
    "epsilon": 1.0,
    "delta": 1e-5,
    "again": False,
    "planner": {"adjacency": "replace_one"},
}


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
            "labels_sha256",
        ]


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "", "\0", "\xff"])
def test_a_record_that_cannot_be_read_allows_nothing(path, text):
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match="releases") as caught:
        releases.permission(CONFIG | {"again": True}, path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change", [("0.1", "-0.1"), ("0.1", "nan"), ("0.1", "inf"), ("1e-05", "2"), (",a\n", "\n")]
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


def test_a_second_release_is_refused_until_it_is_allowed(path):
    assert releases.permission(CONFIG, path) is None
    append(ONE, path)
    with pytest.raises(ValueError, match=r"may cost epsilon = 1\.1 and .* --config again=yes$"):
        releases.permission(CONFIG, path)
    text = releases.permission(CONFIG | {"again": True}, path)
    assert text == (
        "Releasing again. With the 1 release before: at most epsilon = 1.1 and delta = 2e-05 "
        "(replace_one) together."
    )


def test_a_rehearsal_may_be_repeated(path):
    append(ONE, path)
    assert releases.permission(CONFIG | {"noise": "reproducible"}, path) is None


def test_snakemake_stops_before_it_removes_anything(path, monkeypatch, capsys):
    monkeypatch.setattr(releases, "permission", lambda config: _refuse())
    others = [SimpleNamespace(rule=SimpleNamespace(name="all"))]
    releases.permission_or_exit(others, CONFIG)
    jobs = [*others, SimpleNamespace(rule=SimpleNamespace(name="apply_votes"))]
    with pytest.raises(SystemExit) as caught:
        releases.permission_or_exit(jobs, CONFIG)
    assert caught.value.code == 1
    assert capsys.readouterr().err == "error: not again\n"


def _refuse():
    raise ValueError("not\nagain")


def test_a_release_names_its_file_by_its_hash(tmp_path):
    (tmp_path / "labels.csv").write_bytes(b"x")
    row = {"mechanism": "m", "epsilon": 1, "delta": 1e-5}
    row |= {"privacy_model": "disjoint_shards", "adjacency": "add_remove", "answers": 3}
    found = releases.release_of(row, tmp_path / "labels.csv")
    assert found.labels_sha256.startswith("2d711642b726b044")
    assert found.time.endswith("+00:00")
    assert (found.mechanism, found.epsilon, found.adjacency) == ("m", 1.0, "add_remove")
