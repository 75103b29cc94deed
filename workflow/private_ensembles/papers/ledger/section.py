"""The section `audit`: what the ledger of all mechanisms depends on."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from private_ensembles.base import settings
from private_ensembles.base.settings import LEFT_OUT, describe_key

# The ledger's settings are limited to what can be audited by enumeration.
MOST_TEACHERS = 15
MOST_DELTA = 0.05
MOST_QUERIES = 1000
PATE = ("K", "delta", "confident", "lnmax", "two_rounds")


class Training(settings.Section):
    """Training of one teacher by DP-SGD, for what replacing a record costs."""

    shard_size: settings.Records = describe_key("Records of a shard.")
    batch_size: settings.Count = describe_key("Expected batch.")
    epochs: settings.Repetitions = describe_key("Epochs.")
    noise_multiplier: Annotated[float, *settings.number(ge=0.3)] = describe_key(
        "Standard deviation of noise in clipping norms."
    )


class Budget(settings.Section):
    """Labels of two classes that cost m times what one private teacher of DaRRM's does."""

    dataset: str = describe_key("One of darrm.datasets, from which whatever is left out is taken.")
    K: Annotated[int, *settings.odd_integer(ge=1, le=MOST_TEACHERS)] = Field(
        LEFT_OUT, description=settings.K_WORDS
    )
    m: settings.Allowance
    epsilon: settings.Epsilon = LEFT_OUT
    Delta: Annotated[float, *settings.number(gt=0, lt=MOST_DELTA)] = describe_key(
        "Privacy loss Delta of one teacher.", LEFT_OUT
    )
    teachers: settings.Maybe[Training] = describe_key(
        "How a teacher trains; null if that is unknown.", LEFT_OUT
    )


class Totals(settings.Section):
    """What Q labels cost together, by three compositions; left out: as in DaRRM's Table 2."""

    queries: settings.Distinct[Annotated[int, *settings.integer(ge=1, le=MOST_QUERIES)]] = (
        describe_key("Numbers Q of labels.", LEFT_OUT)
    )
    delta_prime: settings.SmallDelta = describe_key(
        "The delta that general composition spends on top of the labels' own.", LEFT_OUT
    )


class Audit(settings.MainSection):
    """Settings of the ledger."""

    budgets: settings.Named[Budget] = describe_key(
        "Labels of two classes that cost m times what one private teacher does."
    )
    student_score: settings.Share = describe_key(
        "What the student gives class 1 on the query at hand."
    )
    totals: Totals

    def conflicts(self) -> Iterator[settings.Mistake]:
        """Yield budgets and totals that cannot be audited, and data sets that DaRRM lacks."""
        darrm = self._settings.darrm
        for name, chosen in self.budgets.items():
            path = f"audit.budgets.{name}"
            if chosen.dataset not in darrm.datasets:
                allowed = f"one of darrm.datasets: {', '.join(darrm.datasets)}"
                yield f"{path}.dataset", chosen.dataset, allowed
            budget = self.budget(name)
            for key, fits, allowed in (
                ("K", budget["K"] <= MOST_TEACHERS, f"at most {MOST_TEACHERS} to be audited"),
                ("Delta", budget["Delta"] < MOST_DELTA, f"below {MOST_DELTA} to be audited"),
                ("m", budget["m"] <= budget["K"], f"at most K = {budget['K']}"),
            ):
                if not fits:
                    source = "" if key in chosen.to_dict() else "; left out, it is DaRRM's"
                    yield f"{path}.{key}", budget[key], allowed + source
        for queries in self.totals_settings()["queries"]:
            if queries > MOST_QUERIES:
                allowed = f"lists of at most {MOST_QUERIES}; left out, they are darrm.queries"
                yield "audit.totals.queries", queries, allowed

    def budget(self, name: str) -> dict:
        """Return K, m, epsilon, Delta and teachers (shard_size, ...) of a budget."""
        darrm, budget = self._settings.darrm, self.budgets[name]
        training = darrm.accounting()[budget.dataset]
        teachers = {"shard_size": darrm.shard_size(budget.dataset)}
        for key in ("batch_size", "epochs", "noise_multiplier"):
            teachers[key] = training["private_teachers"][key]
        darrm_settings = {
            "K": darrm.K,
            "m": budget.m,
            "epsilon": training["epsilon"],
            "Delta": training["Delta"],
            "teachers": teachers,
        }
        return darrm_settings | budget.pick("K", "epsilon", "Delta", "teachers")

    def totals_settings(self) -> dict:
        """Return queries and delta_prime of the totals."""
        return self._settings.darrm.pick("queries", "delta_prime") | self.totals.to_dict()
