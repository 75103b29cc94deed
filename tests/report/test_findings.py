"""Findings: numbers come from the run's tables, claims about them are checked."""

import pytest
import yaml

from private_ensembles.report import findings, page

ENTRY = {
    "paper": "darrm",
    "title": "A title",
    "text": "{small} is below {large}, {share} of it, in {rows} rows",
    "docs": "docs/privacy.md",
    "values": {
        "small": {"table": "darrm/tables/t", "where": {"dataset": ["mnist", "digits"]},
                  "column": "a"},
        "large": {"table": "darrm/tables/t", "where": {"dataset": "digits"}, "column": "b",
                  "take": "max"},
        "share": {"table": "darrm/tables/t", "column": "a / b", "take": "min", "digits": 2},
        "rows": {"table": "darrm/tables/t", "column": "a", "take": "count"},
    },
    "holds": ["small < large", "rows == 2"],
    "without": "Not computed here",
}  # fmt: skip
TABLE = "dataset,a,b\ndigits,1.23456,4\ndigits,2,6\n"


def read(tmp_path, entry, table=TABLE):
    (tmp_path / "darrm" / "tables").mkdir(parents=True, exist_ok=True)
    if table is not None:
        (tmp_path / "darrm" / "tables" / "t.csv").write_text(table, encoding="utf-8")
    path = tmp_path / "findings.yaml"
    path.write_text(yaml.safe_dump([entry]), encoding="utf-8")
    return findings.read_findings(path, tmp_path)[0]


def test_numbers_of_a_finding_are_those_of_the_run(tmp_path):
    found = read(tmp_path, ENTRY)
    assert found.text == "1.23 is below 6, 0.31 of it, in 2 rows"
    assert found.state == "holds"


def test_a_run_that_contradicts_a_finding_says_so(tmp_path):
    found = read(tmp_path, ENTRY | {"holds": ["large < small"]})
    assert found.state == "refuted"


@pytest.mark.parametrize("table", [None, "dataset,a,b\nother,1,2\n", "dataset,b\ndigits,2\n"])
def test_without_its_numbers_a_finding_is_marked_as_not_run(tmp_path, table):
    found = read(tmp_path, ENTRY, table)
    assert (found.text, found.state) == ("Not computed here", "not run")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "missing or unknown: colour"),
        ({"text": "{nothing}"}, "no value 'nothing'"),
        ({"holds": ["small is small"]}, "must be 'value < value or number'"),
        (
            {"values": {"small": {"table": "t", "rows": 1}}},
            "small: missing or unknown: column",
        ),
    ],
)
def test_a_finding_that_cannot_be_read_is_named(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, ENTRY | change)


def test_every_finding_of_the_page_can_be_read_and_its_documents_exist(root, tmp_path):
    path = page.ASSETS / "findings.yaml"
    found = findings.read_findings(path, tmp_path)
    assert {finding.state for finding in found} == {"not run"}
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
        assert "{" not in entry.get("without", "")
        if entry["paper"] == "darrm":
            assert (root / entry["docs"].partition("#")[0]).is_file(), entry["docs"]


def test_findings_of_a_paper_put_those_with_numbers_first():
    made = [findings.Finding("nzc", str(i), "", "", s) for i, s in enumerate(("not run", "holds"))]
    assert [finding.title for finding in findings.of_paper(made, "nzc")] == ["1", "0"]
    assert findings.of_paper(made, "pate") == []
