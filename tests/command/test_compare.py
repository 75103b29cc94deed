"""compare says in words, in JSON and by its status what two runs have in common."""

import json
import shutil

import pytest

from private_ensembles.command.main import main

FIDELITY = """\
paper,item,dataset,row,column,published,reproduced,status
darrm,table1,digits,m=3,accuracy,0.9,{},{}
"""
TABLE = "m,epsilon,label\n1,0.1,3\n3,{},5\n"


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two runs that are the same, `mine` and `theirs`."""
    monkeypatch.chdir(tmp_path)
    tables = tmp_path / "mine" / "results" / "darrm" / "tables"
    tables.mkdir(parents=True)
    (tables / "table1.csv").write_text(TABLE.format(0.3))
    (tables.parents[1] / "fidelity.csv").write_text(FIDELITY.format(0.9, "match"))
    (tables.parents[1] / "benchmarks").mkdir()
    (tables.parents[1] / "benchmarks" / "times.csv").write_text("seconds\n1\n")
    shutil.copytree(tmp_path / "mine", tmp_path / "theirs")
    (tmp_path / "theirs/results/benchmarks/times.csv").write_text("seconds\n2\n")
    return tmp_path / "mine" / "results", tmp_path / "theirs" / "results"


def said(capsys, *more, status):
    assert main(["compare", "mine", "theirs", *more]) == status
    return capsys.readouterr().out.splitlines()


def test_runs_that_are_equal_but_for_times(runs, capsys):
    assert said(capsys, status=0) == [
        "2 tables in both: 2 equal bit for bit, 0 up to rounding, 0 different",
        "the same",
    ]
    found = json.loads("\n".join(said(capsys, "--json", status=0)))
    assert found["same"] is True
    assert {table["kind"] for table in found["tables"].values()} == {"equal"}


def test_rounding_is_shown_and_is_the_same_up_to_the_tolerance(runs, capsys):
    (runs[1] / "darrm/tables/table1.csv").write_text(TABLE.format(0.30000000000000004))
    assert said(capsys, status=0) == [
        "2 tables in both: 1 equal bit for bit, 1 up to rounding, 0 different",
        "rounding in 1 cell, 2.2e-16 at most: darrm/table1.csv, row 2, epsilon: "
        "0.3 and 0.30000000000000004",
        "the same within 1e-12, relative",
    ]
    lines = said(capsys, "--tolerance", "0", status=1)
    assert lines[-1] == "not the same (tolerance 0, relative)"
    assert lines[1].startswith("different: darrm/table1.csv, 1 cell, 2.2e-16 at most: row 2, eps")


def test_a_number_and_a_status_that_changed(runs, capsys):
    (runs[1] / "fidelity.csv").write_text(FIDELITY.format(0.8, "differs"))
    assert said(capsys, status=1)[1:] == [
        "different: fidelity.csv, 2 cells, inf at most: row 1, status: match and differs",
        "status of darrm table1 digits m=3 accuracy: match, then differs",
        "not the same (tolerance 1e-12, relative)",
    ]
    found = json.loads("\n".join(said(capsys, "--json", status=1)))
    number = "darrm table1 digits m=3 accuracy"
    assert found["statuses"] == [{"number": number, "first": "match", "second": "differs"}]
    assert found["tables"]["fidelity.csv"]["largest"] == "inf"


def record_of(results, sets, path="darrm/tables/table1.csv"):
    """Write the record of a table that only its processor sets apart."""
    file = results / "provenance" / f"{path}.json"
    file.parent.mkdir(parents=True)
    names = ("rule", "seed", "python", "device")
    record = dict.fromkeys(names) | {"params": {"code": "abc"}, "machine": "Linux x86_64"}
    record |= {"wildcards": {}, "inputs": {}, "versions": {}, "portable": False}
    file.write_text(json.dumps(record | {"processor": "EPYC", "instruction_sets": sets}))


def test_a_difference_that_another_processor_explains(runs, capsys):
    (runs[1] / "darrm/tables/table1.csv").write_text(TABLE.format(0.3001))
    record_of(runs[0], {"NumPy": "X86_V4", "PyTorch": "AVX2"})
    record_of(runs[1], {"NumPy": "X86_V3", "PyTorch": "AVX2"})
    assert said(capsys, status=1) == [
        "2 tables in both: 1 equal bit for bit, 0 up to rounding, 1 by another processor, "
        "0 different",
        "processors: EPYC, NumPy X86_V4 and EPYC, NumPy X86_V3",
        "other processor: darrm/table1.csv, 1 cell, 0.00033 at most: row 2, epsilon: "
        "0.3 and 0.3001",
        "the same but for another processor (tolerance 1e-12, relative)",
    ]
    found = json.loads("\n".join(said(capsys, "--json", status=1)))
    assert found["tables"]["darrm/table1.csv"]["kind"] == "other processor"
    assert [used["sets"]["NumPy"] for used in found["processors"]] == ["X86_V4", "X86_V3"]


def test_a_processor_hides_no_other_difference(runs, capsys):
    """The ledger has no record, so nobody knows why it differs."""
    for results, epsilon in zip(runs, (1, 2), strict=True):
        (results / "privacy_ledger.csv").write_text(f"epsilon\n{epsilon}\n")
        record_of(results, {"NumPy": f"X86_V{epsilon}"})
    (runs[1] / "darrm/tables/table1.csv").write_text(TABLE.format(0.3001))
    lines = said(capsys, status=1)
    assert lines[0].endswith("1 by another processor, 1 different")
    assert lines[-1] == "not the same (tolerance 1e-12, relative)"


def test_tables_of_one_run_alone_count_unless_only_common_ones_are_asked_for(runs, capsys):
    (runs[0] / "privacy_ledger.csv").write_text("epsilon\n1\n")
    lines = said(capsys, status=1)
    assert lines[1:] == [
        "only in mine: privacy_ledger.csv",
        "not the same (tolerance 1e-12, relative)",
    ]
    assert said(capsys, "--common", status=0)[-1] == "the same"


def test_many_changed_statuses_are_cut_short(runs, capsys):
    row = "darrm,table1,digits,m={},accuracy,0.9,0.9,{}\n"
    for results, status in zip(runs, ("match", "weak"), strict=True):
        rows = "".join(row.format(m, status) for m in range(23))
        (results / "fidelity.csv").write_text(FIDELITY.splitlines()[0] + "\n" + rows)
    lines = said(capsys, status=1)
    assert sum(line.startswith("status of ") for line in lines) == 20
    assert lines[-2] == "and 3 more statuses (--json lists all)"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mine", "nowhere"], "error: nowhere: holds no table of a run (*.csv)\n"),
        (["mine", "apart"], "error: mine and apart: have no table in common\n"),
        (
            ["mine", "theirs", "--tolerance", "2"],
            "error: --tolerance = 2.0: must be in [0, 1)\n",
        ),
    ],
)
def test_what_cannot_be_compared_is_one_line(runs, capsys, tmp_path, words, message):
    (tmp_path / "apart").mkdir()
    (tmp_path / "apart" / "table.csv").write_text("K\n")
    assert main(["compare", *words]) == 2
    assert capsys.readouterr().err == message
