"""The best label there is for teachers who agree as stated: the solution of a linear program."""

from dataclasses import dataclass

import numpy as np

from private_ensembles.accounting.adaptive.families import Pairs
from private_ensembles.audit.histograms import sorted_histograms
from private_ensembles.mechanisms.laws import exponential, ladder
from private_ensembles.mechanisms.laws.table import TableLaw
from private_ensembles.noise import secure
from private_ensembles.optimal_label import drawn_votes
from private_ensembles.optimal_label.best_label import BestLabel, best_label
from private_ensembles.optimal_label.sorted_histograms import moves
from private_ensembles.votes.synthetic import ConsensusProfile

# Sorted histograms up to which a program is solved to the optimum itself; beyond, the share of the
# bound on every mechanism that may be missing.
EXACT, GAP = 60, 0.005
# If nothing is known about the teachers; a planner chooses.
ACCURACY = 0.7


@dataclass(frozen=True)
class ProfiledLabel(ladder.LeakyLabel):
    """What the label is optimal for; with two classes, any profile.

    accuracy: of one teacher; None if a profile of their consensus takes its place. drawn: how
    many of the votes are drawn, whose label is released; None: it is that of all.
    """

    accuracy: float | None = ACCURACY
    profile: ConsensusProfile | None = None
    drawn: int | None = None

    def shown(self):
        """Leave out the profile, which is the task's and not a number."""
        return {name: value for name, value in super().shown().items() if name != "profile"}


class OptimalLabel(TableLaw):
    """The ladder on two classes; on more, the row of the solved program for each histogram.

    Of more votes than programs have room for, the label is that of as many as they have, drawn each
    time. Secure labels of more than two classes are dice of whole units.
    """

    pairs_of_many = True

    def chances(self, counts, parameters):
        if counts.shape[1] == 2:
            return ladder.LAW.chances(counts, parameters)
        solved = _solved(int(counts[0].sum()), counts.shape[1], parameters)
        if parameters.drawn is None:
            return solved.distribution(counts)
        return drawn_votes.distribution(solved, counts)

    def right(self, counts, labels, parameters, secure=False):
        counts = np.asarray(counts)
        if counts.shape[1] == 2 or parameters.drawn is None:
            return super().right(counts, labels, parameters, secure)
        solved = _solved(int(counts[0].sum()), counts.shape[1], parameters)
        return drawn_votes.right(solved, counts, labels)

    def error(self, n_teachers, n_classes, parameters, secure=False):
        """Return the ladder's error; for drawn votes, that of the sum over samples."""
        error = ladder.LAW.error(n_teachers, n_classes, parameters)
        if n_classes == 2 or parameters.drawn is None:
            return error
        return error | {"relative_error": drawn_votes.RELATIVE_ERROR}

    def draw(self, counts, parameters, source):
        """Draw secure labels of more than two classes by exact dice, after any draw of votes."""
        counts = np.asarray(counts)
        if not source.secure or counts.shape[1] == 2:
            return super().draw(counts, parameters, source)
        n_teachers, C = int(counts[0].sum()), counts.shape[1]
        solved = _solved(n_teachers, C, parameters)
        if parameters.drawn is not None:
            voters = secure.subsets(len(counts), n_teachers, parameters.drawn)
            classes = (voters[:, :, None] >= counts.cumsum(axis=1)[:, None, :]).sum(axis=2)
            counts = (classes[:, :, None] == np.arange(C)).sum(axis=1)
        units, groups = solved.shares(counts)
        chosen = np.take_along_axis(groups, secure.weighted(units)[:, None], axis=1)
        return secure.largest((groups == chosen).astype(np.int64))

    def draw_seeded(self, counts, parameters, generator):
        """Draw with one uniform number per query; for two classes as the ladder does."""
        if counts.shape[1] == 2:
            return ladder.LAW.draw_seeded(counts, parameters, generator)
        below = self.distribution(counts, parameters).cumsum(axis=1)[:, :-1]
        return (generator.random((len(counts), 1)) > below).sum(axis=1)

    def less_noise(self, parameters, factor):
        return ladder.LAW.less_noise(parameters, factor)

    def pairs(self, task, parameters):
        """Return, for more than two classes, all moves up to the names of the classes."""
        if task.n_classes == 2:
            return super().pairs(task, parameters)
        self.require_pairs(task)
        chances = _solved(task.votes_in_all, task.n_classes, parameters).probabilities
        listed = moves(task.votes_in_all, task.n_classes)
        first, second = listed.pairs.T
        before, after = chances[listed.placed[first]], chances[listed.placed[second]]
        return Pairs(before, after, 2.0**-52, 1e-300)


def _solved(n_teachers: int, n_classes: int, parameters: ProfiledLabel) -> BestLabel:
    """Return the label of these parameters, cached by them; for drawn votes, that of a sample."""
    epsilon, delta = parameters.label_epsilon, parameters.label_delta
    if parameters.drawn is not None:
        epsilon, delta = drawn_votes.budget_of_the_drawn(
            epsilon, delta, n_teachers, parameters.drawn
        )
        n_teachers = parameters.drawn
    return best_label(
        n_teachers,
        n_classes,
        epsilon,
        delta,
        accuracy=parameters.accuracy,
        profile=parameters.profile,
        gap=GAP if sorted_histograms(n_teachers, n_classes) > EXACT else None,
        start=_flips,
    )


def _flips(counts, epsilon):
    """Start from permute-and-flip, so that no label is right less often."""
    return exponential.weigh(counts, epsilon / 2)


LAW = OptimalLabel()
