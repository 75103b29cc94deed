"""The best label there is for teachers who agree as stated, in any number of classes."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from private_ensembles.accounting.adaptive.families import Pairs
from private_ensembles.audit.histograms import sorted_histograms
from private_ensembles.mechanisms.families.composed import label_epsilon
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.mechanisms.ladder import Ladder, LeakyLabel
from private_ensembles.mechanisms.permute_and_flip import PermuteAndFlip
from private_ensembles.noise import secure as exact
from private_ensembles.optimal_label import drawn_votes
from private_ensembles.optimal_label.best_label import BestLabel, best_label
from private_ensembles.optimal_label.drawn_votes import most_drawn
from private_ensembles.optimal_label.sorted_histograms import moves
from private_ensembles.votes.synthetic import ConsensusProfile

# Sorted histograms with which a planner does not wait for long: of one label and of several, whose
# account solves a dozen programs; and up to which each is solved to the optimum itself.
MOST, MOST_TOGETHER, EXACT = 600, 150, 60
# Beyond EXACT, the share of the bound on every mechanism that may be missing.
GAP = 0.005
# If nothing is known about the teachers; a planner chooses.
ACCURACY = 0.7


@dataclass(frozen=True)
class ProfiledLabel(LeakyLabel):
    """What the label is optimal for; with two classes, any profile.

    accuracy: of one teacher; None if a profile of their consensus takes its place. drawn: how
    many of the votes are drawn, whose label is released; None: it is that of all.
    """

    accuracy: float | None = ACCURACY
    profile: ConsensusProfile | None = None
    drawn: int | None = None

    def shown(self):
        """Leave out the profile, which is the task's and not a number."""
        return {name: one for name, one in super().shown().items() if name != "profile"}


class OptimalLabel(Ladder):
    """No (epsilon, delta)-DP label is right more often for teachers who agree as stated.

    How they agree is the task's profile. free: accuracy in its place, rounded to tenths above 1/C,
    as the label depends little on it; a given accuracy goes before the profile. On two
    classes the ladder is optimal whatever it is. Several labels of more classes spend no delta each
    and are charged together, by what each move of a vote does to them. Of more votes than programs
    have room for, one label of more than two classes is that of as many as they have, drawn each
    time.
    """

    name = "optimal_label"
    label = "Optimal label by linear program"
    source = "docs/best-label.md: no label is right more often at the stated accuracy"
    order = 34
    proof = "best-label.md#the-repair"
    color = "black"
    n_classes = None
    free = {"accuracy": (0.1, 0.9)}

    @staticmethod
    def coin_refusal(labels, n_classes):
        """Return None: coins of the ladder's floats and dice of whole units draw what is proven."""
        return None

    def further_refusal(self, task):
        """Refuse programs of many sorted histograms, which take too long."""
        if task.n_classes > 2 and task.labels > 1:
            size = sorted_histograms(task.n_teachers, task.n_classes)
            if size > MOST_TOGETHER:
                at_most = f"at most {MOST_TOGETHER} sorted histograms"
                return f"for {at_most} for several labels, not {size:,}"
        return super().further_refusal(task)

    def searched(self, task):
        """Return nothing if the label does not depend on the accuracy, or the profile is known."""
        return () if task.n_classes == 2 or task.profile is not None else super().searched(task)

    def in_parts(self, task, labels, accuracy=None):
        """Take the ladder's parts for two classes, labels without delta for more."""
        if task.n_classes == 2:
            return ProfiledLabel(**asdict(super().in_parts(task, labels)))
        prior = _prior(task, accuracy)
        if labels == 1:
            drawn = most_drawn(task.n_teachers, task.n_classes, MOST)
            drawn = drawn if drawn < task.n_teachers else None
            return ProfiledLabel(task.epsilon, task.delta, 1, *prior, drawn)
        each = label_epsilon(task.epsilon, labels, task.delta)
        return ProfiledLabel(each, 0.0, labels, *prior)

    def together(self, task, labels):
        """Charge more than one label together, for any number of classes."""
        return labels > 1

    def label_pairs(self, task, parameters):
        """Return, for more than two classes, all moves up to the names of the classes."""
        if task.n_classes == 2:
            return super().label_pairs(task, parameters)
        size = task.n_teachers, task.n_classes
        chances, listed = _solved(*size, parameters).probabilities, moves(*size)
        first, second = (chances[listed.placed[side]] for side in listed.pairs.T)
        return Pairs(first, second, 2.0**-52, 1e-300)

    def many_classes(self, counts, parameters):
        """Return Pr[label] from the solved program."""
        counts = np.asarray(counts)
        solved = _solved(int(counts[0].sum()), counts.shape[1], parameters)
        if parameters.drawn is None:
            return solved.distribution(counts)
        return drawn_votes.distribution(solved, counts)

    def error(self, n_teachers, n_classes, parameters, secure=False):
        """Return the error; for drawn votes, that of the sum over samples."""
        found = super().error(n_teachers, n_classes, parameters, secure)
        if n_classes == 2 or parameters.drawn is None:
            return found
        return found | {"relative_error": drawn_votes.RELATIVE_ERROR}

    def sample(self, counts, parameters, noise):
        """Draw secure labels of more than two classes by exact dice, after any draw of votes."""
        counts = np.asarray(counts)
        if not noise.secure or counts.shape[1] == 2:
            return super().sample(counts, parameters, noise)
        n_teachers, C = int(counts[0].sum()), counts.shape[1]
        solved = _solved(n_teachers, C, parameters)
        if parameters.drawn is not None:
            voters = exact.subsets(len(counts), n_teachers, parameters.drawn)
            classes = (voters[:, :, None] >= counts.cumsum(axis=1)[:, None, :]).sum(axis=2)
            counts = (classes[:, :, None] == np.arange(C)).sum(axis=1)
        units, groups = solved.shares(counts)
        chosen = np.take_along_axis(groups, exact.weighted(units)[:, None], axis=1)
        return exact.largest((groups == chosen).astype(np.int64))

    def draw(self, counts, parameters, noise):
        """Draw with one uniform number per query; for two classes as the ladder does."""
        if np.shape(counts)[1] == 2:
            return super().draw(counts, parameters, noise)
        below = self.distribution(counts, parameters).cumsum(axis=1)[:, :-1]
        return (noise.generator.random((len(counts), 1)) > below).sum(axis=1)


def _prior(task: Task, accuracy: float | None) -> tuple[float | None, ConsensusProfile | None]:
    """Return accuracy and profile: the given accuracy, else the task's profile, else ACCURACY."""
    if accuracy is None and task.profile is not None:
        return None, task.profile
    given = ACCURACY if accuracy is None else accuracy
    return min(9, max(round(10 * given), 10 // task.n_classes + 1)) / 10, None


def _solved(n_teachers: int, n_classes: int, parameters: ProfiledLabel) -> BestLabel:
    """Return the label of these parameters, cached by them; for drawn votes, that of a sample."""
    budget = parameters.label_epsilon, parameters.label_delta
    if parameters.drawn is not None:
        budget = drawn_votes.budget_of_the_drawn(*budget, n_teachers, parameters.drawn)
        n_teachers = parameters.drawn
    return best_label(
        n_teachers,
        n_classes,
        *budget,
        accuracy=parameters.accuracy,
        profile=parameters.profile,
        gap=GAP if sorted_histograms(n_teachers, n_classes) > EXACT else None,
        start=_flips,
    )


def _flips(counts, epsilon):
    """Start from permute-and-flip, so that no label is right less often."""
    return PermuteAndFlip.weigh(counts, epsilon / 2)


MECHANISM = OptimalLabel()
