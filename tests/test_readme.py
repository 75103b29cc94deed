"""What README and pages say in numbers is what docs' tables hold, or is worked out again."""

import math
import re
from pathlib import Path

import pandas as pd
import pytest
from scipy.optimize import brentq

from benchmarks import libraries, right_labels, run
from private_ensembles import plan
from private_ensembles.accounting.gaussian import gaussian_delta
from private_ensembles.labels import registry
from private_ensembles.labels.task import Budget, Ensemble, Protection
from private_ensembles.papers.compare.comparison import NUMBER, RELATION
from private_ensembles.papers.compare.statuses import STATUSES

pytestmark = pytest.mark.docs

ROOT = Path(__file__).resolve().parents[1]
TEXT = "\n".join(
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/findings.md", "docs/darrm.md")
)
# Without line breaks, which say nothing.
WORDS = " ".join(TEXT.split())
NAMES = {
    registry.get_entry(name).label: name
    for name in ("gnmax", "gnmax_analytic", "ladder", "darrm_sub", "darrm_opt", "majority_private")
}


def published(name):
    return pd.read_csv(ROOT / "docs" / f"{name}.csv")


def rows():
    """The README's cells of the table of accuracies, by mechanism."""
    found = [line.strip("|").split("|") for line in TEXT.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in row] for row in found if len(row) == 10]
    return {NAMES[row[0]]: row[1:] for row in cells if row[0] in NAMES}


@pytest.fixture(scope="module")
def accuracies():
    table = published("darrm/table1")
    return table[(table["queries"] == 100) & (table["m"] == 3)].set_index(["dataset", "mechanism"])


def test_accuracies_are_those_of_the_published_table(accuracies):
    shown = rows()
    assert set(shown) == set(NAMES.values())
    for mechanism, cells in shown.items():
        for place, dataset in ((0, "mnist"), (3, "fashion-mnist")):
            row = accuracies.loc[dataset, mechanism]
            assert cells[place] == f"{row['accuracy_mean']:.2f}"
            assert cells[place + 2] == f"{row['expected_accuracy']:.3f}"


def upwards(epsilon, digits):
    """An upper bound in words stays one."""
    return f"{math.ceil(round(epsilon * 10**digits, 6)) / 10**digits:.{digits}f}"


def test_every_row_says_what_one_label_and_all_of_them_cost_and_for_whom(accuracies):
    totals = published("audit/totals")
    totals = totals[(totals["budget"] == "mnist") & (totals["queries"] == 100)]
    together = published("darrm/table2")
    mnist = (together["dataset"] == "mnist") & (together["queries"] == 100)
    (together,) = together[mnist].to_dict("records")
    for mechanism, (*_, one, everything, holds_for) in rows().items():
        row = accuracies.loc["mnist", mechanism]
        assert holds_for == f"`{row['privacy_model']}`, `{row['adjacency']}`"
        assert one == upwards(row["epsilon"], 3)
        total = totals.set_index("mechanism").loc[mechanism]
        if mechanism == "majority_private":
            cost = together["epsilon_disjoint_shards"]
            assert f"{together['delta_disjoint_shards']:.1e}".replace("e-04", "e-4") in TEXT
        elif mechanism.startswith("darrm"):
            cost = together["epsilon_all_teachers"]
        else:
            cost = total["pld"]
            assert f"{total['delta_total']:.3f}" == "0.030"
        assert everything == upwards(cost, 2)
    assert f"{together['epsilon_total']:.2f}" in TEXT


def test_the_ladder_is_the_best_for_one_label_and_the_dearest_for_a_hundred(accuracies):
    totals = published("audit/totals")
    totals = totals[(totals["budget"] == "mnist") & (totals["queries"] == 100)]
    totals = totals.set_index("mechanism")["pld"]
    # Of all that are in the tables, not of the rows shown alone.
    known = accuracies.loc["mnist"]
    disjoint = known[(known["privacy_model"] == "disjoint_shards")].drop("majority_private").index
    assert known.loc[disjoint, "expected_accuracy"].idxmax() == "ladder"
    assert totals[disjoint].idxmax() == "ladder"


def test_statuses_are_those_of_the_published_comparison():
    """The table of statuses in docs/findings.md has a row for each status and the sums below."""
    fidelity = published("fidelity")
    tally = pd.crosstab(fidelity["status"], fidelity["kind"])
    tally = tally.reindex(index=list(STATUSES), columns=[NUMBER, RELATION], fill_value=0)
    assert tally.to_numpy().sum() == len(fidelity)
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8").partition("| status |")[2]
    rows = re.findall(r"^\| `?(\w+)`? \| (\d+) \| (\d+) \|", page, flags=re.MULTILINE)
    shown = {name: [int(number) for number in numbers] for name, *numbers in rows}
    together = {"together": tally.sum().tolist()}
    assert shown == dict(zip(tally.index, tally.to_numpy().tolist(), strict=True)) | together


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


def test_the_page_on_darrm_counts_as_the_comparison_does():
    status = published("fidelity").query("paper == 'darrm'")["status"]
    count = status.value_counts()
    assert set(count.index) == {"match", "explained", "weak", "input"}
    assert f"Of {len(status)} printed numbers and relations {count['match']} are a `match`" in WORDS
    assert f"{count['explained']} are `explained`, {count['weak']} are `weak`" in WORDS
    assert f"{count['input']} repeat a parameter" in WORDS


def test_odds_in_the_readme_are_those_of_its_epsilon():
    found = re.findall(r"at ε = (\d+),? [^;]*?at most ([\d.]+) %", WORDS, flags=re.IGNORECASE)
    assert len(found) == 2
    for epsilon, percent in found:
        # a bound, rounded up
        assert float(percent) == math.ceil(1000 / (1 + math.exp(-int(epsilon)))) / 10


def test_what_findings_say_of_adversaries_is_in_the_published_study():
    data = published("studies/adversaries").set_index(["dataset", "mechanism", "record"])
    row = data.loc["mnist-10", "gnmax", "natural"].set_index("queries_are")
    share = 100 * row["share_of_proven"]
    votes = f"moves {row['moved_votes']['given']:.0f} of 100 votes"
    assert f"{votes} and uses {share['given']:.0f} % of the proven ε" in WORDS
    assert f"again and again sees {share['repeated']:.0f} % of it" in WORDS


# The table has no row of DaRRM by subsampling and of a committee.
AUDIT = {
    registry.get_entry(name).label: name
    for name in registry.single_label_mechanisms()
    if name not in ("darrm_sub", "committee")
}


def test_who_is_above_darrm_is_what_the_published_tables_say():
    """docs/audit.md, "Is DaRRM above GNMax?": numbers, and bold where they are above its own."""
    text = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8").partition("## Is DaRRM")[2]
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    shown = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in lines}
    places = [(d, table) for d in ("mnist", "fashion-mnist") for table in (6, 1, 8, 10)]
    for place, (dataset, number) in enumerate(places):
        table = published(f"darrm/table{number}")
        values = table[table["dataset"] == dataset].drop_duplicates("mechanism")
        values = values.set_index("mechanism")["expected_accuracy"]
        for words, mechanism in AUDIT.items():
            digits = f"{values[mechanism]:.3f}"
            above = values[mechanism] > values["darrm_opt"]
            expected = {f"**{digits}**"} if above else {digits}
            # Equal to three digits, which one of them is above is not to be seen.
            if digits == f"{values['darrm_opt']:.3f}":
                expected = {digits, f"**{digits}**"}
            assert shown[words][place] in expected, (words, dataset, number)


BY_TRAINING = ROOT / "docs" / "darrm" / "table1_by_training.csv"


@pytest.mark.skipif(not BY_TRAINING.is_file(), reason="docs/ are not yet those of 30 trainings")
def test_what_thirty_trainings_say_of_mnist_is_what_the_published_tables_hold():
    """docs/darrm.md: mean, deviation and rank of trainings beside the printed accuracies."""
    printed = published("fidelity")
    printed = printed[(printed["dataset"] == "mnist") & (printed["kind"] == NUMBER)]
    means, ours = [], []
    for m, number in ((1, 6), (3, 1), (5, 8), (7, 10)):
        table = published(f"darrm/table{number}_by_training")
        table = table[(table["dataset"] == "mnist") & (table["m"] == m)]
        for name in ("darrm_sub", "darrm_opt"):
            rows = (printed["item"] == f"table{number}") & (printed["column"] == name)
            means.append(printed.loc[rows, "published"].astype(float).mean())
            values = table[table["mechanism"] == name].set_index("training_seed")
            ours.append(values["expected_accuracy"].sort_index())
    mean, together = sum(means) / len(means), sum(ours) / len(ours)
    gap, spread = together.mean() - mean, together.std()
    assert f"Their mean is {mean:.3f}. Ours is {together.mean():.3f} over thirty" in WORDS
    assert f"deviates by {spread:.3f}. The printed one is {100 * gap:.1f} points lower" in WORDS
    below = [(values < of).sum() for values, of in zip(ours, means, strict=True)]
    assert f"which is {gap / spread:.1f} deviations, and {(together < mean).sum()} of 30" in WORDS
    assert f"by m and γ, {min(below)} to {max(below)} of them do" in WORDS


def table_of(page, heading):
    """The cells of the table in docs/PAGE that is headed so, by rows, without its own head."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").partition(heading)[2]
    lines = text.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_results_of_pate_are_those_of_the_published_table():
    """docs/pate.md, "Results": answers, epsilon, what is certain, students and the baseline."""
    table = published("pate/table1")
    table = table[~(table["synthetic"] & table["aggregator"].str.startswith("lnmax"))]
    shown = table_of("pate.md", "| | labels | ε as published")
    for (_, labels, epsilon, certain, student, baseline), row in zip(
        shown, table.to_dict("records"), strict=True
    ):
        assert labels.split(" ")[0] == f"{row['answered']:,.0f}"
        assert epsilon.split(" ")[0] == f"{row['epsilon']:.2f}"
        bounds = row["exact_data_independent_epsilon"], row["data_independent_epsilon"]
        cost = bounds[1] if math.isnan(bounds[0]) else bounds[0]
        assert certain == upwards(cost, 2 if cost < 10 else 1)
        for cell, name in ((student, "student_accuracy"), (baseline, "baseline_accuracy")):
            accuracy = "" if math.isnan(row[name]) else f"{100 * row[name]:.1f} %"
            assert cell.replace("*", "").partition(" (")[0] in (accuracy, ""), (cell, accuracy)
        assert bool(student) == (row["student_seeds"] > 0)


def test_two_rounds_are_those_of_the_published_study():
    """docs/pate.md: the table of students between two rounds."""
    shown = table_of("pate.md", "| | asked | answered | reinforced")
    for cells, row in zip(
        shown, published("studies/interactive_students").to_dict("records"), strict=True
    ):
        counts = [row[name] for name in ("asked", "answered", "reinforced", "right")]
        assert cells[1:5] == [f"{count:.0f}" if count else "" for count in counts]
        assert cells[5:7] == [f"{row['epsilon']:.2f}", upwards(row["certain_epsilon"], 2)]
        assert cells[7] == f"{100 * row['student_accuracy']:.1f} %"


def test_students_of_pate_2017_s_own_labels_are_those_of_the_published_studies():
    """docs/pate.md: our students of the authors' labels, and the table of GANs beside them."""
    text = " ".join((ROOT / "docs" / "pate.md").read_text(encoding="utf-8").split())
    (row,) = published("studies/authors_labels").to_dict("records")
    mean, spread = 100 * row["student_accuracy"], 100 * row["student_accuracy_sd"]
    assert row["student_seeds"] == 3
    assert f"right on {mean:.1f} % in the mean, with a standard deviation of {spread:.1f};" in text
    ends = published("studies/gan_student").groupby(["labels", "student"], sort=False).tail(1)
    names = {"vat": "virtual adversarial", "gan": "GAN"}
    shown = [
        [
            f"{row['labels']:,} ({row['wrong_labels']})",
            names[row["student"]],
            str(row["epoch"]),
            f"{100 * row['accuracy']:.1f} %",
            f"{row['seconds']:.0f}",
        ]
        for row in ends.to_dict("records")
    ]
    assert table_of("pate.md", "| labels (wrong) | student |") == shown


def test_what_labels_cost_less_is_in_the_published_study():
    """README: how many of 1,000 labels are right at ε = 2 by three accounts, and which is best."""
    data = published("studies/equal_budget").query("task == 'mnist' and queries == 1000")
    share = data[data["epsilon"] == 2].set_index("mechanism")["accuracy"]
    paper, counts, labels = share[["gnmax", "gnmax_analytic", "gnmax_exact"]]
    assert paper < counts < labels  # docs/pate.md, finding 10
    assert f"{100 * paper:.0f} % are right by the paper's account, {100 * counts:.0f} %" in WORDS
    assert f"and {100 * labels:.0f} % by our account of the labels" in WORDS


def test_what_dpbag_md_says_of_label_counts_is_in_the_published_tables():
    """docs/dpbag.md, finding 3: labels beside SAA's, and what they cost everyone."""
    text = " ".join((ROOT / "docs" / "dpbag.md").read_text(encoding="utf-8").split())
    saa = published("dpbag/labels").query("delta == 1e-5").set_index(["n", "epsilon"])
    gains, plain = {}, []
    for number in (6, 8):
        rows = published(f"dpbag/table{number}").query("delta == 1e-5")
        rows = rows[rows["accounting"] == "personalised"].set_index(["n", "epsilon"])
        gains[number] = (rows["releasable_mean"] / saa["data_independent"]).max() - 1
        plain.append(rows["plain_epsilon"].max())
    assert 0.15 < gains[6] <= 0.2 < gains[8] <= 0.25
    assert max(plain) < 2.4
    most, count = saa["plain"], saa["data_independent"]
    buys = (most / count).loc[[50, 100, 250]]
    assert f"buys {buys.min():.1f} to {buys.max():.1f} times as many as SAA" in text
    of_250 = [most[250].loc[[1, 3, 5]], count[250].loc[[1, 3, 5]]]
    first, second = ([f"{value:,}" for value in values] for values in of_250)
    assert f"{first[0]}, {first[1]} and {first[2]} labels at n = 250 for SAA's" in text
    assert f"{second[0]}, {second[1]} and {second[2]}. " in text


NZC = {
    "LNMax (100 labels)": "lnmax-100",
    "LNMax (1,000)": "lnmax-1000",
    "LNMax (5,000)": "lnmax-5000",
    "LNMax (9,000)": "lnmax-9000",
    "NZC (250 teachers, 9,000)": "nzc",
    "no noise, 250 teachers": "clean",
    "NZC (5 teachers, 9,000)": "nzc-5",
    "no noise, 5 teachers": "clean-5",
    "true labels": "truth",
}


def test_students_of_nzc_are_those_of_the_published_table():
    """docs/nzc.md, "What reproduces": the table of students."""
    text = (ROOT / "docs" / "nzc.md").read_text(encoding="utf-8")
    table = published("nzc/table1").set_index("aggregator")
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    shown = {line[0]: line[2] for line in lines if line[0] in NZC and len(line) == 3}
    assert set(shown) == set(NZC)
    for words, cell in shown.items():
        row = table.loc[NZC[words]]
        accuracy, sd = 100 * row["student_accuracy"], 100 * row["student_accuracy_sd"]
        assert cell == f"{accuracy:.1f} ({sd:.1f})"


def test_what_nzc_md_says_of_figure_2_and_of_ties_is_in_the_published_tables():
    text = " ".join((ROOT / "docs" / "nzc.md").read_text(encoding="utf-8").split())
    curve = published("nzc/figure2").query("panel == 'teachers'").set_index("teachers")
    accuracy, qualified, wrong = (
        [f"{100 * curve[name][size]:.1f}" for size in (5, 250)]
        for name in ("accuracy", "qualified", "qualified_wrong")
    )
    assert f"falls from {accuracy[0]} % right (5 teachers) to {accuracy[1]} % (250)" in text
    assert f"distance-2 queries rises from {qualified[0]} % to {qualified[1]} %" in text
    assert f"qualifies and is wrong, from {wrong[0]} % to {wrong[1]} %" in text
    few, many = (round(9000 * (1 - curve["qualified"][size])) for size in (5, 250))
    assert f"{many} of 9,000 queries at 250 teachers and {few} at 5" in text
    labels = published("nzc/table2").set_index("aggregator")
    rules = labels.loc["nzc", ["accuracy_first", "accuracy_last", "accuracy_random"]]
    assert labels.loc["nzc", "tied"] == 3
    assert {f"{100 * rule:.3f}" for rule in rules} == {"94.478"}
    assert "Three of ours are, and all three rules for ties give 94.478 %." in text
    shown = " | ".join(f"{100 * labels['label_accuracy'][name]:.2f}" for name in labels.index)
    assert f"| ours | {shown} |" in text


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
