"""A committee: m of K private teachers, drawn once, answer every query by their plurality.

The committee is no function of the data, and the other teachers never speak. Who sits on it may be
known. Ties are broken by lot.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from private_ensembles.audit.audited_labels import SharedDataLabel
from private_ensembles.audit.histograms import both_counts
from private_ensembles.base.noise_sources import NoiseSource
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.votes import Votes, vote_histograms
from private_ensembles.papers.darrm.mathematics.committee import plurality_probabilities
from private_ensembles.papers.darrm.mathematics.gamma import subsampling_probability


@dataclass(frozen=True)
class Members(Parameters):
    """The size of a committee.

    Attributes:
        members: how many teachers sit on the committee.
        labels: how many labels it gives.
    """

    members: int
    labels: int


class Committee(Law):
    """The plurality of a committee. Several labels need each teacher's votes (`answer`)."""

    needs_only_counts = False

    def distribution(self, counts, parameters, secure=False):
        """Return Pr[label] over the draw of the committee, exact up to rounding."""
        return plurality_probabilities(counts, parameters.members)

    def numerical_error(self, n_teachers, n_classes, parameters, secure=False):
        """Return by how much `distribution` may be off."""
        return {"relative_error": 1e-10, "absolute_error": 1e-300}

    def answer(self, votes: Votes, parameters: Members, source: NoiseSource) -> NDArray[np.int64]:
        """Let the same committee answer all queries.

        Args:
            votes: each teacher's.
            parameters: how many teachers are drawn.
            source: of the draw and of lots.

        Returns:
            (queries,) labels.

        Raises:
            ValueError: only the counts of the votes are known.
        """
        if votes.votes is None:
            raise ValueError("votes: a committee needs each teacher's votes, not counts")
        (chosen,) = source.subsets(1, votes.n_teachers, parameters.members)
        return source.argmax_fair_ties(vote_histograms(votes.votes[:, chosen], votes.n_classes))

    def draw(self, counts, parameters, source):
        """Draw a new committee for every row; more than one such label is not for release."""
        counts = np.asarray(counts)
        # Teachers are numbered in the order of their votes.
        ends = counts.cumsum(axis=1)[:, None]
        chosen = source.subsets(len(counts), int(counts[0].sum()), parameters.members)
        voted = (chosen[..., None] >= ends).sum(axis=-1)
        classes = np.arange(counts.shape[1])
        return source.argmax_fair_ties((voted[..., None] == classes).sum(axis=1))

    def scale_noise(self, parameters, factor):
        """Return a committee with more members than the budget pays for."""
        return replace(parameters, members=round(parameters.members / factor))

    def build_audit(self, task, parameters):
        """Audit one label of two classes against all teachers that are as private as stated."""
        K, members = task.ensemble.teachers, min(parameters.members, task.ensemble.teachers)
        seated = replace(parameters, members=members)

        def choose(ones: NDArray, source: NoiseSource) -> NDArray:
            return self.draw(both_counts(K)[ones], seated, source)

        teacher = task.teacher_cost()
        probabilities = subsampling_probability(K, members)
        return SharedDataLabel(probabilities, (teacher.epsilon, teacher.delta), choose)


LAW = Committee()
