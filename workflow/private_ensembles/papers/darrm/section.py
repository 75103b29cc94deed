"""The section `darrm`: the experiments of the DaRRM paper, and the slices that its rules need."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from private_ensembles.base import settings as types
from private_ensembles.base.parameter_names import m_fold_delta, multiply
from private_ensembles.base.settings import describe_key
from private_ensembles.papers.darrm.mathematics.objective import PRIOR_KINDS, parse_prior
from private_ensembles.training.section import PlainTeachers, PrivateTeachers

SHAPE_FIGURES = ("figure2", "figure6", "figure7", "figure8")
ACCURACY_TABLES = ("table1", "table6", "table8", "table10")
LOSS_TABLES = ("table2", "table5", "table7", "table9")
TRAINING = ("epsilon", "Delta", "private_teachers", "plain_teachers")

_INTERVALS = rf"({'|'.join(PRIOR_KINDS)}):(0|0?\.[0-9]+),(1|0?\.[0-9]+)"


def _check_interval(prior: str) -> str:
    """Raise a mistake if a prior is no interval that the objective allows."""
    if not prior.startswith("fixed:"):
        try:
            parse_prior(prior)
        except ValueError:
            raise types.mistake_error("", prior, "kind:a,b with a < b and a + b >= 1") from None
    return prior


Prior = Annotated[
    str,
    Field(
        pattern=f"^{_INTERVALS}$",
        description="Prior of the teachers' p_i in the objective: "
        + ", ".join(f"{name}:a,b for {kind.words}" for name, kind in PRIOR_KINDS.items())
        + "; 0 <= a < b <= 1, and a + b >= 1 without an absolute value.",
    ),
    AfterValidator(_check_interval),
]
Truth = Annotated[
    str,
    Field(pattern=rf"^({_INTERVALS}|fixed:(0|1|0?\.[0-9]+))$", description="A prior, or fixed:p."),
    AfterValidator(_check_interval),
]


class Tables(types.Section):
    """The m of each table of the paper; null leaves the table out."""

    table1: types.Maybe[types.Allowance]
    table6: types.Maybe[types.Allowance]
    table8: types.Maybe[types.Allowance]
    table10: types.Maybe[types.Allowance]
    table2: types.Maybe[types.Allowance]
    table5: types.Maybe[types.Allowance]
    table7: types.Maybe[types.Allowance]
    table9: types.Maybe[types.Allowance]
    table4: types.Maybe[types.Allowance]

    def allowances(self, *items: str) -> dict[str, int]:
        """Return the m of those of these tables that are made, by name."""
        return {item: m for item, m in self.pick(*items).items() if m is not None}


class Shape(types.Section):
    """Parameters of a figure of noise functions."""

    K: types.K
    m: types.Allowances
    epsilon: types.Epsilon
    Delta: types.Delta

    def mistakes(self) -> Iterator[types.Mistake]:
        """Yield allowances above K, and a Delta that is no teacher's."""
        yield from types.find_numbers_above("m", self.m, self.K, "{here}.K")
        if self.Delta >= 0.5:
            yield "Delta", self.Delta, "below 0.5"


class Composition(types.Section):
    """Parameters of Figure 6 and Table 3."""

    K: types.K
    subsamples: types.Counts = describe_key(
        "Numbers of teachers that gamma_sub draws (the paper's M), each from 1 to K."
    )
    epsilon: types.Epsilon
    Delta: types.Delta
    delta_prime: types.SmallDelta = describe_key("Slack of general composition.")

    def mistakes(self) -> Iterator[types.Mistake]:
        """Yield subsamples above K, and a Delta that is no teacher's."""
        yield from types.find_numbers_above("subsamples", self.subsamples, self.K, "{here}.K")
        if self.Delta >= 0.5:
            yield "Delta", self.Delta, "below 0.5"


class PriorShapes(Shape):
    """Parameters of Figure 9."""

    prior_U: Prior
    prior_P: Prior
    actual: types.Distinct[Truth] = describe_key(
        "How the p_i are really distributed: a prior, or fixed:p if every p_i is p."
    )


class DoubleSubsampling(types.Section):
    """Grid on which double subsampling is checked for all teachers."""

    K: types.Sizes
    m_values: Annotated[int, *types.integer(ge=2, le=types.MOST_K)] = describe_key(
        "Most values of m at a K, spread evenly over 1..(K+1)/2."
    )
    epsilon: types.Epsilons
    Delta: types.Deltas


class Sweeps(types.Section):
    """The grid of the target `sweeps`, beyond the paper and outside of `all`."""

    K: types.Sizes
    m: types.Allowances
    epsilon: types.Epsilons
    Delta: types.Deltas
    prior: Prior
    double_subsampling: DoubleSubsampling

    def allowances(self, K: int) -> list[int]:
        """Return the m that are solved at K teachers."""
        return [m for m in self.m if m <= K]


class SigmaFigure(types.Section):
    """Parameters of Figure 10."""

    m: types.Allowance


class Objectives(types.Section):
    """The paper's Monte-Carlo objectives against the exact one."""

    K: types.Sizes = describe_key("Teachers per ensemble, one column of the figure for each.")
    m: types.Allowance
    epsilon: types.Epsilon
    Delta: types.Delta
    draws: types.Counts = describe_key("Numbers of draws, increasing.")
    repetitions: types.Repetitions = describe_key("Independent repetitions.")

    def mistakes(self) -> Iterator[types.Mistake]:
        """Yield ensembles of fewer than m teachers."""
        for index, teachers in enumerate(self.K):
            if teachers < self.m:
                yield f"K[{index}]", teachers, f"at least {{here}}.m = {self.m}"


class Cost(types.Section):
    """What one private teacher costs."""

    epsilon: types.Epsilon
    Delta: types.Delta


class StandIn(types.Section):
    """What takes the place of the paper's data where nothing is downloaded."""

    dataset: str = describe_key("A name under `datasets`.")
    epsilon: types.Epsilon
    Delta: types.Delta
    private_teachers: PrivateTeachers
    plain_teachers: PlainTeachers


class Darrm(types.MainSection):
    """The experiments of the DaRRM paper."""

    K: types.K
    m: types.Allowances
    prior: Prior
    queries: types.Queries = describe_key("Numbers of queries to release labels for.")
    draws: types.Repetitions = describe_key("Random draws of the queries.")
    training_seeds: types.Seeds = describe_key("One ensemble of each kind is trained per seed.")
    delta_prime: types.SmallDelta = describe_key("The delta' of general composition.")
    tables: Tables
    sigma_search: types.Orders
    figure2: Shape
    figure6: types.Maybe[Composition]
    figure7: types.Maybe[Shape]
    figure8: types.Maybe[Shape]
    figure9: types.Maybe[PriorShapes]
    sweeps: Sweeps
    figure10: SigmaFigure
    objectives: Objectives
    datasets: types.Named[Cost] = describe_key(
        "What one private teacher costs, by data set of the paper."
    )
    shards: Literal["permutation", "keyed_hash"] = describe_key(
        "Which record goes to which teacher."
    )
    private_teachers: PrivateTeachers
    plain_teachers: PlainTeachers
    embedded: StandIn

    def mistakes(self) -> Iterator[types.Mistake]:
        """Yield allowances above K, and costs of teachers that no label can have."""
        table_allowances = {f"tables.{item}": m for item, m in self.tables if m is not None}
        for key, allowances in (
            {"m": self.m, "figure10.m": self.figure10.m} | table_allowances
        ).items():
            yield from types.find_numbers_above(key, allowances, self.K, "{here}.K")
        # A label costs m * Delta, which must be a probability, and one job draws for all m at once.
        largest_m = max(self.label_allowances() + [m or 1 for _, m in self.tables])
        costs = {f"datasets.{name}": cost for name, cost in self.datasets.items()}
        for path, cost in (costs | {"embedded": self.embedded}).items():
            if largest_m * cost.Delta >= 1:
                yield (
                    f"{path}.Delta",
                    cost.Delta,
                    f"below 1/{largest_m}, since a label costs m * Delta",
                )
            if cost.Delta == 0:
                # DP-SGD has no pure guarantee, and GNMax's sigma is infinite at delta = 0.
                allowed = "above 0, since the teachers are trained with Gaussian noise"
                yield f"{path}.Delta", cost.Delta, allowed

    def conflicts(self) -> Iterator[types.Mistake]:
        """Yield data sets that do not exist or are too small for K or the queries."""
        datasets = self._settings.datasets
        paper_datasets = {f"darrm.datasets.{name}": name for name in self.datasets}
        for path, name in (
            paper_datasets | {"darrm.embedded.dataset": self.embedded.dataset}
        ).items():
            stand_in = path not in paper_datasets
            allowed_names = datasets.select_names("images", stand_in=stand_in, n_classes=2)
            if name not in allowed_names:
                kind = "stand-ins" if stand_in else "data sets"
                allowed = (
                    f"one of the {kind} with two classes of images: {', '.join(allowed_names)}"
                )
                yield path, name, allowed
            largest, limit = datasets[name].n_train, f"datasets.{name}.n_train"
            yield from types.find_numbers_above("darrm.K", self.K, largest, limit)
        for name in self.label_datasets():
            largest, limit = datasets[name].n_test, f"datasets.{name}.n_test"
            yield from types.find_numbers_above("darrm.queries", self.queries, largest, limit)

    def label_datasets(self) -> list[str]:
        """Return the data sets whose labels are released in this configuration."""
        return list(self.datasets) if self._settings.data == "paper" else [self.embedded.dataset]

    def label_allowances(self) -> list[int]:
        """Return every m that labels are released for: those of `m` and of accuracy tables."""
        return sorted({*self.m, *self.tables.allowances(*ACCURACY_TABLES).values()})

    def ensembles(self) -> list[dict]:
        """Return kind, K and seed of every ensemble that is trained on a data set."""
        return [
            {"kind": kind, "K": self.K, "seed": seed}
            for kind in ("private", "plain")
            for seed in self.training_seeds
        ]

    def dataset_settings(self, dataset: str) -> dict:
        """Return epsilon, Delta, private_teachers and plain_teachers of one data set."""
        default = self.pick(*TRAINING)
        dataset_own = self.datasets.get(dataset, self.embedded).pick(*TRAINING)
        return {key: dataset_own.get(key, default.get(key)) for key in TRAINING}

    def training(self, dataset: str, kind: str, K: int | None = None) -> dict:
        """Return the training parameters of teachers on one data set.

        Args:
            dataset: its name.
            kind: "private" or "plain".
            K: number of teachers; None means the section's.
        """
        settings = self.dataset_settings(dataset)[f"{kind}_teachers"]
        if self.shards == "permutation":
            return settings
        settings["shards"] = self.shards
        if kind == "private":
            # The size of a shard is private then, so schedules follow from stated numbers alone.
            settings["shard_size"] = self.shard_size(dataset, K)
        return settings

    def shard_size(self, dataset: str, K: int | None = None) -> int:
        """Return how many records a teacher of K (None: the section's) learns from, at least."""
        return self._settings.datasets[dataset].n_train // (self.K if K is None else K)

    def accounting(self) -> dict[str, dict]:
        """Return, by data set, what the accountant of private teachers needs."""
        result = {}
        for dataset in [*self.datasets, self.embedded.dataset]:
            settings, data = self.dataset_settings(dataset), self._settings.datasets[dataset]
            training = settings["private_teachers"]
            result[dataset] = {
                "stand_in": data.stand_in,
                "n_train": data.n_train,
                "epsilon": settings["epsilon"],
                "Delta": settings["Delta"],
                "private_teachers": {
                    key: training[key] for key in ("noise_multiplier", "batch_size", "epochs")
                },
            }
        return result

    def teacher_cost(self, dataset: str) -> dict:
        """Return epsilon and Delta of a teacher, and whether the data are a stand-in."""
        cost = self.datasets.get(dataset, self.embedded)
        stand_in = self._settings.datasets[dataset].stand_in
        return {"stand_in": stand_in, "epsilon": cost.epsilon, "Delta": cost.Delta}

    def teacher_costs(self) -> dict[str, dict]:
        """Return `teacher_cost` of the paper's data sets and of those whose labels are released."""
        names = dict.fromkeys([*self.datasets, *self.label_datasets()])
        return {name: self.teacher_cost(name) for name in names}

    def query_cost(self, dataset: str, m: int) -> dict:
        """Return `teacher_cost`, and (m epsilon, m Delta) of a label (Table 2)."""
        cost = self.teacher_cost(dataset)
        label = {"epsilon_query": cost["epsilon"], "delta_query": cost["Delta"]}
        return cost | {name: multiply(m, value) for name, value in label.items()}

    def paper_query_costs(self, m: int) -> dict[str, dict]:
        """Return `query_cost` of the paper's data sets, by name."""
        return {name: self.query_cost(name, m) for name in self.datasets}

    def label_experiment(self, dataset: str, m: int) -> dict:
        """Return what the release of labels on one data set with one m needs.

        delta_query is GNMax's m * Delta, delta_gamma is DaRRM's 1 - (1 - Delta)^m (section 6.1).
        """
        cost = self.query_cost(dataset, m)
        return {
            **cost,
            "K": self.K,
            "m": m,
            "shards": self.shards,
            "delta_gamma": m_fold_delta(m, cost["Delta"]),
            **self.pick("queries", "draws", "training_seeds"),
        }

    def claims(self) -> dict:
        """Return what DaRRM's printed numbers rest on, as `published` names it.

        If teachers are only accounted for, it has what the accountant needs of them.
        """
        parameters = self.pick("K", "prior", "delta_prime", "sigma_search", "tables")
        figure = self.figure6.to_dict() if self.figure6 else {}
        parameters["figure6"] = {key: value for key, value in figure.items() if key != "subsamples"}
        parameters["datasets"], accounted = {}, self.accounting()
        for name in self.datasets:
            sizes = self._settings.datasets[name].pick("n_train", "classes")
            is_trained = name in self.label_datasets()
            costs = self.dataset_settings(name) if is_trained else accounted[name]
            parameters["datasets"][name] = costs | sizes
        return parameters
