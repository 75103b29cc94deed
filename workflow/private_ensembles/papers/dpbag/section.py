"""The section `dpbag`: the experiments of the DPBag paper, and the slices that its rules need."""

from collections.abc import Iterator
from typing import Annotated, Literal

from private_ensembles.base import settings as types
from private_ensembles.base.parameter_names import join_parameters
from private_ensembles.base.settings import describe_key
from private_ensembles.training.section import LEARNING_RATE

MODELS = ("logistic", "boosted_trees")
# These settings of a model are no parameters of training.
_GRID = ("n", "k", "seeds")
# These tables of the supplement are about UCI Adult; the model is what they hold.
ACCURACY_TABLES = {"table5": "logistic", "table7": "boosted_trees"}
LABEL_TABLES = {"table6": "logistic", "table8": "boosted_trees"}


class Bagging(types.Section):
    """Which ensembles are trained: n shards, k partitions, and splits of the data."""

    n: types.Counts
    k: types.Counts
    seeds: types.Seeds = describe_key("Numbers from which the splits of the data are drawn.")


class Logistic(Bagging):
    """DPBag with logistic regressions."""

    C: types.Positive = describe_key("Weight of the records against the penalty.")
    tolerance: Annotated[float, *types.number(ge=1e-9, le=1e-3)] = describe_key(
        "Proven distance of each coefficient from the optimum."
    )
    intercept: Literal["penalised", "free"] = describe_key(
        "Whether the penalty is on the intercept, too."
    )


class BoostedTrees(Bagging):
    """DPBag with gradient-boosted trees."""

    rounds: types.Count = describe_key("Trees of one model.")
    learning_rate: types.Positive = describe_key(LEARNING_RATE)
    leaves: Annotated[int, *types.integer(ge=2, le=100_000)] = describe_key(
        "Most leaves of a tree."
    )
    records_per_leaf: types.Count = describe_key("Fewest records of a leaf.")


class Bagged(types.Section):
    """A data set and the models that are trained on it; null leaves a model out."""

    dataset: str = describe_key("A name under `datasets`.")
    logistic: types.Maybe[Logistic]
    boosted_trees: types.Maybe[BoostedTrees]

    def models(self) -> dict[str, Bagging]:
        """Return the models whose teachers are trained, by name."""
        models = {name: getattr(self, name) for name in MODELS}
        return {name: model for name, model in models.items() if model is not None}


class Conjecture(types.Section):
    """The small ensembles on which the conjecture is compared with exact losses."""

    teachers: Annotated[int, *types.integer(ge=2, le=1000)] = describe_key(
        "Teachers per partition."
    )
    partitions: types.Count = describe_key("Number of partitions.")
    noise: types.Distinct[types.Positive] = describe_key("Values of lambda.")
    orders: types.Counts


class Dpbag(Bagged, types.MainSection):
    """The experiments of the DPBag paper."""

    epsilon: types.Epsilons
    delta: types.SmallDelta
    delta_of_counts: types.SmallDelta
    noise: types.Positive = describe_key("Inverse scale of the noise, times the number of shards.")
    order_max: Annotated[int, *types.integer(ge=1, le=10000)] = describe_key(
        "Largest order of the moments."
    )
    scaling: Literal["data", "public"] = describe_key("Where the range of features comes from.")
    queries_per_label: Annotated[float, *types.number(ge=1, le=4)] = describe_key(
        "Queries that teachers vote on for each label of SAA's largest budget."
    )
    draws: types.Repetitions = describe_key("Repetitions of the noise.")
    partitions_per_job: types.Count = describe_key("Partitions whose teachers one job trains.")
    embedded: Bagged
    conjecture: Conjecture

    def conflicts(self) -> Iterator[types.Mistake]:
        datasets = self._settings.datasets
        if not self.models():
            allowed = "given, or boosted_trees: the privacy ledger has a row for one of them"
            yield "dpbag.logistic", None, allowed
        for path, owner in (("dpbag", self), ("dpbag.embedded", self.embedded)):
            name, stand_in = owner.dataset, owner is not self
            table_names = datasets.select_names("a table", stand_in=stand_in)
            if name not in table_names:
                kind = "stand-ins" if stand_in else "data sets"
                allowed = f"one of the {kind} that are tables: {', '.join(table_names)}"
                yield f"{path}.dataset", name, allowed
            third = (datasets[name].n_train + datasets[name].n_test) // 3
            for model, settings in owner.models().items():
                for index, n in enumerate(settings.n):
                    if n > third:
                        allowed = f"at most {third}, a third of the records of {name}"
                        yield f"{path}.{model}.n[{index}]", n, allowed

    @property
    def active_section(self) -> Bagged:
        """The paper's data set and models, or their stand-in's."""
        return self if self._settings.data == "paper" else self.embedded

    def run_tables(self, kind: str) -> dict[str, str]:
        """Return the tables of ``students`` or of ``labels`` that are made, each with its model."""
        tables = {"students": ACCURACY_TABLES, "labels": LABEL_TABLES}[kind]
        return {
            item: model for item, model in tables.items() if model in self.active_section.models()
        }

    def grid(self, model: str) -> dict[str, list[int]]:
        """Return n, k (increasing) and seeds of a model."""
        grid = self.active_section.models()[model].pick(*_GRID)
        return grid | {"k": sorted(grid["k"])}

    def training(self, model: str) -> dict:
        """Return the parameters with which a model is trained."""
        settings = self.active_section.models()[model].to_dict()
        return {key: value for key, value in settings.items() if key not in _GRID}

    def budget(self) -> dict:
        """Return epsilon (list), delta, delta_of_counts, noise and order_max."""
        return self.pick("epsilon", "delta", "delta_of_counts", "noise", "order_max")

    def asking(self) -> dict:
        """Return `budget` and queries_per_label, which say how many queries are asked."""
        return self.budget() | self.pick("queries_per_label")

    def claims(self) -> dict:
        """Return what the printed numbers rest on, as `published` names it.

        Parameters of training count on the paper's data alone. How exactly a model is fitted and
        how often the noise is drawn makes our numbers more precise, and is not in it.
        """
        parameters = self.budget()
        del parameters["epsilon"]  # every budget has numbers of its own
        if self.active_section is self:
            parameters["scaling"] = self.scaling
            for model in self.models():
                parameters[model] = self.training(model)
        return parameters

    def first_partitions(self, model: str) -> range:
        """Return the first partition of each job that casts votes."""
        return range(0, max(self.grid(model)["k"]), self.partitions_per_job)

    def partitions(self, model: str, first: int) -> list[int]:
        """Return the numbers of the partitions of the job that starts with partition `first`."""
        last = min(first + self.partitions_per_job, max(self.grid(model)["k"]))
        return list(range(first, last))

    def label_count_files(self, model: str) -> list[str]:
        """Return the files that say how many labels each budget buys, for all n and seeds."""
        grid = self.grid(model)
        points = [
            join_parameters(model=model, n=n, seed=seed)
            for n in grid["n"]
            for seed in grid["seeds"]
        ]
        return [
            f"results/dpbag/privacy/{self.active_section.dataset}/{point}.csv" for point in points
        ]

    def shards(self) -> list[int]:
        """Return every number n of shards of the paper's grid and of its stand-in's."""
        models = [*self.models().values(), *self.embedded.models().values()]
        return sorted({n for model in models for n in model.n})
