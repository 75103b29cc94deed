"""Tables 1 and 2 of PATE from the votes of the paper's own ensembles, where somebody has them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from private_ensembles.experiments.marks import NOT_FOR_RELEASE
from private_ensembles.experiments.pate import confident_account, noise_of
from private_ensembles.pate.rounds import confident_round
from private_ensembles.votes.cache import Votes


def authors_votes(
    votes: Mapping[str, Votes], settings: Mapping[str, Mapping[str, object]]
) -> pd.DataFrame:
    """Account for Confident-GNMax on an ensemble's first queries, one row per task.

    votes: by task. settings: by task, K, delta, confident, printed, orders. The paper's code takes
    the first `queries` rows of a file and expects over the thresholds alone, so nothing is drawn.

    Columns: task, stand_in, aggregator, answered (expected) and its standard deviation, and every
    quantity of `pate.account` for a confident aggregator. Raises ValueError naming the task for
    another number of teachers, and for fewer queries.
    """
    rows = []
    for task, ensemble in votes.items():
        chosen = settings[task]
        queries = chosen["confident"]["queries"]
        place = f"{task}: the authors' votes have"
        if ensemble.n_teachers != chosen["K"]:
            found = f"{ensemble.n_teachers} teachers"
            raise ValueError(f"{place} {found}: expected {chosen['K']}")
        if ensemble.n_queries < queries:
            found = f"{ensemble.n_queries} queries"
            raise ValueError(f"{place} {found}: expected at least {queries}")
        asked = ensemble.histogram()[:queries]
        confident = confident_round(asked, **noise_of(chosen["confident"]))
        quantities = confident_account([confident], chosen, chosen["printed"])
        row = {"task": task, "stand_in": False, "aggregator": "confident"}
        row |= {name: value for name, (value, _) in quantities.items()}
        chance = confident.answer_probability
        row["answered_sd"] = float(np.sqrt((chance * (1 - chance)).sum()))
        rows.append(row | {"release": NOT_FOR_RELEASE})
    return pd.DataFrame(rows)
