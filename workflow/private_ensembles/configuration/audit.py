"""The section `audit`: what the ledger of all mechanisms depends on."""

from collections.abc import Iterator

from pydantic import Field

from private_ensembles.configuration.types import (
    K_WORDS,
    LEFT_OUT,
    Allowance,
    Count,
    Distinct,
    Epsilon,
    MainSection,
    Maybe,
    Mistake,
    Named,
    Section,
    Share,
    SmallDelta,
    integer,
    number,
    odd,
)

# More cannot be audited by enumeration.
MOST_TEACHERS = 15
MOST_DELTA = 0.05
MOST_QUERIES = 1000
PATE = ("K", "delta", "confident", "lnmax", "two_rounds")


class Training(Section):
    """Training of one teacher by DP-SGD, for what replacing a record costs."""

    shard_size: Count = Field(description="Records of a shard.")
    batch_size: Count = Field(description="Expected batch.")
    epochs: Count = Field(description="Epochs.")
    noise_multiplier: number(ge=0.3) = Field(
        description="Standard deviation of the noise, in clipping norms."
    )


class Budget(Section):
    """Labels of two classes that cost m times what one private teacher of DaRRM's does."""

    dataset: str = Field(description="One of darrm.datasets: whatever is left out is its.")
    K: odd(ge=1, le=MOST_TEACHERS) = Field(LEFT_OUT, description=K_WORDS)
    m: Allowance
    epsilon: Epsilon = LEFT_OUT
    Delta: number(gt=0, lt=MOST_DELTA) = Field(
        LEFT_OUT, description="Privacy loss Delta of one teacher."
    )
    teachers: Maybe[Training] = Field(
        LEFT_OUT, description="How a teacher is trained; null where that is not known."
    )


class Totals(Section):
    """What Q labels cost together, by three compositions; left out: as in DaRRM's Table 2."""

    queries: Distinct[integer(ge=1, le=MOST_QUERIES)] = Field(
        LEFT_OUT, description="Numbers Q of labels."
    )
    delta_prime: SmallDelta = Field(
        LEFT_OUT, description="What general composition spends beside the labels' leaks."
    )


class Audit(MainSection):
    """Settings of the ledger."""

    budgets: Named[Budget] = Field(
        description="Labels of two classes that cost m times what one private teacher does."
    )
    student_score: Share = Field(description="What the student gives class 1 on the query at hand.")
    totals: Totals

    def conflicts(self) -> Iterator[Mistake]:
        darrm = self._settings.darrm
        for name, given in self.budgets.items():
            path = f"audit.budgets.{name}"
            if given.dataset not in darrm.datasets:
                allowed = f"one of darrm.datasets: {', '.join(darrm.datasets)}"
                yield f"{path}.dataset", given.dataset, allowed
            budget = self.budget(name)
            for key, fits, allowed in (
                ("K", budget["K"] <= MOST_TEACHERS, f"at most {MOST_TEACHERS} to be audited"),
                ("Delta", budget["Delta"] < MOST_DELTA, f"below {MOST_DELTA} to be audited"),
                ("m", budget["m"] <= budget["K"], f"at most K = {budget['K']}"),
            ):
                if not fits:
                    source = "" if key in given.plain() else "; left out, it is DaRRM's"
                    yield f"{path}.{key}", budget[key], allowed + source
        for queries in self.totals_of()["queries"]:
            if queries > MOST_QUERIES:
                allowed = f"lists of at most {MOST_QUERIES}; left out, they are darrm.queries"
                yield "audit.totals.queries", queries, allowed

    def budget(self, name: str) -> dict:
        """Return K, m, epsilon, Delta and (shard_size, ...) teachers of a budget."""
        darrm, given = self._settings.darrm, self.budgets[name]
        training = darrm.accounting()[given.dataset]
        common = {
            "K": darrm.K,
            "m": given.m,
            "epsilon": training["epsilon"],
            "Delta": training["Delta"],
            "teachers": {
                "shard_size": darrm.shard_size(given.dataset),
                **{
                    key: training["private_teachers"][key]
                    for key in ("batch_size", "epochs", "noise_multiplier")
                },
            },
        }
        return common | given.pick("K", "epsilon", "Delta", "teachers")

    def totals_of(self) -> dict:
        """Return queries and delta_prime of the totals."""
        return self._settings.darrm.pick("queries", "delta_prime") | self.totals.plain()
