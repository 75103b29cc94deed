"""A committee: m of K private teachers, drawn once, answer every query by their plurality.

The committee is no function of the data, and the other teachers never speak. Who sits on it may be
known. Ties are broken by lot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from private_ensembles.accounting.poisson_binomial import binomial_table
from private_ensembles.darrm.gamma import subsampling_probability
from private_ensembles.mechanisms.audited import OnTeachers, both_counts
from private_ensembles.mechanisms.laws.law import Law
from private_ensembles.mechanisms.parameters import Parameters
from private_ensembles.noise.sources import Source
from private_ensembles.votes.cache import Votes, counts

_ROWS = 256  # histograms that are worked on at once
_NEGLIGIBLE = 1e-18  # what this many members together lose is far below rounding


@dataclass(frozen=True)
class Members(Parameters):
    """members: how many teachers sit on the committee."""

    members: int
    labels: int


class Committee(Law):
    """Several labels need each teacher's votes (`answer`); a row of counts tells one."""

    of_counts = False

    def distribution(self, counts, parameters, secure=False):
        """Return Pr[label] over the draw of the committee, exact up to rounding."""
        return plurality_chances(counts, parameters.members)

    def error(self, n_teachers, n_classes, parameters, secure=False):
        return {"relative_error": 1e-10, "absolute_error": 1e-300}

    def answer(self, votes: Votes, parameters: Members, source: Source) -> NDArray[np.int64]:
        """Let the same committee answer all queries, (queries,).

        Raises ValueError if only the counts of the votes are known.
        """
        if votes.votes is None:
            raise ValueError("votes: a committee needs each teacher's votes, not counts")
        (chosen,) = source.subsets(1, votes.n_teachers, parameters.members)
        return source.fairest(counts(votes.votes[:, chosen], votes.n_classes))

    def draw(self, counts, parameters, source):
        """Draw a new committee for every row; more than one such label is not for release."""
        counts = np.asarray(counts)
        ends = counts.cumsum(axis=1)[:, None]  # teachers in the order of their votes
        chosen = source.subsets(len(counts), int(counts[0].sum()), parameters.members)
        voted = (chosen[..., None] >= ends).sum(axis=-1)
        classes = np.arange(counts.shape[1])
        return source.fairest((voted[..., None] == classes).sum(axis=1))

    def less_noise(self, parameters, factor):
        """Return a committee with more members than the budget pays for."""
        return replace(parameters, members=round(parameters.members / factor))

    def audited(self, task, parameters):
        """Audit one label of two classes against all teachers that are as private as stated."""
        K, members = task.n_teachers, min(parameters.members, task.n_teachers)
        seated = replace(parameters, members=members)

        def choose(ones: NDArray, source: Source) -> NDArray:
            return self.draw(both_counts(K)[ones], seated, source)

        teacher = task.teacher_cost()
        chances = subsampling_probability(K, members)
        return OnTeachers(chances, (teacher.epsilon, teacher.delta), choose)


def plurality_chances(counts: NDArray, members: int) -> NDArray[np.float64]:
    """Return Pr[class j wins among `members` teachers drawn without replacement], (queries, C).

    counts: (queries, C), each row adding up to the teachers. Ties are broken by lot. Exact up to
    rounding, below 1e-11.

    >>> plurality_chances(np.array([[2, 1, 0], [1, 1, 1]]), 2).round(4).tolist()
    [[0.6667, 0.3333, 0.0], [0.3333, 0.3333, 0.3333]]
    """
    counts = np.asarray(counts)
    if counts.shape[1] == 2:
        ones = subsampling_probability(int(counts[0].sum()), members)[counts[:, 1]]
        return np.stack([1 - ones, ones], axis=1)
    # Which class is which does not matter: equal histograms are worked out once.
    order = np.argsort(-counts, axis=1, kind="stable")
    ordered = np.take_along_axis(counts, order, axis=1)
    different, place = np.unique(ordered, axis=0, return_inverse=True)
    parts = [_of_many(different[i : i + _ROWS], members) for i in range(0, len(different), _ROWS)]
    found = np.empty(counts.shape)
    np.put_along_axis(found, order, np.concatenate(parts)[place.ravel()], axis=1)
    return found


def _of_many(counts: NDArray, members: int) -> NDArray[np.float64]:
    """Multivariate hypergeometric: independent binomials, given that they add up to `members`.

    Class j wins with s votes if every other one has fewer, or if t others have s as well and the
    lot falls on j, 1 / (t + 1) = the integral of y^t over [0, 1]: polynomials in the votes of the
    others, each equal vote weighed by y, at the nodes of Gauss and Legendre, exact in y.
    """
    K, C = int(counts[0].sum()), counts.shape[1]
    table = binomial_table(K, members / K, members + 1)
    chances = table[counts]  # (rows, C, members + 1)
    won = np.zeros(counts.shape)
    for s in range(-(-members // C), min(members, int(counts.max())) + 1):
        if chances[..., s].max() < _NEGLIGIBLE:
            continue
        left, most = members - s, min(C, members // s)
        nodes, weights = leggauss((most + 1) // 2)
        y, weights = (nodes + 1) / 2, weights / 2
        each = np.repeat(chances[:, :, None, : s + 1], len(y), axis=2)
        each[..., s] *= y
        one = np.zeros((len(counts), len(y), left + 1))
        one[..., 0] = 1.0
        before, after = [one], [one]
        for k in range(C - 1):
            before.append(_product(before[-1], each[:, k]))
            after.append(_product(after[-1], each[:, C - 1 - k]))
        for j in range(C):
            others = (before[j] * after[C - 1 - j][..., ::-1]).sum(axis=-1) @ weights
            won[:, j] += chances[:, j, s] * others
    return won / table[K, members]


def _product(one: NDArray, other: NDArray) -> NDArray[np.float64]:
    """The product of polynomials (..., terms), as many terms as `one` has."""
    out = np.zeros_like(one)
    width = one.shape[-1]
    for i in range(min(other.shape[-1], width)):
        if other[..., i].max() >= _NEGLIGIBLE:
            out[..., i:] += one[..., : width - i] * other[..., i, None]
    return out


LAW = Committee()
