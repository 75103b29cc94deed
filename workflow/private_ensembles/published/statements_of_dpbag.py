"""What DPBag's supplement states of its mathematics, worked out again: equation 3.

As `statements_of_darrm`; the rows are in ``dpbag_statements.csv``.
"""

from collections.abc import Mapping

from private_ensembles.dpbag.conjecture import study

Cell = Mapping[str, str]

# A small ensemble of two classes, of which every vote is tried, and the supplement's lambda and l.
TEACHERS, PARTITIONS = 10, 4
NOISES, ORDERS = (0.2, 1.0, 2.0), (1, 2, 8)


def violations_of_equation_3(cell: Cell) -> float:
    """Equation 3: at how many votes of PATE's condition the exact moment is above it.

    The column says from which data set to which: the one with the record to the one without
    (``removed``), or the other way round (``added``).
    """
    direction = {"violations_removed": "forward", "violations_added": "backward"}[cell["column"]]
    rows = study(NOISES, TEACHERS, PARTITIONS, ORDERS)
    mine = (row for row in rows if row["direction"] == direction and row["condition"])
    return float(sum(row["violations"] for row in mine))


def equation_3_covers_one_direction(cell: Cell) -> bool:
    """It holds from the data with the record to the data without, and not the other way round."""
    removed, added = (
        violations_of_equation_3({**cell, "column": f"violations_{which}"})
        for which in ("removed", "added")
    )
    return cell["published"] == "0" and removed == 0 < added
