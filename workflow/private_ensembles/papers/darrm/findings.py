"""The findings of DaRRM at the top of the page, which this run's own numbers bear out."""

from private_ensembles.labels.display_names import dataset_label
from private_ensembles.papers.common.findings import (
    Finding,
    RunTables,
    read_column,
    read_first,
    write_nearest,
    write_upper_bound,
)

# A finding is about the paper's data set and number of queries if the run has them, or else about
# the stand-in's.
_DATA = ("mnist", "digits")
_QUERIES = (100, 50)
_ACCURACIES = "darrm/tables/table1"


def majority_of_private_teachers(tables: RunTables) -> Finding:
    """Return what the plain majority of private teachers costs, and how often it is right."""
    costs = tables.select_rows("darrm/tables/table2", dataset=_DATA, queries=_QUERIES)
    disjoint_shards, total = (
        read_first(costs, "epsilon_disjoint_shards"),
        read_first(costs, "epsilon_total"),
    )
    queries = write_nearest(read_first(costs, "queries"))
    data = dataset_label(read_first(costs, "dataset"))
    majority, optimised = (
        read_first(
            tables.select_rows(_ACCURACIES, dataset=_DATA, queries=_QUERIES, mechanism=mechanism),
            "expected_accuracy",
        )
        for mechanism in ("majority_private", "darrm_opt")
    )
    measured = tables.select_rows(_ACCURACIES, dataset=_DATA)
    plainly = f"plain majority costs ε = {write_upper_bound(disjoint_shards)}"
    charged = f"the paper charges {write_nearest(total, 4)} for {queries} ({data})."
    compared = (
        f"{write_nearest(majority)}, those of the optimised mechanism with probability "
        f"{write_nearest(optimised)} ({dataset_label(read_first(measured, 'dataset'))})."
    )
    if disjoint_shards >= total:
        title = (
            "At so few queries the private teachers' majority is no cheaper than the paper's labels"
        )
        text = f"On disjoint shards the {plainly} for any number of queries; {charged}"
    elif optimised <= majority:
        title = "On disjoint shards the private teachers' majority needs no noise"
        text = (
            f"One record reaches one private teacher only, so the {plainly} (if a record is "
            f"replaced) for any number of queries; {charged} Its labels are right with probability "
            f"{compared}"
        )
    else:
        title = (
            "On disjoint shards the private teachers' majority needs no noise, and is right less "
            "often"
        )
        text = (
            f"The {plainly} for any number of queries; {charged} But its labels are right with a "
            f"probability of only {compared}"
        )
    return Finding("darrm", title, text, "docs/method.md#private-teachers")


def published_totals(tables: RunTables) -> Finding:
    """Return what all private teachers cost, beside the paper's total for some labels."""
    costs = tables.select_rows("darrm/tables/table2", dataset=_DATA, queries=_QUERIES)
    teachers, total = read_first(costs, "epsilon_all_teachers"), read_first(costs, "epsilon_total")
    if teachers < total / 2:
        title = "The published totals are far from tight"
    elif teachers < total:
        title = "The published totals are not tight"
    else:
        title = "So few labels are charged less than all teachers cost"
    text = (
        f"To publish all private teachers once costs ε = {write_upper_bound(teachers)} and answers "
        "any number of queries; the paper's total for "
        f"{write_nearest(read_first(costs, 'queries'))} queries at the same δ is "
        f"{write_nearest(total, 4)} ({dataset_label(read_first(costs, 'dataset'))})."
    )
    return Finding("darrm", title, text, "docs/darrm.md#the-published-totals")


def noise_of_gnmax(tables: RunTables) -> Finding:
    """Return GNMax's noise as the paper finds it, beside other proofs of the same privacy."""
    sigmas = tables.select_rows("darrm/tables/table4", dataset=_DATA)
    rdp, analytic, exact = (
        read_first(sigmas, f"sigma_{analysis}") for analysis in ("rdp", "analytic", "exact")
    )
    kind = "noise" if analytic < rdp else ""
    if analytic < rdp and exact < analytic:
        title = "GNMax needs less noise than the paper gives it"
    elif analytic < rdp:
        title = (
            "GNMax needs less noise than the paper gives it, and no less than its noisy counts need"
        )
    else:
        title = "The paper's search for GNMax's noise finds as little as can be proven"
    text = (
        f"For the privacy of one label on {dataset_label(read_first(sigmas, 'dataset'))} the "
        f"paper's search finds σ = {write_nearest(rdp, 4)} votes. The analytic Gaussian mechanism "
        f"proves the same privacy with {write_upper_bound(analytic, 4)}, and the label's own "
        f"distribution with {write_upper_bound(exact)}."
    )
    return Finding("darrm", title, text, "docs/method.md#gaussian-noise-on-the-counts", kind)


def sampled_objective(tables: RunTables) -> Finding:
    """Return how far off Algorithm 4's coefficients are, however many draws there are."""
    objective = tables.select_rows(
        "darrm/tables/objectives", algorithm="algorithm4", sampling="uniform:0,1", estimate="limit"
    )
    error = read_first(objective, "coefficient_error")
    if error == 1:
        title = "One of the two Monte-Carlo objectives estimates nothing"
        text = (
            "If it is sampled from [0, 1], as appendix C.2 says, Algorithm 4's objective is 0 for "
            f"every γ: the error of its coefficients is {write_nearest(error)} of their size, "
            "however many draws there are. "
        )
    else:
        title = "One of the two Monte-Carlo objectives is off, however many draws"
        text = (
            "If p is sampled from [0, 1], as appendix C.2 says, the error of Algorithm 4's "
            f"coefficients tends to {write_nearest(error)} of their size. "
        )
    text += "Here γ is optimised for the exact objective instead, which has a closed form."
    return Finding("darrm", title, text, "docs/method.md")


def noise_in_figure_6(tables: RunTables) -> Finding:
    """Return whether the optimised γ of Figure 6 errs at all."""
    curve = tables.select_rows(
        "darrm/tables/figure6", family="gamma_opt", quantity="expected_error"
    )
    error = read_column(curve, "y").max()
    if error < 1e-9:
        title = "Figure 6 compares mechanisms where no noise is needed"
        text = (
            "At the figure's δ the optimised γ is 1 everywhere: its largest expected error is "
            f"{write_upper_bound(error, 2)}, so subsampling is compared with the noiseless "
            "majority."
        )
    else:
        title = "Figure 6 compares mechanisms where noise is needed"
        text = (
            "At the figure's δ the largest expected error of the optimised γ is "
            f"{write_upper_bound(error, 2)}."
        )
    return Finding("darrm", title, text, "docs/method.md")


def theorem_4_1(tables: RunTables) -> Finding:
    """Return how near to the claim of Theorem 4.1 a loss was found, if several are drawn."""
    losses = tables.select_rows("darrm/tables/amplification")
    losses = losses[losses["drawn"] > 1]
    share = read_column(losses, "largest_loss", over="claimed_loss").max()
    text = (
        "The largest loss that double subsampling of i.i.d. teachers was found to cost is "
        f"{write_upper_bound(share, 4)} of the one that the theorem claims."
    )
    kind = ""
    if share > 1 + 1e-9:
        title, kind = "Double subsampling costs more than Theorem 4.1 claims", "theorem"
    elif share > 1 - 0.001:
        title = "Theorem 4.1 cannot be improved"
        text = (
            "The largest loss that double subsampling of i.i.d. teachers was found to cost is "
            "within a thousandth of the one that the theorem claims. It gets there as the "
            "teachers' probability goes to 0."
        )
    else:
        title = "No loss near the claim of Theorem 4.1 was found"
    page = "docs/method.md#11-double-subsampling-proven-conjectured-checked"
    return Finding("darrm", title, text, page, kind)


def lead_over_gnmax(tables: RunTables) -> Finding:
    """Return how much of DaRRM's lead is left if GNMax has as little noise as it needs."""
    rows = tables.select_rows(_ACCURACIES, dataset=_DATA)
    optimised, gnmax, exact, ladder = (
        read_first(
            tables.select_rows(_ACCURACIES, dataset=_DATA, mechanism=mechanism), "expected_accuracy"
        )
        for mechanism in ("darrm_opt", "gnmax", "gnmax_exact", "ladder")
    )
    lead, remaining_lead = optimised - gnmax, optimised - exact
    if lead <= 0:
        title = "DaRRM does not lead GNMax here"
    elif remaining_lead <= 0:
        title = "All of DaRRM's lead over GNMax is the baseline's loose accounting"
    elif remaining_lead < lead / 2:
        title = "Most of DaRRM's lead over GNMax is the baseline's loose accounting"
    elif remaining_lead < lead:
        title = "A part of DaRRM's lead over GNMax is the baseline's loose accounting"
    else:
        title = "DaRRM's lead over GNMax is its own"
    text = (
        f"At the same (ε, δ) a label on {dataset_label(read_first(rows, 'dataset'))} is right with "
        f"probability {write_nearest(optimised)} for the optimised mechanism (all teachers may "
        f"share data), {write_nearest(gnmax)} for GNMax as the paper runs it (disjoint shards), "
        f"{write_nearest(exact)} for GNMax with as little noise as the audit of one label allows, "
        f"and {write_nearest(ladder)} for the best release of one vote count."
    )
    return Finding("darrm", title, text, "docs/audit.md#is-darrm-above-gnmax")


FINDINGS = (
    majority_of_private_teachers,
    published_totals,
    noise_of_gnmax,
    sampled_objective,
    noise_in_figure_6,
    theorem_4_1,
    lead_over_gnmax,
)
