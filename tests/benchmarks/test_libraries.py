"""Other packages on trial: a row for each, and a page that shows claims, findings and reasons."""

import pandas as pd
import pytest

from benchmarks import environments, libraries, run, selections
from benchmarks.environments import Skipped
from benchmarks.libraries import PACKAGES


def test_the_best_account_of_a_hundred_labels_is_of_the_labels():
    black_box, pure, by_range, labels = (row["exact"] for row in libraries.compare_compositions())
    assert black_box == pytest.approx(pure, abs=1e-3)
    assert labels < by_range < pure / 2


def test_every_package_is_pinned_at_the_version_that_its_row_says():
    for package in PACKAGES:
        pins = (environments.FOLDER / f"{package.pins}.txt").read_text(encoding="utf-8")
        assert f"{package.name}=={package.version}\n" in pins
        assert all("==" in line for line in pins.splitlines()[1:])
        assert environments.read_installation_note(package.pins)
        assert (environments.FOLDER / f"{package.script}.py").is_file()


def test_a_package_that_is_not_there_has_a_row_with_the_reason(monkeypatch):
    monkeypatch.setattr(environments, "run_script", lambda script, pins: Skipped("no network"))
    (row,) = libraries.run_trial(PACKAGES[0])
    assert (row["version"], row["verdict"], row["note"]) == ("0.16.0", "skipped", "no network")
    monkeypatch.setattr(environments, "run_script", lambda script, pins: {"version": "0.1"})
    (row,) = libraries.run_trial(PACKAGES[0])
    assert row["note"] == "version 0.1 was found"


def test_the_section_shows_claims_findings_and_reasons(monkeypatch):
    answer = {"version": "0.16.0", "selections": [], "ends": []}
    answer["ends"].append({"mechanism": "by hand", "counts": [50, 0, 0]})
    monkeypatch.setattr(environments, "run_script", lambda script, pins: answer)
    rows = libraries.run_trial(PACKAGES[0])
    monkeypatch.setattr(environments, "run_script", lambda script, pins: Skipped("no network"))
    rows += libraries.run_trial(PACKAGES[2])
    rows += [{"part": "another law"} | row for row in selections.list_other_law()]
    rows += [{"part": "composition"} | row for row in libraries.compare_compositions()]
    section = libraries.section(pd.DataFrame(rows))
    assert "| largest 50 times | differs |" in section
    assert "| diffprivlib 0.6.6 | no network |" in section
    assert "6.630" in section


def test_the_page_in_docs_names_what_the_numbers_say():
    """The numbers of the page for users are those of the table."""
    data = pd.read_csv(run.DOCS / "libraries.csv")
    page = (run.DOCS.parent / "libraries.md").read_text(encoding="utf-8")
    claims = data[data["part"] == "claim"]
    failing = set(claims[claims["verdict"] == "fails"]["library"])
    assert failing == {"llama-index-packs-diff-private-simple-dataset"}
    for package in PACKAGES:
        rows = data[(data["library"] == package.name) & (data["version"] == package.version)]
        assert len(rows)
        assert package.version in page
    (pack,) = claims[claims["library"] == "llama-index-packs-diff-private-simple-dataset"].to_dict(
        "records"
    )
    for value in (pack["claimed"], pack["lower"], pack["exact"]):
        assert f"{value:.2f}" in page
    assert all(data.loc[data["part"] == "skipped", "note"].notna())
