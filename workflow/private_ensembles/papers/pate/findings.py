"""The findings of PATE at the top of the page, which this run's own numbers bear out."""

from private_ensembles.papers.common.findings import (
    Finding,
    RunTables,
    read_column,
    write_lower_bound,
    write_upper_bound,
)


def theorem_23(tables: RunTables) -> Finding:
    """Return what publishing a sanitised cost leaks, over what PATE's formula says."""
    ratios = read_column(
        tables.select_rows("pate/tables/table2"), "gnss_rdp", over="gnss_rdp_paper"
    )
    least, most = write_lower_bound(ratios.min()), write_upper_bound(ratios.max())
    rows, failing = len(ratios), int((ratios > 1).sum())
    leaks = "What publishing a sanitised cost leaks is"
    kind = "theorem" if failing else ""
    if failing == rows:
        title = "The privacy of the sanitised costs (Theorem 23) fails in every row of Table 2"
        text = (
            f"{leaks} {least} to {most} times what the paper's formula says, in the {rows} rows of "
            "this run; the exact cost is used instead."
        )
    elif failing:
        title = (
            f"The privacy of the sanitised costs (Theorem 23) fails in {failing} of {rows} rows of "
            "Table 2"
        )
        text = (
            f"{leaks} up to {most} times what the paper's formula says, and at the least {least} "
            "times. The exact cost is used instead."
        )
    else:
        title = (
            "The paper's formula for publishing a sanitised cost (Theorem 23) is large enough here"
        )
        text = (
            f"{leaks} {least} to {most} times what the formula says, in the {rows} rows of this "
            "run. It fails for other noise, so the exact cost is used instead."
        )
    return Finding("pate", title, text, "docs/pate.md#theorem-23-as-printed-does-not-hold", kind)


FINDINGS = (theorem_23,)
