"""What studies/config.yaml asks for: its keys, which a study may share with no other."""

import sys
from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from private_ensembles.configuration import types
from private_ensembles.configuration.dpbag import Dpbag
from private_ensembles.configuration.types import about


class BestLabel(types.Section):
    """The best label beside the others, for teachers of stated and of other accuracies."""

    teachers: types.integer(ge=2, le=60) = about("Teachers.")
    n_classes: types.integer(ge=3, le=100) = about("Classes.")
    accuracies: types.Distinct[types.number(gt=0, lt=1)] = about(
        "Shares of queries on which a teacher is right; each is stated and true in turn."
    )
    epsilons: types.Distinct[types.TotalEpsilon] = about("Budgets of one label.")
    labels: types.Distinct[types.integer(ge=1, le=1000)] = about(
        "Numbers of labels that cost the largest budget together."
    )

    def mistakes(self) -> Iterator[types.Mistake]:
        for index, accuracy in enumerate(self.accuracies):
            if accuracy <= 1 / self.n_classes:
                yield f"accuracies[{index}]", accuracy, f"above 1 / {self.n_classes}, chance"


class ManyLabels(types.Section):
    """Noise laws at equal totals, two classes, each charged for its labels."""

    teachers: types.integer(ge=2, le=1000) = about("Teachers.")
    lead: types.Count = about("Votes by which the right class leads.")
    epsilon: types.TotalEpsilon = about("Of all labels together, at planner.delta.")
    labels: types.Distinct[types.integer(ge=1, le=10000)] = about("Numbers Q of labels.")

    def mistakes(self) -> Iterator[types.Mistake]:
        yield from types.at_most("lead", self.lead, self.teachers, "{here}.teachers")
        if (self.teachers - self.lead) % 2:
            yield "lead", self.lead, f"odd or even as teachers = {self.teachers} is"


class Studies(types.Section):
    """The section `studies`; null leaves a study out."""

    best_label: types.Maybe[BestLabel]
    many_labels: types.Maybe[ManyLabels]


def check_or_exit(values: Mapping) -> Studies:
    """Return the checked section; the first mistake is one line and ends the process, status 1."""
    try:
        return Studies.model_validate(values)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        path, value, words = ".".join(["studies", *map(str, wrong["loc"])]), wrong["input"], ""
        if wrong["type"] == "mistake":
            key, value, words = (wrong["ctx"][name] for name in ("key", "value", "allowed"))
            words = f"must be {words.replace('{here}', path)}"
            path = f"{path}.{key}"
        sys.exit(f"error: {path} = {value!r}: {words or wrong['msg']}")


def penalised_teachers(dpbag: Dpbag) -> dict:
    """Return n (the most shards), k, seeds and C of logistic teachers on DPBag's own data.

    Empty for a stand-in, of which nothing is printed, and without such teachers.
    """
    if dpbag.used is not dpbag or dpbag.logistic is None:
        return {}
    grid = dpbag.grid("logistic")
    return grid | {"n": max(grid["n"]), "C": dpbag.training("logistic")["C"]}
