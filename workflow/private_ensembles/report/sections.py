"""What the page of results shows, paper by paper: a new table or figure is one `Item` here."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One table or figure: its file's stem, heading, caption file and, for a figure, alt text."""

    name: str
    title: str
    caption: str
    alt: str = ""


@dataclass(frozen=True)
class Section:
    """One paper's part of the page: the folder under results/ and its items in order."""

    paper: str
    title: str
    items: Sequence[Item]


_ACCURACY = "accuracy of released labels"
_LOSS = "privacy loss of one label and of Q labels"
DARRM = Section(
    paper="darrm",
    title="DaRRM: private majority of private teachers",
    items=(
        Item("teachers", "Privacy of one private teacher", "teachers"),
        Item(
            "figure2",
            "Figure 2: noise functions and their error",
            "figure2",
            alt="Line plots in one column per m. Top: the noise function gamma over the number "
            "of teachers that say 1: optimised, by subsampling and constant. "
            "Bottom: the error of each over the teachers' probability p.",
        ),
        Item(
            "objectives",
            "Appendix C.2: Monte-Carlo objectives against the exact one",
            "objectives",
            alt="Line plots in one column per K, over the number of draws. Top: the error of "
            "the estimated coefficients falls with Algorithm 4 on [0.5, 1], levels off with "
            "Algorithm 5 and stays at 1 with Algorithm 4 on [0, 1]. Bottom: the loss of "
            "utility, negligible but for the last.",
        ),
        Item(
            "figure6",
            "Figure 6: the same by general composition, K = 35",
            "figure2",
            alt="As Figure 2 for four numbers of subsamples: the optimised noise function is 1 "
            "everywhere and its error 0.",
        ),
        Item("table3", "Table 3: parameters of Figure 6", "table3"),
        Item(
            "figure7",
            "Figure 7: the same with pure privacy, K = 11",
            "figure2",
            alt="As Figure 2 for six m, with double subsampling: from m = 7 on it and the "
            "optimised noise function are 1 everywhere; at m = 11 all are.",
        ),
        Item(
            "figure8",
            "Figure 8: the same with pure privacy, K = 101",
            "figure2",
            alt="As Figure 7 for six m between 10 and 80: the optimised one is below "
            "1 near the middle only, and hardly at all from m = 30 on.",
        ),
        Item("amplification", "Theorem 4.1: the cost of double subsampling", "amplification"),
        Item(
            "figure9",
            "Figure 9: gamma optimised for two priors",
            "figure9",
            alt="One row per m. Left: noise functions optimised for two priors, by subsampling "
            "and constant. Right: the expected error of each under three actual distributions "
            "of the teachers' probabilities; it is 0 for all where every probability is 0.5.",
        ),
        Item("table1", f"Table 1: {_ACCURACY}", "accuracy"),
        Item("table6", f"Table 6: {_ACCURACY}", "accuracy"),
        Item("table8", f"Table 8: {_ACCURACY}", "accuracy"),
        Item("table10", f"Table 10: {_ACCURACY}", "accuracy"),
        Item("table2", f"Table 2: {_LOSS}", "privacy_loss"),
        Item("table5", f"Table 5: {_LOSS}", "privacy_loss"),
        Item("table7", f"Table 7: {_LOSS}", "privacy_loss"),
        Item("table9", f"Table 9: {_LOSS}", "privacy_loss"),
        Item("table4", "Table 4: noise of GNMax", "sigma"),
        Item(
            "figure10",
            "Figure 10: search for the noise of GNMax",
            "figure10",
            alt="One line plot per data set: sigma squared falls steeply with the Rényi order "
            "lambda, has a minimum, then rises slowly; the minimum and the order printed in "
            "Table 4 are marked.",
        ),
    ),
)

_PATE_FIGURES = (
    Item(
        "figure1",
        "Figure 1: students, privacy cost and consensus",
        "pate_figure1",
        alt="Three panels. Left: the student's accuracy over epochs, one line per aggregator with "
        "a band over training seeds. Middle: the privacy cost against the number of labels. "
        "Right: histogram of the share of teachers behind each label.",
    ),
    Item(
        "figure4",
        "Figure 4: Laplace and Gaussian noise, size of the ensemble (synthetic votes)",
        "pate_figure4",
        alt="Two panels of label accuracy against privacy cost, logarithmic. Left: Gaussian noise "
        "gives more accurate labels than Laplace noise at the same cost. Right: larger ensembles "
        "do so than smaller ones.",
    ),
    Item(
        "figure5",
        "Figure 5: what the noisy threshold does (synthetic votes)",
        "pate_figure5",
        alt="Left: histogram of queries by votes for the plurality, all of them and those that "
        "pass two thresholds; dots: the cost of a label falls steeply with the votes. Right: "
        "privacy cost against the number of answers; below each curve the thresholds' share.",
    ),
)
PATE = Section(
    paper="pate",
    title="PATE: labels of large ensembles, students, data-dependent privacy",
    items=(
        Item("table1", "Table 1: utility and privacy of students", "pate_table1"),
        Item("table2", "Table 2: sanitised privacy costs", "pate_table2"),
        Item("equal_budget", "Every mechanism at the same budget", "pate_equal_budget"),
        Item("printed_arithmetic", "What the printed numbers imply", "pate_arithmetic"),
        Item("small_print", "Claims made in passing", "pate_small_print"),
        *_PATE_FIGURES,
    ),
)
DPBAG = Section(
    paper="dpbag",
    title="DPBag: bagged teachers, personalised privacy",
    items=(
        Item("table5", "Table 5: students of logistic regressions", "bagged_students"),
        Item("table6", "Table 6: labels that budgets buy, logistic regressions", "bagged_labels"),
        Item("table7", "Table 7: students of boosted trees", "bagged_students"),
        Item("table8", "Table 8: labels that budgets buy, boosted trees", "bagged_labels"),
        Item(
            "label_counts",
            "Labels that budgets buy, by accounting",
            "bagging_labels",
            alt="One row of panels per model, one column per number of shards: labels over "
            "epsilon, logarithmic. DPBag's lines rise with the number of partitions and lie above "
            "one partition's; exact composition lies above all of them.",
        ),
        Item(
            "student_accuracy",
            "Students over the budget",
            "bagging_students",
            alt="The same panels: accuracy of the student over epsilon, with bars of one standard "
            "deviation. It rises towards the dotted line of the model trained without privacy.",
        ),
        Item("labels", "Labels that budgets buy whatever the votes are", "affordable_labels"),
        Item("conjecture", "The supplement's conjecture", "conjecture"),
    ),
)
PLANNER = Section(
    paper="planner",
    title="Planner: which mechanism should I use?",
    items=(
        Item(
            "correct_labels",
            "Expected right labels over the budget",
            "planner",
            alt="Line plot, one line per mechanism: expected right labels over the total epsilon, "
            "logarithmic. All rise to the number of labels wanted; the order at small budgets is "
            "that of the table below.",
        ),
        Item("planner", "Mechanisms at their best parameters, by budget", "planner"),
        Item("audit", "One label of every mechanism, audited", "planner_audit"),
    ),
)
NZC = Section(
    paper="nzc",
    title="NZC: a large constant, no privacy",
    items=(
        Item("table1", "Table 1: students and claimed privacy", "nzc_table1"),
        Item("table2", "Table 2: accuracy of labels", "nzc_table2"),
        Item("leads", "The truth: delta of one label by lead and rule for ties", "nzc_leads"),
        Item(
            "figure2",
            "Figure 2: ensembles and distances",
            "nzc_figure2",
            alt="Three panels. Left: accuracy of the plurality falls as teachers become more. "
            "Middle: share of queries whose lead exceeds n, falling with n. Right: share of "
            "queries with a lead above 2, which grows with the teachers, and how many of them "
            "are wrong, which grows as well.",
        ),
    ),
)
AUDIT = Section(
    paper="audit",
    title="Audit: claimed, proven and exact privacy of every mechanism",
    items=(
        Item(
            "claimed_exact",
            "Claimed against exact privacy",
            "claimed_exact",
            alt="One line per mechanism and setting from its exact to its claimed epsilon, "
            "logarithmic. The published GNMax spends a quarter of its claim; exact noise, the "
            "ladder and the optimised DaRRM spend all; NZC's lines are red and leave the picture.",
        ),
        Item("totals", "What many labels cost together, by three compositions", "audit_totals"),
    ),
)
SECTIONS = (DARRM, PATE, DPBAG, NZC, PLANNER, AUDIT)
