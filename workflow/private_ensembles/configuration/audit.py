"""The section `audit`: what the ledger of all mechanisms depends on."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from private_ensembles.configuration import types
from private_ensembles.configuration.naming import delta_of
from private_ensembles.configuration.types import LEFT_OUT, about

# More cannot be audited by enumeration.
MOST_TEACHERS = 15
MOST_DELTA = 0.05
MOST_QUERIES = 1000
PATE = ("K", "delta", "confident", "lnmax", "two_rounds")


class Training(types.Section):
    """Training of one teacher by DP-SGD, for what replacing a record costs."""

    shard_size: types.Records = about("Records of a shard.")
    batch_size: types.Count = about("Expected batch.")
    epochs: types.Repetitions = about("Epochs.")
    noise_multiplier: types.number(ge=0.3) = about("Standard deviation of noise in clipping norms.")


class Budget(types.Section):
    """Labels of two classes that cost m times what one private teacher of DaRRM's does."""

    dataset: str = about("One of darrm.datasets, from which whatever is left out is taken.")
    K: types.odd(ge=1, le=MOST_TEACHERS) = Field(LEFT_OUT, description=types.K_WORDS)
    m: types.Allowance
    epsilon: types.Epsilon = LEFT_OUT
    Delta: types.number(gt=0, lt=MOST_DELTA) = about("Privacy loss Delta of one teacher.", LEFT_OUT)
    teachers: types.Maybe[Training] = about(
        "How a teacher trains; null if that is unknown.", LEFT_OUT
    )


class Totals(types.Section):
    """What Q labels cost together, by three compositions; left out: as in DaRRM's Table 2."""

    queries: types.Distinct[types.integer(ge=1, le=MOST_QUERIES)] = about(
        "Numbers Q of labels.", LEFT_OUT
    )
    delta_prime: types.SmallDelta = about(
        "The delta that general composition spends on top of the labels' own.", LEFT_OUT
    )


class Adversaries(types.Section):
    """Attacks on the teachers of this run: one record of one teacher is replaced."""

    data: Literal["any", "embedded", "paper"] = about("The value of `data` that runs them.")
    tasks: types.Distinct[str] = about("The first of these tasks of PATE that is run is attacked.")
    m: types.Allowance
    queries: types.integer(ge=1, le=MOST_QUERIES) = about("Labels that an adversary sees.")
    records: types.integer(ge=1, le=1000) = about(
        "Real records, and as many poisoned ones, that are tried; the worst is shown."
    )
    retrainings: types.integer(ge=4, le=100_000) = about(
        "Trainings of a private teacher with and without the record, of each so many."
    )
    draws: types.integer(ge=100, le=10_000_000) = about("Runs of a mechanism on either side.")
    confidence: types.number(gt=0, lt=1) = about("Of all intervals at once.")


class Audit(types.MainSection):
    """Settings of the ledger."""

    budgets: types.Named[Budget] = about(
        "Labels of two classes that cost m times what one private teacher does."
    )
    student_score: types.Share = about("What the student gives class 1 on the query at hand.")
    totals: Totals
    adversaries: types.Maybe[Adversaries] = about(
        "Attacks on the teachers of this run; null leaves them out."
    )

    def conflicts(self) -> Iterator[types.Mistake]:
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
                    source = "" if key in chosen.plain() else "; left out, it is DaRRM's"
                    yield f"{path}.{key}", budget[key], allowed + source
        yield from self._attacks_conflicts()
        for queries in self.totals_of()["queries"]:
            if queries > MOST_QUERIES:
                allowed = f"lists of at most {MOST_QUERIES}; left out, they are darrm.queries"
                yield "audit.totals.queries", queries, allowed

    def _attacks_conflicts(self) -> Iterator[types.Mistake]:
        if self.adversaries is None:
            return
        pate, darrm = self._settings.pate, self._settings.darrm
        path = "audit.adversaries"
        known = [name for name, task in pate.chosen().items() if task.kind == "plain"]
        for index, name in enumerate(self.adversaries.tasks):
            if name not in pate.tasks or (pate.tasks[name] and name not in known):
                allowed = f"one of pate.tasks whose teachers are plain: {', '.join(known)}"
                yield f"{path}.tasks[{index}]", name, allowed
        if self.adversaries.data in ("any", self._settings.data):
            yield from types.at_most(f"{path}.m", self.adversaries.m, darrm.K, "darrm.K")

    def attacked(self) -> dict | None:
        """Return what the adversaries depend on; None if they are left out.

        They need an ensemble of PATE's and one of DaRRM's, so the run must cover both papers.
        """
        settings, chosen = self._settings, self.adversaries
        if chosen is None or not {"pate", "darrm"} <= set(settings.papers):
            return None
        tasks = [name for name in chosen.tasks if name in settings.pate.running()]
        if chosen.data not in ("any", settings.data) or not tasks:
            return None
        task, darrm = settings.pate.tasks[tasks[0]], settings.darrm
        private = darrm.label_datasets()[0]
        cost = darrm.dataset_settings(private)
        return {
            "plain": {
                "name": tasks[0],
                **task.pick("K", "delta", "confident"),
                "training": task.teachers.plain(),
                "training_seed": settings.pate.training_seed,
            },
            "private": {
                "name": private,
                "K": darrm.K,
                "m": chosen.m,
                "epsilon": cost["epsilon"],
                "Delta": cost["Delta"],
                "delta_gamma": delta_of(chosen.m, cost["Delta"]),
                "training": darrm.training(private, "private"),
                "training_seed": darrm.training_seeds[0],
            },
            "settings": chosen.pick("queries", "records", "retrainings", "draws", "confidence"),
        }

    def budget(self, name: str) -> dict:
        """Return K, m, epsilon, Delta and (shard_size, ...) teachers of a budget."""
        darrm, budget = self._settings.darrm, self.budgets[name]
        training = darrm.accounting()[budget.dataset]
        teachers = {"shard_size": darrm.shard_size(budget.dataset)}
        for key in ("batch_size", "epochs", "noise_multiplier"):
            teachers[key] = training["private_teachers"][key]
        common = {
            "K": darrm.K,
            "m": budget.m,
            "epsilon": training["epsilon"],
            "Delta": training["Delta"],
            "teachers": teachers,
        }
        return common | budget.pick("K", "epsilon", "Delta", "teachers")

    def totals_of(self) -> dict:
        """Return queries and delta_prime of the totals."""
        return self._settings.darrm.pick("queries", "delta_prime") | self.totals.plain()
