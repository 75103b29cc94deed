"""Two runs: the same bytes, rounding, or something else, and where."""

import math

import pytest

from private_ensembles.run import comparison
from private_ensembles.run.comparison import compare, relative_difference

HEAD = "K,gamma,note\n"


@pytest.fixture
def pair(tmp_path):
    """Write two files of a table, and compare them with a tolerance of 1e-12."""

    def write(one, other, tolerance=1e-12):
        for name, text in (("one.csv", one), ("other.csv", other)):
            (tmp_path / name).write_bytes(text.encode())
        return compare(tmp_path / "one.csv", tmp_path / "other.csv", tolerance)

    return write


@pytest.mark.parametrize(
    ("one", "other", "largest"),
    [
        ("0.1", "0.10000000000000002", 1.4e-16),
        ("-3", "3", 2.0),
        ("1e308", "-1e308", 2.0),
        ("5e-324", "1e-323", 0.5),
        ("0", "1e-300", 1.0),  # nothing is near zero in itself: a delta may be as small
        ("epsilon = 2, K=11", "epsilon = 2.0, K=11", 0.0),
        ("epsilon = 2, K=11", "epsilon = 2, K=12", 1 / 12),
        ("epsilon = 2", "epsilon is 2", math.inf),
        ("1;2", "1;2;3", math.inf),
        ("", "0", math.inf),
        ("nan", "0", math.inf),
        ("inf", "1e400", math.inf),  # 1e400 is no number of a float, and not the word either
        ("1e400", "1", math.inf),
        ("True", "False", math.inf),
    ],
)
def test_cells_differ_by_their_numbers_or_altogether(one, other, largest):
    assert relative_difference(one, other) == pytest.approx(largest, rel=0.05)
    assert relative_difference(other, one) == relative_difference(one, other)
    assert relative_difference(one, one) == relative_difference(other, other) == 0


def test_equal_bytes_are_equal_and_other_digits_are_rounding_up_to_the_tolerance(pair):
    text = HEAD + "11,0.5,fits\n13,0.25,fits\n"
    assert pair(text, text) == comparison.Comparison("equal")
    found = pair(text, text.replace("0.25", "0.25000000000000011").replace("0.5", "0.50"))
    assert (found.kind, found.cells) == ("rounding", 2)
    assert found.largest == pytest.approx(4.4e-16, rel=0.01)
    assert found.where == "row 2, gamma: 0.25 and 0.25000000000000011"
    found = pair(text, text.replace("0.25", "0.2501"), tolerance=3.9e-4)
    assert found.kind == "differs"
    assert pair(text, text.replace("0.25", "0.2501"), tolerance=4e-4).kind == "rounding"


def test_another_line_end_is_not_equal_bit_for_bit(pair):
    found = pair(HEAD + "1,2,3\n", HEAD.replace("\n", "\r\n") + "1,2,3\r\n")
    assert (found.kind, found.cells, found.largest) == ("rounding", 0, 0.0)


def test_the_worst_cell_is_shown_and_text_is_worse_than_any_number(pair):
    found = pair(HEAD + "11,0.5,fits\n13,0.2,-\n", HEAD + "11,0.6,fails\n13,0.9,-\n")
    assert (found.kind, found.cells, found.largest) == ("differs", 3, math.inf)
    assert found.where == "row 1, note: fits and fails"


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [
        (HEAD + "1,2,3\n", HEAD, "1 and 0 rows"),
        (HEAD + "1,2,3\n", HEAD + "1,2\n", "1 and 1 rows, some with more cells than others"),
        (HEAD, "K,gamma,remark\n", "columns of one alone: note, remark"),
        (HEAD, "gamma,K,note\n", "columns in another order"),
        (HEAD, "", "columns of one alone: K, gamma, note"),
    ],
)
def test_tables_of_another_shape_differ(pair, one, other, where):
    found = pair(one, other)
    assert (found.kind, found.where) == ("differs", where)


@pytest.mark.parametrize("tolerance", [-1e-9, 1, math.inf, math.nan])
def test_a_tolerance_that_would_let_everything_pass_is_refused(pair, tolerance):
    with pytest.raises(ValueError, match=r"tolerance = .*: must be in \[0, 1\)"):
        pair(HEAD, HEAD, tolerance)


@pytest.mark.parametrize("text", [b'K\n"1', b"K\n\xff\n"])
def test_what_is_no_table_is_named(tmp_path, text):
    (tmp_path / "one.csv").write_bytes(text)
    (tmp_path / "other.csv").write_bytes(b"K\n")
    with pytest.raises(ValueError, match=r"one.csv: is not a table: "):
        compare(tmp_path / "one.csv", tmp_path / "other.csv", 1e-12)


def test_tables_have_one_name_in_results_and_in_docs_and_the_rest_is_left_out(tmp_path):
    run, docs = tmp_path / "run", tmp_path / "docs"
    results = ["darrm/tables/table1.csv", "fidelity.csv", "darrm/labels/dataset=digits,m=3.csv"]
    left_out = ["benchmarks/a.csv", "provenance/a.csv", "code/published/a.csv", "own/private/a.csv"]
    for path in (*results, *left_out, "README.md", "darrm/figures/figure2.png"):
        file = run / "results" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    for path in ("darrm/table1.csv", "fidelity.csv", "benchmarks/machine.csv"):
        (docs / path).parent.mkdir(parents=True, exist_ok=True)
        (docs / path).touch()
    names = {"darrm/table1.csv", "fidelity.csv", "darrm/labels/dataset=digits,m=3.csv"}
    assert comparison.tables(run).keys() == names
    assert comparison.tables(run) == comparison.tables(run / "results")
    assert comparison.tables(docs).keys() == {"darrm/table1.csv", "fidelity.csv"}
    (run / "results" / "darrm" / "table1.csv").touch()
    with pytest.raises(ValueError, match=r"is a second table darrm/table1\.csv, beside"):
        comparison.tables(run)
    with pytest.raises(ValueError, match=r"holds no table of a run \(\*\.csv\)"):
        comparison.tables(run / "results" / "benchmarks" / "none")


def test_statuses_that_changed_came_or_went_are_listed(tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    head = "paper,item,dataset,row,column,published,status\n"
    one.write_text(head + "pate,table1,,a,x,1,match\npate,table1,,b,x,1,match\n")
    other.write_text(head + "pate,table1,,b,x,1,differs\npate,table1,,c,x,1,weak\n")
    assert comparison.changed_statuses(one, other) == [
        ("pate table1 a x", "match", None),
        ("pate table1 b x", "match", "differs"),
        ("pate table1 c x", None, "weak"),
    ]
    assert comparison.changed_statuses(one, one) == []
    other.write_text("paper,item\n")
    with pytest.raises(ValueError, match="column column is missing"):
        comparison.changed_statuses(one, other)


def test_every_printed_number_of_the_published_comparison_has_a_name_of_its_own(root):
    path = root / "docs" / "fidelity.csv"
    rows = len(comparison._read(path)) - 1
    assert rows == len(comparison._read_statuses(path)) > 900
