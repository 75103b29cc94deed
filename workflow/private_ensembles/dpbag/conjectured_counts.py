"""How many labels the unproven equation 3 of DPBag's supplement would buy.

The supplement's printed counts come out so (docs/dpbag.md, finding 2); this is what the module is
for. Equation 3 is a conjecture that is violated (`conjecture.study`): no count from here says what
may be released, and none is.
"""

import numpy as np
from scipy.sparse import csr_array

from private_ensembles.dpbag.budget import check_budget
from private_ensembles.dpbag.conjecture import charged_moment, wrong_probability
from private_ensembles.dpbag.personalised import agreeing, bits_of_teachers, teachers_of_records

# Queries at a time: their costs by number of agreeing teachers and order stay in a core's cache.
_QUERIES = 32


def first_exceeding(votes, sizes, budgets, noise, delta, order_max):
    """The first number of labels at which some record has spent more than each budget.

    votes, sizes: as `personalised.running_costs` takes them. budgets: epsilons. noise, delta,
    order_max: as in `budget`. A label costs record u `conjecture.charged_moment` at order l, with
    q of equation 2 at its votes and m = m(x; u), and epsilon is min over l of (sum + ln(1 / delta))
    / l, as `budget.epsilon` has it for the stated costs. Not for release, and no guarantee.

    Returns int64 (len(sizes), len(budgets)); 0 if the queries end first. Raises ValueError like
    `check_budget`.
    """
    check_budget(noise, delta, order_max)
    shards, present = teachers_of_records(votes, sizes)
    ones = votes.ones()[: sizes[-1]].cumsum(axis=0)[np.array(sizes) - 1]
    accounts = [
        _Account(shards.shape[1], budgets, np.log(1 / delta), int(order_max)) for _ in sizes
    ]
    for start in range(0, votes.n_queries, _QUERIES):
        stop = min(start + _QUERIES, votes.n_queries)
        bits = bits_of_teachers(votes, sizes, start, stop)
        for place, most in enumerate(agreeing(bits, shards, present, sizes)):
            k, account = sizes[place], accounts[place]
            gaps = 2 * ones[place, start:stop] / k - votes.n_shards
            if account.open:
                account.charge(most, wrong_probability(gaps[:, None], noise), noise, k)
        if not any(account.open for account in accounts):
            break
    return np.stack([account.found for account in accounts])


class _Account:
    """What each record has spent at each order that may still be its best one."""

    def __init__(self, records, budgets, log_delta, order_max):
        self.orders = np.arange(1, order_max + 1)
        self.spent = np.zeros((records, order_max))
        self.budgets, self.log_delta = np.asarray(budgets, np.float64), log_delta
        self.found = np.zeros(len(budgets), np.int64)
        self.labels = 0

    @property
    def open(self):
        """Whether some budget has not been exceeded."""
        return not self.found.all()

    def charge(self, most, q, noise, k):
        """Charge some labels: most (records, labels), k m(x; u); q: (labels,)."""
        m = np.arange(k + 1)[:, None] / k
        costs = charged_moment(q[:, None, None], noise, m, self.orders)  # labels, k + 1, orders
        before, labels = self.spent, len(q)
        self.spent = before + _sums(most, costs)
        largest = self._epsilon(self.spent)
        if (largest > self.budgets[self.found == 0]).any():
            # One label after the other, from where these began.
            spent = before.copy()
            for label in range(labels):
                spent += costs[label][most[:, label]]
                exceeded = (self.found == 0) & (self._epsilon(spent) > self.budgets)
                self.found[exceeded] = self.labels + label + 1
        self.labels += labels
        self._forget()

    def _epsilon(self, spent):
        return ((spent + self.log_delta) / self.orders).min(axis=1).max()

    def _forget(self):
        """Drop the orders at which every record has exceeded every budget that is left."""
        if self.open:
            least = (self.spent.min(axis=0) + self.log_delta) / self.orders
            useful = least <= self.budgets[self.found == 0].max()
            if not useful.all():
                self.orders, self.spent = self.orders[useful], self.spent[:, useful]


def _sums(most, costs):
    """Sum over labels of costs[label, most[record, label]], (records, orders)."""
    records, labels = most.shape
    columns = most + np.arange(labels) * costs.shape[1]
    starts = np.arange(0, records * labels + 1, labels)
    chosen = csr_array((np.ones(records * labels), columns.ravel(), starts))
    chosen.resize(records, labels * costs.shape[1])
    return chosen @ costs.reshape(-1, costs.shape[2])
