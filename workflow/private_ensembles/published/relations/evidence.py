"""What relations are judged by: a paper's printed numbers, our tables and the run's settings."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from private_ensembles.published.declarations import Paper
from private_ensembles.published.reproduced import stand_ins


@dataclass(frozen=True)
class Evidence:
    """published: `read_published`. tables: ours of the paper, by name. settings: the run's."""

    paper: Paper
    published: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    settings: Mapping[str, object]

    def printed(self, item: str) -> pd.DataFrame:
        """Return an item's printed numbers: dataset, row, column, published and published_sd.

        The last two are floats, NaN for no deviation. Raises ValueError if nothing is printed.
        """
        place = (self.published["paper"] == self.paper.paper) & (self.published["item"] == item)
        if not place.any():
            raise ValueError(f"{self.paper.paper}: no number is printed in {item}")
        cells = self.published.loc[place, ["dataset", "row", "column"]].copy()
        for name in ("published", "published_sd"):
            cells[name] = pd.to_numeric(self.published.loc[place, name])
        return cells.reset_index(drop=True)

    def table(self, name: str) -> pd.DataFrame | None:
        """Return a table of ours without rows of stand-ins; None if there is nothing in it."""
        table = self.tables.get(name)
        if table is None:
            return None
        table = table[~stand_ins(table)] if "stand_in" in table else table
        return None if table.empty else table

    def setting(self, name: str) -> object:
        """Return the run's setting, or the paper's where the run has none."""
        return {**self.paper.parameters, **self.settings}[name]
