"""What the pages on the papers say in numbers is what docs' tables hold."""

import math
import re

import pandas as pd
import pytest
import yaml

from private_ensembles.labels import registry
from private_ensembles.papers.compare.comparison import NUMBER, RELATION
from private_ensembles.papers.compare.statuses import STATUSES
from private_ensembles.report.markdown import printed_table
from private_ensembles.report.printed_numbers import lay_out_tables
from tests.prose import ROOT, assert_says, published, table_of, upwards

pytestmark = pytest.mark.docs

DARRM = "docs/darrm.md"
NAMES = {
    registry.get_entry(name).label: name
    for name in ("gnmax", "gnmax_analytic", "ladder", "darrm_sub", "darrm_opt", "majority_private")
}


def rows():
    """The cells of docs/darrm.md's table of accuracies, by mechanism."""
    shown = table_of(DARRM, "| | MNIST | printed |")
    return {NAMES[row[0]]: row[1:] for row in shown}


@pytest.fixture(scope="module")
def accuracies():
    table = published("darrm/table1")
    return table[(table["queries"] == 100) & (table["m"] == 3)].set_index(["dataset", "mechanism"])


def test_accuracies_are_those_of_the_published_table(accuracies):
    shown = rows()
    assert set(shown) == set(NAMES.values())
    fidelity = published("fidelity", dtype=str).query("item == 'table1' and row == 'Q=100'")
    printed = fidelity.set_index(["dataset", "column"])["published"]
    for mechanism, cells in shown.items():
        for place, dataset in ((0, "mnist"), (2, "fashion-mnist")):
            mean = accuracies.loc[dataset, mechanism]["accuracy_mean"]
            assert cells[place] == f"{mean:.2f}", mechanism
            assert cells[place + 1] == printed.get((dataset, mechanism), ""), mechanism
    ((draws, trainings),) = set(zip(accuracies["draws"], accuracies["training_seeds"], strict=True))
    assert_says(DARRM, f"our mean over {draws} draws of queries and {trainings} trainings")


def test_every_row_says_what_one_label_and_all_of_them_cost_and_for_whom(accuracies):
    totals = published("audit/totals")
    totals = totals[(totals["budget"] == "mnist") & (totals["queries"] == 100)]
    together = published("darrm/table2")
    mnist = (together["dataset"] == "mnist") & (together["queries"] == 100)
    (together,) = together[mnist].to_dict("records")
    holds_for = {True: ("shared_data", "add_remove"), False: ("disjoint_shards", "replace_one")}
    for mechanism, (*_, one, everything) in rows().items():
        row = accuracies.loc["mnist", mechanism]
        darrms = mechanism.startswith("darrm")
        assert (row["privacy_model"], row["adjacency"]) == holds_for[darrms]
        assert one == upwards(row["epsilon"], 3)
        total = totals.set_index("mechanism").loc[mechanism]
        if mechanism == "majority_private":
            cost = together["epsilon_disjoint_shards"]
        elif darrms:
            cost = together["epsilon_all_teachers"]
        else:
            cost = total["pld"]
            assert total["delta_total"] == together["delta_total"]
        assert everything == upwards(cost, 2)
    for words, models in zip(("DaRRM's rows hold", "all others"), holds_for.values(), strict=True):
        assert_says(DARRM, f"{words} for `{models[0]}` and `{models[1]}`")
    exponents = (together["delta_query"], together["delta_disjoint_shards"])
    one, any_number = (f"{delta:.1e}".replace("e-0", "e-") for delta in exponents)
    assert_says(DARRM, f"at δ = {one} and of all 100 at δ = {together['delta_total']:.3f}")
    assert_says(DARRM, f"the last row: at δ = {any_number}, for any number")
    assert_says(DARRM, f"the paper charges {together['epsilon_total']:.2f}.")
    assert_says(DARRM, f"DaRRM's {upwards(together['epsilon_all_teachers'], 2)} is what it costs")


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


def test_the_page_on_darrm_counts_as_the_comparison_does():
    status = published("fidelity").query("paper == 'darrm'")["status"]
    count = status.value_counts()
    assert set(count.index) == {"match", "explained", "weak", "input"}, "one more status to name"
    assert_says(
        DARRM, f"Of {len(status)} printed numbers and relations {count['match']} are a `match`"
    )
    assert_says(DARRM, f"{count['explained']} are `explained`, {count['weak']} are `weak`")
    assert_says(DARRM, f"{count['input']} repeat a parameter")


def test_section_1_1_holds_on_one_data_set_as_docs_say():
    """docs/darrm.md: how far DaRRM is above GNMax, by the status of the relation."""
    fidelity = published("fidelity").query("paper == 'darrm' and item == 'section1.1'")
    status = fidelity.set_index("dataset")["status"]
    words = {"match": "**holds**", "weak": "**weak**", "differs": "**fails**"}
    mnist, fashion = (words[status[name]] for name in ("mnist", "fashion-mnist"))
    assert_says(DARRM, f"in points, {mnist} on MNIST, {fashion} on Fashion-MNIST")


def test_what_findings_say_of_adversaries_is_in_the_published_study():
    data = published("studies/adversaries").set_index(["dataset", "mechanism", "record"])
    row = data.loc["mnist-10", "gnmax", "natural"].set_index("queries_are")
    share = 100 * row["share_of_proven"]
    votes = f"moves {row['moved_votes']['given']:.0f} of 100 votes"
    assert_says("docs/findings.md", f"{votes} and uses {share['given']:.0f} % of the proven ε")
    assert_says("docs/findings.md", f"again and again sees {share['repeated']:.0f} % of it")


AUDIT = "docs/audit.md"
# The table has no row of DaRRM by subsampling and of a committee.
AT_EQUAL_PRIVACY = {
    registry.get_entry(name).label: name
    for name in registry.single_label_mechanisms()
    if name not in ("darrm_sub", "committee")
}


def test_who_is_above_darrm_is_what_the_published_tables_say():
    """docs/audit.md, "Is DaRRM above GNMax?": numbers, and bold where they are above its own."""
    shown = {words: cells for words, *cells in table_of(AUDIT, "| MNIST | m = 1 |")}
    below = {"mnist": [], "fashion-mnist": []}
    for place, (m, number) in enumerate(((1, 6), (3, 1), (5, 8), (7, 10))):
        table = published(f"darrm/table{number}").drop_duplicates(["dataset", "mechanism"])
        assert set(table["training_seeds"]) == {30}
        accuracy = table.set_index(["dataset", "mechanism"])["expected_accuracy"]
        for dataset in below:
            baselines = [*AT_EQUAL_PRIVACY.values()]
            baselines = accuracy[dataset][baselines].drop(["majority_private", "darrm_opt"])
            if (baselines < accuracy[dataset, "darrm_opt"]).all():
                below[dataset].append(m)
        values = accuracy["mnist"]
        for words, cells in shown.items():
            mechanism = AT_EQUAL_PRIVACY[words]
            digits = f"{values[mechanism]:.3f}"
            above = values[mechanism] > values["darrm_opt"]
            expected = {f"**{digits}**"} if above else {digits}
            # Equal to three digits, which one of them is above is not to be seen.
            if digits == f"{values['darrm_opt']:.3f}":
                expected = {digits, f"**{digits}**"}
            assert cells[place] in expected, (words, m)
        assert (accuracy[:, "majority_private"] > accuracy[:, "darrm_opt"] - 5e-4).all(), m
    assert below == {"mnist": [1], "fashion-mnist": [1, 3, 5, 7]}, "above every baseline at these m"


# Of the ledger, by the first words of docs/audit.md's rows: mechanism and beginning of the setting.
ONE_LABEL = "mnist: one label, K = 11, m = 3"
ONE_QUERY = "mnist: one query, two classes, K = 250"
AUDITED = {
    "GNMax, published σ": ("gnmax", ONE_LABEL),
    "GNMax, analytic σ": ("gnmax_analytic", ONE_LABEL),
    "GNMax, σ of the labels": ("gnmax_exact", ONE_LABEL),
    "LNMax, pure scale": ("lnmax_pure", ONE_LABEL),
    "DaRRM, γ by subsampling": ("darrm_sub", ONE_LABEL),
    "DaRRM, optimised γ": ("darrm_opt", ONE_LABEL),
    "LNMax (scale 20)": ("lnmax", ONE_QUERY),
    "Confident-GNMax": ("confident_gnmax", ONE_QUERY),
    "SAA, DPBag": ("dpbag", "SAA: one label"),
}


def test_one_audited_label_of_every_mechanism_is_in_the_ledger():
    ledger = published("privacy_ledger")

    def costs(mechanism, setting):
        rows = ledger[(ledger["mechanism"] == mechanism)]
        row = rows[rows["setting"].str.startswith(setting)].iloc[0]
        assert row["verdict"] == "holds"
        return [f"{row[f'{kind}_epsilon']:.4f}" for kind in ("claimed", "exact")]

    shown = table_of(AUDIT, "| mechanism | claimed ε | exact ε |")
    for (words, *cells), (start, place) in zip(shown, AUDITED.items(), strict=True):
        assert words.startswith(start)
        assert cells == costs(*place), words
    for mechanism in ("exponential", "permute_and_flip", "ladder"):
        assert costs(mechanism, ONE_LABEL) == costs("gnmax_exact", ONE_LABEL), mechanism


def test_what_audit_md_says_of_the_ledger_is_in_it():
    ledger = published("privacy_ledger")
    changed = ledger[(ledger["adjacency"] == "replace_one") & (ledger["delta"].round(4) == 3e-4)]
    changed = changed.groupby("mechanism")["proven_epsilon"].min()
    optimal, sub = (upwards(changed[f"darrm_{name}"], 3) for name in ("opt", "sub"))
    assert_says(
        AUDIT, f"a label of the optimised γ costs at most {optimal}, while 0.268 is claimed"
    )
    assert_says(AUDIT, f"(subsampling: {sub})")
    ten = ledger[ledger["setting"].str.startswith("mnist: one query, 10 classes, K = 250")]
    ten = ten.set_index("mechanism")

    def bounds(mechanism):
        low, high = ten.loc[mechanism, ["lower_epsilon", "proven_epsilon"]]
        return f"between {math.floor(1e4 * low) / 1e4:.4f} and {upwards(high, 4)}"

    assert_says(AUDIT, f"Confident-GNMax costs {bounds('confident_gnmax')} on ten classes")
    assert_says(AUDIT, f"LNMax {bounds('lnmax')}.")
    verdicts = ledger.groupby("mechanism")["verdict"].agg(set)
    assert verdicts["nzc"] == {"fails"}
    assert verdicts["dpbag"] == {"holds"}


def test_many_labels_together_are_those_of_the_published_totals():
    """docs/audit.md: totals at 20 and 100 labels."""
    totals = published("audit/totals").query("budget == 'mnist'").set_index("mechanism")
    at = {queries: totals[totals["queries"] == queries] for queries in (20, 100)}

    def cells(mechanism, *columns):
        values = [at[queries].loc[mechanism, column] for queries in at for column in columns]
        return ["" if math.isnan(value) else f"{value:.2f}" for value in values]

    anew = {"darrm_opt": " (teachers trained anew)"}
    names = "gnmax gnmax_analytic gnmax_exact permute_and_flip ladder darrm_opt"
    rows = [
        [registry.get_entry(name).label + anew.get(name, ""), *cells(name, "pld", "label")]
        for name in names.split()
    ]
    for words, name in (
        ("all private teachers, published once", "darrm_opt"),
        ("Committee of teachers (3, drawn once)", "committee"),
        ("Majority, private teachers (disjoint shards)", "majority_private"),
    ):
        once = cells(name, "teachers_once")
        rows.append([words, once[0], "", once[1], ""])
    assert table_of(AUDIT, "| | PLD, 20 |") == rows
    for column, words in (("general", "as DaRRM publishes it"), ("optimal", "optimal")):
        (few,) = {f"{total:.2f}" for total in at[20][column].dropna()}
        (many,) = {f"{total:.1f}" for total in at[100][column].dropna()}
        assert_says(AUDIT, f"{few} and {many} ({words})")
    deltas = [1e3 * at[20]["delta_total"].max(), 1e2 * at[100]["delta_total"].max()]
    assert_says(AUDIT, f"(Q = 20: {deltas[0]:.1f}·10⁻³; 100: {deltas[1]:.1f}·10⁻²)")


def test_what_audit_md_says_of_adversaries_is_in_the_published_study():
    data = published("studies/adversaries")
    natural = data[data["record"] == "natural"]
    share = natural.set_index(["mechanism", "queries_are"])["share_of_proven"]
    gnmax, confident = share["gnmax"], share["confident_gnmax"]
    for value, low, high, words in (
        (gnmax["given"], 0.05, 0.15, "GNMax: about a tenth as queries come"),
        (confident["given"], 0.05, 0.15, "Confident-GNMax: about a tenth as queries come"),
        (gnmax["chosen"], 0.5, 0.95, "most with chosen queries"),
        (gnmax["repeated"], 0.95, 1, "nearly all with one query again and again"),
    ):
        assert low < value < high, f"no longer so: {words}"
    proven = data.set_index("mechanism")["share_of_proven"]
    most = proven["confident_gnmax"].max()
    assert 0.5 < most < 0.6, "no longer so: the worst votes use little more than half"
    worst = data[data["record"] == "poisoned"].set_index(["mechanism", "queries_are"])
    worst = worst["share_of_proven"].dropna()
    better = (worst - share.dropna()).drop("given", level="queries_are")
    assert better.max() < 0.005, "no longer so: a poisoned record tells no more of chosen queries"
    told = f"{100 * worst['gnmax', 'given']:.0f} % in place of {100 * gnmax['given']:.0f}"
    assert_says(AUDIT, f"as queries come, one of them told {told}")
    known = natural.query("training_known == 'noise' and queries_are == 'given'").iloc[0]
    assert known["moved_votes"] == 1
    assert_says(AUDIT, f"that one shows ε ≥ {math.floor(10 * known['observed_lower']) / 10}.")


BY_TRAINING = ROOT / "docs" / "darrm" / "table1_by_training.csv"


@pytest.mark.skipif(not BY_TRAINING.is_file(), reason="docs/ are not yet those of 30 trainings")
def test_what_thirty_trainings_say_of_mnist_is_what_the_published_tables_hold():
    """docs/darrm.md: mean, deviation and rank of trainings beside the printed accuracies."""
    printed = published("fidelity")
    printed = printed[(printed["dataset"] == "mnist") & (printed["kind"] == NUMBER)]
    means, ours, cells = [], [], 0
    for m, number in ((1, 6), (3, 1), (5, 8), (7, 10)):
        table = published(f"darrm/table{number}_by_training")
        table = table[(table["dataset"] == "mnist") & (table["m"] == m)]
        for name in ("darrm_sub", "darrm_opt"):
            rows = (printed["item"] == f"table{number}") & (printed["column"] == name)
            means.append(printed.loc[rows, "published"].astype(float).mean())
            cells += rows.sum()
            values = table[table["mechanism"] == name].set_index("training_seed")
            ours.append(values["expected_accuracy"].sort_index())
    mean, together = sum(means) / len(means), sum(ours) / len(ours)
    gap, spread = together.mean() - mean, together.std()
    assert_says(DARRM, f"All {cells} printed accuracies of DaRRM come from one training")
    assert_says(DARRM, f"Their mean is {mean:.3f}. Ours is {together.mean():.3f} over thirty")
    assert_says(DARRM, f"deviates by {spread:.3f}. The printed one is {100 * gap:.1f} points lower")
    below = [(values < of).sum() for values, of in zip(ours, means, strict=True)]
    lower = (together < mean).sum()
    assert_says(DARRM, f"which is {gap / spread:.1f} deviations, and {lower} of {len(together)}")
    assert_says(DARRM, f"by m and γ, {min(below)} to {max(below)} of them do")


PATE = "docs/pate.md"


@pytest.fixture(scope="module")
def printed_by_pate():
    """What PATE prints, as it prints it, by item, data set, row and column."""
    fidelity = published("fidelity", dtype=str).query("paper == 'pate' and kind == 'number'")
    return fidelity.set_index(["item", "dataset", "row", "column"])["published"].sort_index()


def in_brackets(cell):
    return cell.partition(" (")[2].rstrip(")")


def test_results_of_pate_are_those_of_the_published_table(printed_by_pate):
    """docs/pate.md, "Results": answers, epsilon, what is certain, students; theirs in brackets."""
    table = published("pate/table1")
    table = table[~(table["synthetic"] & table["aggregator"].str.startswith("lnmax"))]
    shown = table_of(PATE, "| | labels | ε as published")
    for (_, labels, epsilon, certain, student, baseline), row in zip(
        shown, table.to_dict("records"), strict=True
    ):
        theirs = printed_by_pate["table1", row["task"], row["aggregator"]]
        answered, asked = (f"{row[name]:,.0f}" for name in ("answered", "asked"))
        if row["aggregator"].startswith("lnmax"):
            assert labels == answered
        else:
            counts = [theirs["answered"]]
            if row["aggregator"] == "interactive":
                counts.append(printed_by_pate["section5.3", "glyph", "interactive", "answered"])
            counts = " or ".join(f"{int(count):,}" for count in counts)
            assert labels == f"{answered} of {asked} ({counts})"
        assert epsilon == f"{row['epsilon']:.2f} ({theirs['epsilon']})"
        bounds = row["exact_data_independent_epsilon"], row["data_independent_epsilon"]
        cost = bounds[1] if math.isnan(bounds[0]) else bounds[0]
        assert certain == upwards(cost, 2 if cost < 10 else 1)
        for cell, name in ((student, "student_accuracy"), (baseline, "baseline_accuracy")):
            accuracy = "" if math.isnan(row[name]) else f"{100 * row[name]:.1f} %"
            assert cell.partition(" (")[0] in (accuracy, ""), (cell, accuracy)
        assert bool(student) == (row["student_seeds"] > 0)
        assert in_brackets(student) == (theirs["student_accuracy"] if student else "")
    trained = table[table["student_seeds"] > 0]
    assert set(trained["student_seeds"]) == {3}
    assert set(trained["teachers"]) == {250}
    assert_says(PATE, "The teachers are 250 networks on MNIST and 250 forests on UCI Adult")
    assert_says(PATE, "Student accuracies are means of three seeds")


def test_what_pate_md_says_of_table_2_is_in_the_published_tables(printed_by_pate):
    """docs/pate.md, finding 3, and the costs of sanitising by Theorem 23 and exactly."""
    row = published("pate/table2").set_index("task").loc["mnist"]
    certain = row["exact_data_independent_epsilon_at_printed_answers"]
    answers = printed_by_pate["table1", "mnist", "confident", "answered"]
    gnss = printed_by_pate["appendixB.6", "mnist", "gnss"]
    assert_says(PATE, f"MNIST row cost exactly {upwards(certain, 3)}, and its labels no more")
    assert_says(PATE, f"stops after {answers} answers")
    said = f"estimate is {gnss['sanitized_epsilon']} ± {gnss['sanitized_sd']}, by a formula"
    assert_says(PATE, said)
    made = published("pate/printed_arithmetic").set_index(["item", "task", "row", "column"])
    place = {"MNIST": "mnist", "SVHN": "svhn", "Adult": "adult", "Glyph": "glyph"}
    shown = table_of(PATE, "| row of Table 2 | λ | β |")
    assert [name for name, *_ in shown] == [*place, "two rounds"]
    for name, order, beta, sigma, theorem, exact in shown:
        task = place.get(name, "glyph")
        aggregator = "confident" if name in place else "interactive"
        sanitised = made.loc["table2", task, aggregator, "sanitized_epsilon"]
        theirs = printed_by_pate["table2", task, aggregator]
        assert order == theirs["order"], name
        for cell, column in ((beta, "beta"), (sigma, "sigma_ss")):
            columns = [column] if name in place else [f"{column}_1", f"{column}_2"]
            assert cell == ", ".join(theirs[each] for each in columns), name
        raw = float(theirs["epsilon"])
        assert theorem == f"{sanitised['value'] - raw:.3f}", name
        assert exact == f"{sanitised['exact'] - raw:.3f}", name
        if name == "SVHN":
            assert_says(PATE, f"but the printed formula gives {theorem} at the row's printed")
    shares = made["value"].xs("sanitising_share_below", level="column").loc["section3.5"]
    mnist, adult = (f"{shares[task, 'confident']:.0f} %" for task in ("mnist", "adult"))
    rounds = f"{shares['glyph', 'interactive']:.0f} % on Glyph in two rounds"
    assert_says(PATE, f"by the exact cost it is {mnist} on MNIST, {adult} on Adult and {rounds}")
    assert (shares > 50).sum() == 3


def test_what_pate_md_says_of_rules_of_thumb_is_in_the_published_tables():
    """docs/pate.md, finding 8: shares of thresholds; finding 5: what is exchanged."""
    fidelity = published("fidelity").query("paper == 'pate'")
    ours = fidelity.set_index(["item", "row"])["reproduced"]
    words = {3: "three"}[int(ours["section4.2", "threshold between 0.6 and 0.8"])]
    assert_says(PATE, f"fits {words} of six thresholds")
    both = ours["section5.4", "thresholds' share of two rounds"]
    prints = (
        published("pate/small_print").set_index(["claim", "case", "quantity"])["value"].sort_index()
    )
    first = 100 * prints["PATE section 5.3: 0.59 for round one", "thresholds alone", "share"]
    assert_says(PATE, f"they take {both:.0f} % of the two rounds' Rényi cost, and those")
    assert_says(PATE, f"those of round one alone would cost {first:.0f} % of its ε")
    case = "Rényi, classic: the answers of the public code, and the rounds' noise exchanged"
    exchanged = prints["PATE section 4.1: 8.42 and 10.14", case]
    one, two = (f"{exchanged[name]:.2f}" for name in ("confident", "two_rounds"))
    assert_says(PATE, f"Section 4.1's {two} and {one} are exchanged: Confident-GNMax costs {one}")
    assert_says(PATE, f"and {two} is what two rounds cost")


def test_two_rounds_are_certain_to_cost_what_one_does():
    """docs/pate.md: the study of students between two rounds."""
    data = published("studies/interactive_students").set_index("aggregator")
    certain = data["certain_epsilon"].drop("first")
    assert len(certain) == 2
    assert certain.nunique() == 1
    assert set(data["student_seeds"]) == {1}
    assert_says(PATE, "what is certain for all votes is the same")
    assert_says(PATE, "cannot be told from nothing, with one seed")


def test_students_of_pate_2017_s_own_labels_are_those_of_the_published_study(printed_by_pate):
    """docs/pate.md: our students of the authors' labels beside the paper's."""
    (row,) = published("studies/authors_labels").to_dict("records")
    mean, spread = 100 * row["student_accuracy"], 100 * row["student_accuracy_sd"]
    theirs = printed_by_pate["table1", "mnist", "lnmax-100", "student_accuracy"]
    assert row["student_seeds"] == 3
    ours = f"Three students are right on {mean:.1f} % in the mean, with a standard deviation of"
    assert_says(PATE, f"{ours} {spread:.1f}; Table 1's first row prints {theirs} %")


DPBAG = "docs/dpbag.md"


def test_what_dpbag_md_says_of_label_counts_is_in_the_published_tables():
    """docs/dpbag.md, findings 1 and 3: labels beside SAA's, and what they cost everyone."""
    labels = published("dpbag/labels").set_index(["delta", "n", "epsilon"]).sort_index()
    counts = labels.query("n >= 50")["data_independent"]
    share = counts[1e-5] / counts[1e-3]
    assert_says(DPBAG, f"50 shards and more buys {share.min():.2f} to {share.max():.2f} times as")
    saa = labels.loc[1e-5]
    gains, plain = {}, []
    for number in (6, 8):
        rows = published(f"dpbag/table{number}").query("delta == 1e-5")
        rows = rows[rows["accounting"] == "personalised"].set_index(["n", "epsilon"])
        gains[number] = (rows["releasable_mean"] / saa["data_independent"]).max() - 1
        plain.append(rows["plain_epsilon"].max())
    most = {number: math.ceil(100 * gain) for number, gain in gains.items()}
    assert_says(DPBAG, f"buys up to {most[6]} % more labels than SAA with logistic regression")
    assert_says(DPBAG, f"and up to {most[8]} % more with boosted trees")
    assert_says(DPBAG, f"cost everyone a plain ε below {upwards(max(plain), 1)}")
    buys = (saa["plain"] / saa["data_independent"]).loc[[50, 100, 250]]
    assert_says(DPBAG, f"buys {buys.min():.1f} to {buys.max():.1f} times as many as SAA")


def test_what_dpbag_md_says_of_printed_counts_is_what_the_comparison_says():
    """docs/dpbag.md, findings 2, 7 and 8."""
    fidelity = published("fidelity").query("paper == 'dpbag' and kind == 'number'")
    fidelity = fidelity[fidelity["column"].str.startswith("labels")]
    status = fidelity[fidelity["row"].str.startswith("DPBag n")].set_index("item")["status"]
    assert (len(status["table6"]), len(status["table8"])) == (27, 12)
    if "differs" in set(status["table6"]):
        raise AssertionError("finding 2: not all 27 counts are within their tolerance")
    if not set(status["table8"]) <= {"match", "weak"}:
        raise AssertionError("finding 8: not all twelve of Table 8 are within the tolerance")
    heart_failure = status[["table2", "table4"]]
    within = (heart_failure == "bounded").sum()
    assert_says(DPBAG, f"{within} of Tables 2 and 4's {len(heart_failure)} counts keep to it")


def test_what_dpbag_md_says_of_students_is_what_the_comparison_says():
    """docs/dpbag.md, findings 4 and 8, and the table of means beside print."""
    fidelity = published("fidelity").query("paper == 'dpbag' and kind == 'relation'")
    means = fidelity[fidelity["column"].str.endswith(": mean")].copy()
    means = means[means["row"].str.contains(" students of ")]
    means["method"] = means["row"].str.split(" of ").str[1].str.replace("-", "−")
    means["metric"] = means["column"].str.partition(":")[0]
    means = means.set_index(["method", "item", "metric"]).sort_index()
    points = 100 * (means["reproduced"] - means["published"])
    metrics = ("accuracy", "auroc", "auprc")
    places = [(item, metric) for item in ("table5", "table7") for metric in metrics]
    rows = []
    for method in ("DPBag", "DPBag−", "SAA"):
        cells = [f"{points[method, *place]:+.1f}".replace("-", "−") for place in places]
        apart = [means["status"][method, *place] == "differs" for place in places]
        rows.append(
            [method, *(f"**{x}**" if far else x for x, far in zip(cells, apart, strict=True))]
        )
    said = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    assert table_of(DPBAG, "| | Table 5: accuracy |") == rows, f"the table should be:\n{said}"
    accuracy = points.xs("accuracy", level="metric")
    if not (accuracy["DPBag"] < -0.25).all() or not (accuracy["SAA"].abs() < 0.25).all():
        raise AssertionError("finding 4: DPBag's students below print, SAA's not, is no longer so")
    if not (points.xs(("table7", "auroc"), level=("item", "metric")) < 0).all():
        raise AssertionError("finding 8: not every method's AUROC is below print")
    lead = fidelity[fidelity["row"] == "DPBag above DPBag-"].set_index(["item", "column"])
    lead = lead.loc["table5", "accuracy: the same difference"]
    assert_says(DPBAG, f"{100 * lead['published']:.2f} points are printed** in Table 5")
    assert_says(DPBAG, f"and ours do (`{lead['status']}`")
    over = fidelity[fidelity["row"] == "DPBag above SAA"].set_index(["item", "column"])
    over = over.xs("accuracy: the same difference", level="column")
    printed, ours = ([f"{100 * x:.2f}" for x in over[of]] for of in ("published", "reproduced"))
    assert_says(
        DPBAG, f"It is {printed[0]} points in Table 5 and {printed[1]} in Table 7, and ours"
    )
    assert_says(DPBAG, f"ours is {ours[0]} and {ours[1]} (`{' '.join(set(over['status']))}`)")


NZC = "docs/nzc.md"
AGGREGATORS = {
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


@pytest.fixture(scope="module")
def printed_by_nzc():
    """What NZC prints of MNIST, as it prints it, by item, row and column."""
    fidelity = published("fidelity", dtype=str).query("paper == 'nzc' and kind == 'number'")
    fidelity = fidelity[fidelity["dataset"] == "mnist"]
    return fidelity.set_index(["item", "row", "column"])["published"].sort_index()


def test_students_and_labels_of_nzc_are_those_of_the_published_tables(printed_by_nzc):
    """docs/nzc.md, "What reproduces": the tables of students and of right labels."""
    table = published("nzc/table1").set_index("aggregator")
    shown = table_of(NZC, "| Table 1: student, % |")
    assert [words for words, *_ in shown] == list(AGGREGATORS)
    for words, theirs, ours in shown:
        row = table.loc[AGGREGATORS[words]]
        accuracy, sd = 100 * row["student_accuracy"], 100 * row["student_accuracy_sd"]
        assert ours == f"{accuracy:.1f} ({sd:.1f})"
        name = AGGREGATORS[words].replace("-5", "-few") if "lnmax" not in row.name else row.name
        assert theirs == printed_by_nzc["table1", name, "student_accuracy"]
    assert set(table["student_seeds"]) == {5}
    assert_says(NZC, "students of five seeds")
    labels = published("nzc/table2").set_index("aggregator")["label_accuracy"]
    theirs = [printed_by_nzc["table2", name, "label_accuracy"] for name in labels.index]
    ours = [f"{100 * share:.2f}" for share in labels]
    assert table_of(NZC, "| Table 2: right labels") == [["printed", *theirs], ["ours", *ours]]


def test_what_nzc_md_says_of_costs_is_in_the_published_tables():
    table = published("nzc/table1").set_index("aggregator")
    scale, inverse = table.loc["nzc", ["claimed_epsilon", "claimed_epsilon_inverse_scale"]]
    assert (f"{scale:.1e}", f"{inverse:.1e}") == ("9.1e-08", "3.6e+24")
    assert_says(NZC, "gives 3.6·10²⁴ if γ is an inverse scale, as defined, and 9.1·10⁻⁸ if it is")
    assert table.loc["nzc", "true_epsilon"] == pytest.approx(1e90, rel=1e-6)
    assert_says(NZC, "and one label costs 10⁹⁰")


def test_what_nzc_md_says_of_leads_is_in_the_published_table():
    """docs/nzc.md: the table of the largest delta by lead and tie rule."""
    leads = published("nzc/leads")
    assert set(leads["epsilon"]) == {50}
    leads["lead"] = leads["lead"].clip(upper=3)
    leads["ties"] = leads["ties"].replace("last", "first")
    limits = leads.groupby(["ties", "lead"]).agg({"delta_least": "min", "delta_most": "max"})
    found = {place: tuple(row.round(3)) for place, row in limits.iterrows()}
    words = {
        (0, 0): "0",
        (1, 1): "1",
        (0, 1): "0 or 1, by which class leads",
        (0.5, 0.5): "½",
        (0.5, 0.667): "½ (two tied), ⅔ (three tied)",
    }
    rows = [
        [name, *(words[found[ties, lead]] for ties in ("first", "random"))]
        for lead, name in enumerate(("0", "1", "2", "≥ 3"))
    ]
    assert table_of(NZC, "| lead | first or last") == rows


def test_what_nzc_md_says_of_figure_2_and_of_ties_is_in_the_published_tables(printed_by_nzc):
    curve = published("nzc/figure2").query("panel == 'teachers'").set_index("teachers")
    accuracy, qualified, wrong = (
        [f"{100 * curve[name][size]:.1f}" for size in (5, 250)]
        for name in ("accuracy", "qualified", "qualified_wrong")
    )
    assert_says(NZC, f"falls from {accuracy[0]} % right (5 teachers) to {accuracy[1]} % (250)")
    assert_says(NZC, f"distance-2 queries rises from {qualified[0]} % to {qualified[1]} %")
    assert_says(NZC, f"qualifies and is wrong, from {wrong[0]} % to {wrong[1]} %")
    few, many = (round(9000 * (1 - curve["qualified"][size])) for size in (5, 250))
    assert_says(NZC, f"{many} of 9,000 queries at 250 teachers and {few} at 5")
    labels = published("nzc/table2").set_index("aggregator")
    rules = labels.loc["nzc", ["accuracy_first", "accuracy_last", "accuracy_random"]]
    (rule,) = {f"{100 * rule:.3f}" for rule in rules}
    tied = {3: "Three"}[int(labels.loc["nzc", "tied"])]
    assert_says(NZC, f"{tied} of ours are, and all three rules for ties give {rule} %.")
    clean, nzc = (float(printed_by_nzc["table2", x, "label_accuracy"]) for x in ("clean", "nzc"))
    assert_says(NZC, f"Table 2's {clean - nzc:.2f} points between NZC and no noise")


def test_nzc_s_conclusions_hold_but_for_one():
    fidelity = published("fidelity").query("paper == 'nzc' and dataset == 'mnist'")
    status = fidelity[fidelity["kind"] == RELATION].set_index("row")["status"]
    assert status.pop("nzc above lnmax-9000") == "weak", "our students show that NZC's are better"
    assert set(status) == {"match"}


def test_how_mnist_s_teachers_train_is_what_the_configuration_says():
    """docs/teachers.md: ours beside the public code's."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    task = config["pate"]["tasks"]["mnist"]
    ours, code = task["teachers"], task["recipes"]["pate-2017-code"]["teachers"]
    shown = {words: cells for words, *cells in table_of("docs/teachers.md", "| | the code | ours")}
    assert shown["batches"] == [str(code["batch_size"]), str(ours["batch_size"])]
    passes = 240 // ours["batch_size"] * ours["epochs"]
    assert shown["steps"][0].startswith(f"3,000 ({code['epochs']:,} passes over a shard of 240")
    assert shown["steps"][1] == f"{passes} ({ours['epochs']} passes)"
    assert shown["learning rate"][0].startswith(f"{code['learning_rate']}, a tenth of it")
    falls = {"linear": "linearly to 0"}[ours["learning_rate_schedule"]]
    assert shown["learning rate"][1] == f"from {ours['learning_rate']} {falls}"
    assert shown["momentum"] == ["none", str(ours["momentum"])]
    assert code["momentum"] == 0


def test_the_papers_tables_are_printed_in_docs_beside_the_published_numbers():
    fidelity = published("fidelity", dtype=str, keep_default_na=False)
    compared = fidelity[fidelity["kind"] == NUMBER]
    for paper in compared["paper"].unique():
        page = (ROOT / "docs" / paper / "README.md").read_text(encoding="utf-8")
        for name, layout in lay_out_tables(compared, paper).items():
            made = (ROOT / "docs" / paper / f"{name}.csv").is_file()
            assert (printed_table(layout) in page) == made, (paper, name)
    table = table_of("docs/darrm/README.md", "## Table 4: noise of GNMax\n\n")
    assert [cell.partition(" ")[0] for cell in table[0][3:]] == ["34.31", "21.46"]


def test_all_of_docs_is_of_one_clean_revision():
    pages = sorted((ROOT / "docs").glob("*/README.md"))
    found = [
        re.findall(r"^Revision (.+?), Python", page.read_text("utf-8"), re.M) for page in pages
    ]
    revisions = [revision for of_page in found for revision in of_page]
    assert len(revisions) == 5  # four papers and the studies
    (revision,) = set(revisions)
    assert re.fullmatch(r"[0-9a-f]{40}", revision)
