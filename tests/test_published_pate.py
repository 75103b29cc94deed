"""PATE's printed numbers: why some are not what the paper's own formulas give."""

import pytest

from private_ensembles import published, published_pate
from private_ensembles.pate.sanitize import tuned_sigma
from private_ensembles.pate.table2 import ROWS, least_printed_cost, mnist_conversion
from private_ensembles.printed_arithmetic import arithmetic, printed_rows


@pytest.fixture(scope="module")
def printed():
    return published.read_published(published.FOLDER.glob("pate_*.csv"))


def test_every_explanation_is_of_a_printed_number_and_holds_for_its_digits_only(printed):
    cells = {tuple(cell[k] for k in published.KEY): cell for cell in printed.to_dict("records")}
    for key, explanation in published_pate.EXPLANATIONS.items():
        assert explanation.holds(cells[key])
        assert not explanation.holds(cells[key] | {"published": "123"})
        file, test = explanation.test.split("::")
        source = (published.FOLDER.parents[1] / file).read_text(encoding="utf-8")
        assert f"def {test}(" in source


def test_no_rounding_of_svhns_parameters_gives_its_sanitised_epsilon():
    half = {"order": 0.05, "beta": 0.00005, "sigma_ss": 0.005}
    least = least_printed_cost(ROWS["SVHN"], digits=half)
    assert least == pytest.approx(0.5310, abs=5e-4)
    assert 4.955 + least > 5.455


def test_rounding_of_the_smooth_sensitivity_gives_the_second_rounds_sigma():
    assert tuned_sigma(50, 0.008, 0.00088, formula="paper") < 38.65
    assert published.equals_printed(tuned_sigma(50, 0.008, 0.000876, formula="paper"), "38.7")


def test_the_text_divides_by_the_order():
    found = mnist_conversion()
    assert published.equals_printed(found["by_order"], "2.00")
    assert published.equals_printed(found["by_order_less_one"], "2.07")


def test_two_hundred_images_each_are_fifty_thousand():
    assert 60000 / 250 == 240
    assert 50000 / 250 == 200


def test_the_transcribed_rows_of_table_2_are_those_of_the_library(printed):
    rows = printed_rows(printed)
    names = {"mnist": "MNIST", "svhn": "SVHN", "adult": "Adult", "glyph": "Glyph"}
    assert {rows[task, "confident"] for task in names} == {ROWS[name] for name in names.values()}
    assert rows["glyph", "interactive"] == ROWS["Glyph, two rounds"]


def test_printed_numbers_follow_from_printed_numbers_but_for_the_explained(printed):
    numbers = {
        ("pate", row.item, row.task, row.row, row.column): (row.value, float("nan"))
        for row in arithmetic(printed).itertuples()
    }
    table = published.compare(
        printed, numbers, data="embedded", explanations=published_pate.EXPLANATIONS
    )
    found = table[table["status"] != "not_run"]
    assert len(found) == len(numbers)
    differs = found[found["status"] == "differs"]
    assert set(map(tuple, differs[published.KEY].to_numpy())) == set(published_pate.REMARKS)
    assert set(found["status"]) == {"match", "explained", "differs"}
    explained = found[found["status"] == "explained"]
    assert set(map(tuple, explained[published.KEY].to_numpy())) == set(published_pate.EXPLANATIONS)
