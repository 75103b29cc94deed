"""Figures that were drawn and would be saved, and the tables in docs/ that they are drawn from."""

import pandas as pd
import pytest

from private_ensembles.papers.common import style


@pytest.fixture
def drawn(monkeypatch):
    """The figures that would have been saved, in their order."""
    figures = []
    monkeypatch.setattr(style, "save_figure", lambda figure, *paths: figures.append(figure))
    return figures


@pytest.fixture(scope="module")
def published(root):
    """A table in docs/, by its path there; several together."""

    def read(*names):
        return pd.concat(pd.read_csv(root / "docs" / f"{name}.csv") for name in names)

    return read
