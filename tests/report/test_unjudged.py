"""What a run did not judge: every row without a verdict is counted, with its reason and remedy."""

import pandas as pd
import pytest
import yaml

from private_ensembles.report import unjudged

ROW = {"paper": "nzc", "kind": "number", "status": "weak", "note": ""}
MORE_RUNS = "snakemake --cores all --configfile config/scenarios/published.yaml"


def reasons_of(config, **row):
    """Why one comparison has no verdict."""
    (reasons,) = unjudged.list_reasons(pd.DataFrame([ROW | row]), {}, config).values()
    (reason,) = reasons
    return reason


def test_every_comparison_without_a_verdict_is_counted_once(root):
    fidelity = pd.read_csv(root / "docs/fidelity.csv", dtype=str, keep_default_na=False)
    found = unjudged.list_reasons(fidelity, {"pate": "PATE: private", "darrm": "DaRRM"}, None)
    assert list(found) == ["PATE", "DaRRM", "dpbag", "nzc"]
    counted = [(paper, reason) for paper, reasons in found.items() for reason in reasons]
    for status in ("weak", "not_comparable", "not_run"):
        of_status = sum(reason.count for _, reason in counted if reason.status == status)
        assert of_status == (fidelity["status"] == status).sum() > 0
    assert sum(reason.count for _, reason in counted) == sum(
        ~fidelity["status"].isin(["match", "explained", "bounded", "input", "differs"])
    )
    whys = [(paper, reason.status, reason.why) for paper, reason in counted]
    assert len(set(whys)) == len(whys)


@pytest.mark.parametrize(
    ("section", "command"),
    [
        ({"student_seeds": [0, 1]}, MORE_RUNS),
        ({"student_seeds": [0, 1, 2, 3, 4]}, ""),
        ({"student_seeds": list(range(9))}, ""),
        (None, MORE_RUNS),
    ],
)
def test_more_runs_are_named_where_docs_have_more(section, command):
    reason = reasons_of({"nzc": section})
    assert (reason.command, bool(reason.remedy)) == (command, bool(command))


def test_splits_count_as_runs_however_deep_their_list_is(root):
    published = yaml.safe_load((root / "config/scenarios/published.yaml").read_text("utf-8"))
    assert reasons_of(published, paper="dpbag").command == ""
    published["dpbag"]["boosted_trees"]["seeds"].pop()
    assert reasons_of(published, paper="dpbag").command == MORE_RUNS
    assert reasons_of(published, paper="pate").command == ""  # it has no more runs anywhere


def test_the_reason_is_a_note_s_first_sentence_and_names_its_command():
    needed = "needs mnist: run with --config data=paper"
    reason = reasons_of({}, status="not_run", note=f"{needed}. Table 1 prints 1.90. Also.")
    assert (reason.why, reason.command) == (needed, "snakemake --cores all --config data=paper")
    reason = reasons_of({}, status="not_run", note="files at data/raw/svhn, c = 1e1.5: none")
    assert (reason.why, reason.command) == ("files at data/raw/svhn, c = 1e1.5: none", "")


def test_one_split_shows_no_spread_and_more_of_them_do():
    note = "One split of the data: no spread of our own to judge by."
    for status in ("not_run", "not_comparable"):
        reason = reasons_of({}, paper="dpbag", status=status, note=note)
        assert (reason.remedy, reason.command) == ("More random runs show the spread", MORE_RUNS)
    assert reasons_of({}, paper="dpbag", status="not_run", note="Private.").command == ""


def test_a_weak_relation_says_that_no_effect_fits_as_well():
    assert "no effect" in reasons_of({}, kind="relation", note="Claimed 1").why
    assert "other results" in reasons_of({}, note="Within the tolerance").why


def test_without_the_published_scenario_there_is_no_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr(unjudged, "DEFAULTS", tmp_path / "config.yaml")
    assert reasons_of({}).remedy == ""
