"""What stands beside each plan of a ledger: the proof of it, and what labels mean.

All of it is public, and none of it depends on votes. A session states it once, and its batches keep
to it: if one could say otherwise, a label 0 would be one class in March and another in April.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from private_ensembles.release import certificate, release_plan
from private_ensembles.release.certificate import Proof
from private_ensembles.release.ledger_file import Batch
from private_ensembles.release.pool import Names, labels_text
from private_ensembles.release.release_plan import ReleasePlan


@dataclass(frozen=True)
class Terms:
    """What stands in a ledger: the plan, what labels are called, what is proven.

    Attributes:
        plan: What may be released, and with which noise.
        names: What labels and queries are called.
        proof: What is proven of the plan (`certificate.prove_or_explain`). It is found before
            anything is charged, so that nothing has to be found afterwards.
    """

    plan: ReleasePlan
    names: Names
    proof: Proof

    @classmethod
    def from_plan(cls, plan: ReleasePlan, names: Names, epsilon: float | None = None) -> Terms:
        """Return the terms of a plan with their proof, which takes some seconds for a large plan.

        Args:
            plan: What may be released, and with which noise.
            names: What labels and queries are called.
            epsilon: What all labels cost at most, if that is less than the plan's budget.
        """
        return cls(plan, names, certificate.prove_or_explain(plan, epsilon))

    def labels_text(self, batch: Batch) -> str:
        """Return a batch's labels as CSV (`pool.labels_text`); no rows if they were lost."""
        return labels_text(batch.labels_to_show, ids=batch.ids, names=self.names)

    def to_json(self) -> str:
        """Return the terms as JSON, from which `read_terms` makes them again, float for float."""
        stated = {"plan": self.plan.to_json(), "names": asdict(self.names)}
        return json.dumps(stated | {"proof": asdict(self.proof)}, sort_keys=True)


def read_terms(text: str) -> Terms:
    """Return the terms that `Terms.to_json` wrote; ValueError for any other text."""
    try:
        stated = json.loads(text)
        names, proof = stated["names"], stated["proof"]
        if names["class_names"] is not None:
            names["class_names"] = tuple(names["class_names"])
        curve = tuple((epsilon, delta) for epsilon, delta in proof["curve"])
        plan = release_plan.read_plan(stated["plan"])
        return Terms(plan, Names(**names), Proof(proof["body"], curve))
    except (KeyError, TypeError) as error:
        raise ValueError(f"the terms of the session cannot be read: {error}") from None
