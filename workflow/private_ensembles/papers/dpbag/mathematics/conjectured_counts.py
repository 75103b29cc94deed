"""How many labels the unproven equation 3 of DPBag's supplement would buy.

The module is there because the supplement's printed counts come out so (docs/dpbag.md, finding 2).
Equation 3 is a conjecture that is violated (`conjecture.compare_with_exact_moments`): no count from
here says what may be released, and none is.
"""

import numpy as np
from scipy.sparse import csr_array

from private_ensembles.papers.dpbag.mathematics.budget import check_budget
from private_ensembles.papers.dpbag.mathematics.conjecture import charged_moment, wrong_probability
from private_ensembles.papers.dpbag.mathematics.personalised import count_agreeing_votes

# One record's labels are charged so many at a time.
_LABELS = 512
# The labels with which some record exceeds a budget are narrowed down to this many, at most.
_LABELS_AT_LEAST = 8


def first_exceeding(votes, sizes, budgets, noise, delta, order_max):
    """Return the first number of labels at which some record has spent more than each budget.

    A label costs record u `conjecture.charged_moment` at order l, with q of equation 2 at its votes
    and m = m(x; u), and epsilon is min over l of (sum + ln(1 / delta)) / l, as
    `budget.moments_epsilon` has it for the stated costs. Not for release, and no guarantee.

    Args:
        votes, sizes: as `personalised.running_costs` takes them.
        budgets: epsilons.
        noise, delta, order_max: as `budget.moments_epsilon` takes them.

    Returns:
        (len(sizes), len(budgets)) int64; 0 if the queries end first.

    Raises:
        ValueError: as `check_budget` raises it.

    References:
        DPBag's supplement, equations 2 and 3.
    """
    counts = ConjecturedCounts(votes, sizes, budgets, noise, delta, order_max)
    for start, size_index, agreeing_votes in count_agreeing_votes(votes, sizes):
        counts.charge(start, size_index, agreeing_votes)
        if not counts.has_open_budgets:
            break
    return counts.first_labels


class ConjecturedCounts:
    """What `first_exceeding` returns (`first_labels`), from `personalised.count_agreeing_votes`."""

    def __init__(self, votes, sizes, budgets, noise, delta, order_max):
        check_budget(noise, delta, order_max)
        ones = votes.count_ones()[: sizes[-1]].cumsum(axis=0)[np.array(sizes) - 1]
        self._accounts = [
            _Account(votes, size, count, budgets, noise, delta, int(order_max))
            for size, count in zip(sizes, ones, strict=True)
        ]

    @property
    def first_labels(self):
        """What `first_exceeding` returns; 0 for a budget that was not exceeded so far."""
        return np.array([account.first_labels for account in self._accounts])

    @property
    def has_open_budgets(self):
        """Whether some budget has not been exceeded."""
        return any(account.has_open_budgets for account in self._accounts)

    def charge(self, start, size_index, agreeing_votes):
        """Charge labels to every record.

        Args:
            start: the first of these labels.
            size_index: which of sizes is the number of partitions k.
            agreeing_votes: k m(x; u), (records, labels) int.
        """
        if self._accounts[size_index].has_open_budgets:
            self._accounts[size_index].charge(start, agreeing_votes)


class _Account:
    """What each record has spent at a few orders: those by which one of them is charged least.

    A record that has spent no more than a budget at one order has not exceeded it. The other
    records are looked at one by one.
    """

    def __init__(self, votes, k, ones, budgets, noise, delta, order_max):
        """Start an account of the first k partitions, whose votes for 1 are `ones`, (queries,)."""
        self.votes, self.k, self.noise, self.log_delta = votes, k, noise, np.log(1 / delta)
        self.q = wrong_probability((2 * ones / k - votes.n_shards)[:, None], noise)
        self.budgets = list(budgets)
        self.first_labels = [0] * len(self.budgets)
        self.seen = [{} for _ in self.budgets]  # records that were looked at, when they exceed
        self.all_orders = np.arange(1, order_max + 1)
        best = [self.find_exceeding_label(0, budget)[1] for budget in self.budgets]
        self.near = [range(max(1, l - 1), min(l + 1, order_max) + 1) for l in best]
        self.orders = np.array(sorted(set().union(*self.near)))
        self.spent = np.zeros((votes.shards.shape[1], len(self.orders)))

    def label_costs(self, start, agreeing_votes, orders):
        """Return the costs, at some orders, of the labels from start on.

        agreeing_votes: (labels, cases) int, how many of a record's teachers agree.
        """
        q = self.q[start : start + len(agreeing_votes), None, None]
        return charged_moment(q, self.noise, agreeing_votes[:, :, None] / self.k, orders)

    def find_exceeding_label(self, record, budget):
        """Return the first number of labels beyond a record's budget, and the best order there.

        The number is 0 if the queries end first. All orders count, other than in `charge`.
        """
        shards = self.votes.shards[: self.k, record]
        partitions = np.flatnonzero(shards >= 0)
        ones = np.unpackbits(self.votes.bits[partitions, shards[partitions]], axis=1).sum(
            axis=0, dtype=np.int64
        )
        agreeing_votes = np.maximum(ones, len(partitions) - ones)[: self.votes.n_queries]
        orders = self.all_orders
        spent = np.zeros(len(orders))
        for start in range(0, len(agreeing_votes), _LABELS):
            costs = self.label_costs(start, agreeing_votes[start : start + _LABELS, None], orders)[
                :, 0
            ]
            spent = spent + costs.cumsum(axis=0)
            epsilon = (spent + self.log_delta) / orders
            above = epsilon.min(axis=1) > budget
            label = int(above.argmax()) if above.any() else len(above) - 1
            best = orders[epsilon[label].argmin()]
            if above.any():
                return start + label + 1, best
            # An order at which the budget is exceeded is so for good, and is dropped.
            is_affordable = epsilon[-1] <= budget
            orders, spent = orders[is_affordable], spent[-1, is_affordable]
        return 0, best

    @property
    def has_open_budgets(self):
        """Whether some budget has not been exceeded."""
        return 0 in self.first_labels

    def charge(self, start, agreeing_votes):
        """Charge the labels from start on; agreeing_votes: (records, labels) int, k m(x; u)."""
        labels = agreeing_votes.shape[1]
        possible = np.broadcast_to(np.arange(self.k + 1), (labels, self.k + 1))
        costs = self.label_costs(start, possible, self.orders)  # labels, k + 1, orders
        before, self.spent = self.spent, self.spent + _sum_costs(agreeing_votes, costs)
        # No record has spent more, at one order, than the one that has spent most there.
        largest = self._epsilon(self.spent.max(axis=0))
        open_ = [
            budget_index
            for budget_index, first_label in enumerate(self.first_labels)
            if not first_label
        ]
        exceeded = [budget_index for budget_index in open_ if largest > self.budgets[budget_index]]
        if exceeded and labels > _LABELS_AT_LEAST:
            # With fewer labels at a time fewer records exceed together.
            self.spent, half = before, labels // 2
            self.charge(start, agreeing_votes[:, :half])
            if self.has_open_budgets:
                self.charge(start + half, agreeing_votes[:, half:])
            return
        for budget_index in exceeded:
            budget = self.budgets[budget_index]
            records = np.flatnonzero(self._epsilon(self.spent) > budget)
            if len(records):
                # By these orders alone, each seems to exceed the budget no later than it does.
                spent = costs[np.arange(labels), agreeing_votes[records]].cumsum(axis=1)
                above = self._epsilon(before[records, None] + spent) > budget
                earliest = start + 1 + above.argmax(axis=1)
                self._check_records(budget_index, records, earliest, start + labels)
        self._drop_settled_orders()

    def _drop_settled_orders(self):
        """Drop the orders that no open budget needs any more."""
        needed = [
            needed
            for needed, first_label in zip(self.near, self.first_labels, strict=True)
            if not first_label
        ]
        is_needed = np.isin(self.orders, list(set().union(*needed)))
        if not is_needed.all():
            self.orders, self.spent = self.orders[is_needed], self.spent[:, is_needed]

    def _check_records(self, budget_index, records, earliest, stop):
        """Find whether one of some records exceeds a budget with the first `stop` labels.

        earliest: (records,) int, the first label at which each record can exceed it.
        """
        seen = self.seen[budget_index]
        first = min((label for label in seen.values() if label), default=stop + 1)
        for number in earliest.argsort(kind="stable"):
            if earliest[number] >= first:
                break
            record = int(records[number])
            if record not in seen:
                seen[record], _ = self.find_exceeding_label(record, self.budgets[budget_index])
                first = min(first, seen[record] or first)
        if first <= stop:
            self.first_labels[budget_index] = first

    def _epsilon(self, spent):
        return ((spent + self.log_delta) / self.orders).min(axis=-1)


def _sum_costs(agreeing_votes, costs):
    """Return the sums over labels of costs[label, agreeing_votes[record, label]].

    The result is (records, orders).
    """
    records, labels = agreeing_votes.shape
    columns = agreeing_votes + np.arange(labels, dtype=np.int32) * costs.shape[1]
    starts = np.arange(0, records * labels + 1, labels, dtype=np.int32)
    chosen = csr_array((np.ones(records * labels), columns.ravel(), starts))
    chosen.resize(records, labels * costs.shape[1])
    return chosen @ costs.reshape(-1, costs.shape[2])
