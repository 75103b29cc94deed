"""The findings of DPBag at the top of the page, which this run's own numbers bear out."""

from private_ensembles.papers.common.findings import (
    Finding,
    RunTables,
    read_column,
    read_first,
    write_lower_bound,
    write_nearest,
    write_upper_bound,
)

_COUNTS = "dpbag/tables/table6"


def plain_labels(tables: RunTables) -> Finding:
    """Return how many labels composing whole losses buys, over what DPBag's accountant allows."""
    counts = tables.select_rows(_COUNTS, accounting="personalised")
    ratios = read_column(counts, "plain_labels", over="releasable_mean")
    least, most = write_lower_bound(ratios.min(), 2), write_upper_bound(ratios.max(), 2)
    rows, gaining = len(ratios), int((ratios > 1).sum())
    same, kind = "At the same noise, ε and δ", "noise" if gaining else ""
    if gaining == rows:
        title = (
            "Composing a label's whole loss, for everyone, buys more labels than the personalised "
            "accountant"
        )
        text = (
            f"{same} it allows {least} to {most} times as many labels, for every record and "
            "whatever the votes. So the number of labels gives nothing away about the votes."
        )
    elif gaining:
        title = (
            "Composing a label's whole loss, for everyone, buys more labels in "
            f"{gaining} of {rows} rows"
        )
        text = (
            f"{same} it allows {least} to {most} times as many labels as the personalised "
            "accountant, for every record and whatever the votes."
        )
    else:
        title = (
            "The personalised accountant buys as many labels as composing a label's whole loss does"
        )
        text = (
            f"{same} the latter allows {least} to {most} times as many, for every record and "
            "whatever the votes."
        )
    return Finding("dpbag", title, text, "docs/dpbag.md", kind)


def equation_3(tables: RunTables) -> Finding:
    """Return whether the paper's smallest counts are those of the unproven equation 3."""
    counts = tables.select_rows(_COUNTS, dataset="adult", n=50, k=10, epsilon=1, delta=0.001)
    stated, trusted = (
        read_first(counts[counts["accounting"] == accounting], "first_exceeding_mean")
        for accounting in ("personalised", "conjectured")
    )
    text = (
        "The paper prints 20 labels for 50 shards, 10 partitions and ε = 1. The accounting that it "
        f"states gives {write_nearest(stated)}, the supplement's unproven equation 3 gives "
        f"{write_nearest(trusted)}."
    )
    if stated < 15 < trusted:
        title = "The paper's smallest counts of labels rest on an equation that nobody has proven"
        text += (
            " The equation is violated in one of the two directions of privacy, so nothing is "
            "released by it here."
        )
    else:
        title = "The paper's smallest counts of labels do not come from an unproven equation here"
    return Finding("dpbag", title, text, "docs/dpbag.md#findings")


FINDINGS = (
    plain_labels,
    equation_3,
)
