"""Rows of ``fidelity.csv`` for relations, after those of the printed numbers."""

from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from private_ensembles.published import declarations
from private_ensembles.published.comparison import COLUMNS, RELATION, reason_not_run
from private_ensembles.published.parameters import altered
from private_ensembles.published.printed import KEY, Key
from private_ensembles.published.relations import darrm, dpbag, nzc, pate
from private_ensembles.published.relations.evidence import Evidence
from private_ensembles.published.relations.judging import Relation, judge

# By paper, what yields its relations.
PAPERS: Mapping[str, Callable[[Evidence], Iterator[Relation]]] = {
    "darrm": darrm.relations,
    "pate": pate.relations,
    "dpbag": dpbag.relations,
    "nzc": nzc.relations,
}


def compare_relations(
    published: pd.DataFrame,
    tables: Mapping[str, Mapping[str, pd.DataFrame]],
    settings: Mapping[str, Mapping] | None = None,
    *,
    data: str,
) -> pd.DataFrame:
    """Return one row of COLUMNS per relation; arguments as `comparison.compare` takes them.

    Raises ValueError for two relations of one name.
    """
    settings = settings or {}
    rows = []
    for name in published["paper"].unique():
        paper, run = declarations.paper(name), settings.get(name, {})
        evidence = Evidence(paper, published, tables.get(name, {}), run)
        for relation in PAPERS[name](evidence):
            key = Key(name, relation.item, relation.dataset, relation.row, relation.column)
            place = {**key._asdict(), "published": f"{relation.published:.6g}", "kind": RELATION}
            rows.append(place | {"published_sd": ""} | _status(evidence, relation, key, data))
    table = pd.DataFrame(rows, columns=COLUMNS)
    twice = table.duplicated(KEY)
    if twice.any():
        raise ValueError(f"relations: {tuple(table.loc[twice, KEY].iloc[0])} occurs twice")
    return table


def _status(evidence: Evidence, relation: Relation, key: Key, data: str) -> dict[str, object]:
    paper, run = evidence.paper, evidence.settings
    if relation.ours is None:
        note = relation.missing or reason_not_run(paper, key, run, data)
        return {"status": "not_run", "note": note}
    changed = altered(paper, key, relation.table, run) if relation.kind != "printed" else ""
    if changed:
        numbers = {"reproduced": relation.ours.value, "status": "not_comparable"}
        return numbers | {"note": paper.altered.format(differences=changed)}
    return judge(relation)
