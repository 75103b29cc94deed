"""The findings of NZC at the top of the page, which this run's own numbers bear out."""

from private_ensembles.papers.common.findings import (
    Finding,
    RunTables,
    read_first,
    write_nearest,
    write_upper_bound,
)

# The run has the paper's data set, or else the stand-in.
_DATA = ("mnist", "digits")


def constant_of_nzc(tables: RunTables) -> Finding:
    """Return what one label of NZC costs, beside the claim for all labels."""
    labels = tables.select_rows("nzc/tables/table1", aggregator="nzc", task=_DATA)
    claimed, exact = read_first(labels, "claimed_epsilon"), read_first(labels, "true_epsilon")
    kind = "broken" if claimed < exact else ""
    claim = (
        f"The paper claims ε = {write_nearest(claimed, 2)} for "
        f"{write_nearest(read_first(labels, 'queries'), 5)} labels"
    )
    if claimed < exact and exact > 100:
        title = "The constant that makes labels immutable takes all privacy away"
        text = (
            f"{claim}. In spite of the noise they are the exact plurality's, so one vote can "
            f"change a label almost surely: a single label costs ε = {write_upper_bound(exact, 2)}."
        )
    elif claimed < exact:
        title = "A label of NZC costs more than is claimed for all of them"
        text = f"{claim}; a single one costs ε = {write_upper_bound(exact, 2)}."
    else:
        title = "A label of NZC costs no more here than is claimed for all of them"
        text = (
            f"{claim}; a single one costs ε = {write_upper_bound(exact, 2)} at this constant and "
            "noise."
        )
    return Finding("nzc", title, text, "docs/nzc.md", kind)


FINDINGS = (constant_of_nzc,)
