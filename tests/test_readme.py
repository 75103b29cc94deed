"""What README and pages for users say in numbers is what docs' tables hold, or is worked out."""

import math
import re

import pandas as pd
import pytest
from scipy.optimize import brentq

from benchmarks import libraries, right_labels, run
from private_ensembles import plan
from private_ensembles.accounting.gaussian import gaussian_delta
from private_ensembles.labels.task import Budget, Ensemble, Protection
from tests.prose import ROOT, published, words_of

pytestmark = pytest.mark.docs

WORDS = words_of("README.md")


def test_the_readme_s_tallies_by_paper_are_those_of_the_published_comparison():
    """README: what is printed, and of it what came out how, numbers and relations together."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    heads = ("match", "explained", "weak", "differs")
    tally = pd.crosstab(published("fidelity")["paper"], published("fidelity")["status"])
    tally.loc["together"] = tally.sum()
    for paper, counts in tally.iterrows():
        compared = [counts[name] for name in heads]
        cells = [counts.sum(), *compared, counts.sum() - sum(compared)]
        line = f"| {' | '.join(map(str, cells))} |"
        (found,) = re.findall(rf"^\| (?:\[{paper}\]\(\S+\)|{paper}) (\|.*)$", readme, re.M | re.I)
        assert found == line, paper


def test_the_readme_says_how_far_a_budget_goes_as_the_planner_does():
    """README: right labels by teachers, labels and epsilon; below the planner is run."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    data = published("benchmarks/right_labels")
    data = data[data["epsilon"] == right_labels.IN_README]
    assert right_labels.format_shares(data) in readme
    assert f"alone is right on {100 * right_labels.teacher_accuracy():.0f} %" in " ".join(
        readme.split()
    )


def test_odds_in_the_readme_are_those_of_its_epsilon():
    found = re.findall(r"at ε = (\d+),? [^;]*?at most ([\d.]+) %", WORDS, flags=re.IGNORECASE)
    assert len(found) == 2
    for epsilon, percent in found:
        # a bound, rounded up
        assert float(percent) == math.ceil(1000 / (1 + math.exp(-int(epsilon)))) / 10


def test_what_labels_cost_less_is_in_the_published_study():
    """README: how many of 1,000 labels are right at ε = 2 by three accounts, and which is best."""
    data = published("studies/equal_budget").query("task == 'mnist' and queries == 1000")
    share = data[data["epsilon"] == 2].set_index("mechanism")["accuracy"]
    paper, counts, labels = share[["gnmax", "gnmax_analytic", "gnmax_exact"]]
    assert paper < counts < labels  # docs/pate.md, finding 9
    assert f"{100 * paper:.0f} % are right by the paper's account, {100 * counts:.0f} %" in WORDS
    assert f"and {100 * labels:.0f} % by our account of the labels" in WORDS


# docs/privacy.md: its tables of odds and reach are worked out again.
DELTA = 1e-5


@pytest.fixture(scope="module")
def budget_tables(root):
    """The page's tables: the first cell of a row -> the numbers in the others."""
    text = (root / "docs" / "privacy.md").read_text(encoding="utf-8")

    def numbers(heading):
        table = text.partition(heading)[2].partition("\n\n")[0]
        lines = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
        plain = [[re.sub(r"[ε=,% ]", "", cell) for cell in line] for line in lines]
        return {float(first): cells for first, *cells in plain}

    return numbers


def test_odds_are_upper_bounds_and_the_least_of_their_digits(budget_tables):
    table = budget_tables("| ε | odds move")
    assert list(table) == [0.1, 0.5, 1, 2, 4, 8, 10]
    for epsilon, cells in table.items():
        factor = math.exp(epsilon)
        test = 100 * min(0.01 * factor, 1 - 0.99 / factor)
        bounds = factor, 100 * factor / (1 + factor), 100 * factor / (99 + factor), test
        for bound, cell in zip(bounds, cells, strict=True):
            last_digit = 10.0 ** -len(cell.partition(".")[2])
            assert 0 <= float(cell) - bound < last_digit, (epsilon, cell)


def test_what_a_wider_reach_costs_is_what_more_votes_moved_cost(budget_tables):
    table = budget_tables("| planned for, with a reach of 1")
    assert list(table) == [1, 2, 4]
    for epsilon, cells in table.items():
        mu = brentq(lambda mu, at=epsilon: float(gaussian_delta(mu, at)) - DELTA, 1e-3, 10)
        for votes, cell in zip((2, 3, 5), map(float, cells), strict=True):
            assert (
                gaussian_delta(votes * mu, cell) <= DELTA < gaussian_delta(votes * mu, cell - 0.01)
            )


@pytest.mark.parametrize("reach", [1, 2, 3])
def test_what_a_stated_reach_costs_in_right_labels_is_what_the_planner_expects(reach, root):
    text = " ".join((root / "docs" / "privacy.md").read_text(encoding="utf-8").split())
    said = re.search(r"(\d+) are right with a reach of 1, (\d+) with 2 and (\d+) with 3", text)
    asked = Ensemble(250, 10), Budget(2, DELTA), 100, Protection.disjoint(reach=reach)
    best, *_ = plan(*asked, mechanisms=["gnmax_exact"])
    assert int(said[reach]) == round(best.correct)


def test_the_page_of_benchmarks_says_what_the_numbers_beside_it_say(tmp_path):
    for numbers in run.DOCS.glob("*.csv"):
        (tmp_path / numbers.name).write_bytes(numbers.read_bytes())
    assert {numbers.stem for numbers in tmp_path.iterdir()} == set(run.BENCHMARKS)
    run.write_page(tmp_path)
    written, kept = ((folder / "README.md").read_text("utf-8") for folder in (tmp_path, run.DOCS))
    assert written == kept


RIGHT = published("benchmarks/right_labels")


@pytest.mark.parametrize(
    ("teachers", "classes", "labels", "epsilon"), [(25, 10, 20, 4.0), (50, 2, 20, 2.0)]
)
def test_what_docs_say_of_a_case_is_what_the_planner_finds(teachers, classes, labels, epsilon):
    case = {"teachers": teachers, "classes": classes, "labels": labels, "epsilon": epsilon}
    row = RIGHT[(RIGHT[list(case)] == pd.Series(case)).all(axis=1)].iloc[0]
    found = right_labels.measure_best_plan(**case)
    assert found["mechanism"] == row["mechanism"]
    assert found["right"] == pytest.approx(row["right"], rel=1e-6)


@pytest.mark.slow
def test_all_that_docs_say_is_what_the_planner_finds():
    columns = ["teachers", "classes", "labels", "epsilon", "mechanism", "right"]
    found = right_labels.measure()[columns]
    pd.testing.assert_frame_equal(found, RIGHT[columns], rtol=1e-6)


def test_more_teachers_fewer_labels_and_a_larger_epsilon_have_a_larger_share_right():
    # The same queries at every epsilon; other ones for other numbers.
    for last, sign, slack in (("epsilon", 1, 1e-3), ("teachers", 1, 0.01), ("labels", -1, 0.01)):
        others = [name for name in ("teachers", "classes", "labels", "epsilon") if name != last]
        shares = RIGHT.set_index([*others, last])["share"].unstack()
        assert (sign * shares.diff(axis=1).iloc[:, 1:] >= -slack).all(axis=None), last


def test_the_page_on_libraries_names_what_the_numbers_say():
    data = published("benchmarks/libraries")
    page = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
    claims = data[data["part"] == "claim"]
    failing = claims[claims["verdict"] == "fails"]
    assert set(failing["library"]) == {"llama-index-packs-diff-private-simple-dataset"}
    for package in libraries.PACKAGES:
        rows = data[(data["library"] == package.name) & (data["version"] == package.version)]
        assert len(rows)
        assert package.version in page
    (pack,) = failing.to_dict("records")
    for value in (pack["claimed"], pack["lower"], pack["exact"]):
        assert f"{value:.2f}" in page
    assert all(data.loc[data["part"] == "skipped", "note"].notna())
