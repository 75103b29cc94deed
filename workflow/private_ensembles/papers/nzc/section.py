"""The section `nzc`: the experiments of the NZC paper, and the slices that its rules need."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from private_ensembles.base import settings as types
from private_ensembles.base.settings import LEFT_OUT, describe_key
from private_ensembles.papers.pate.section import Task, Tasks
from private_ensembles.training.section import EPOCHS, NetworkStudent


class Ensemble(types.Section):
    """A further ensemble on the same data."""

    K: types.Count = describe_key("Teachers.")
    epochs: types.Repetitions = describe_key(EPOCHS)


class NzcTask(types.Section):
    """The labels asked of the teachers of one of PATE's tasks, and of smaller ensembles."""

    task: str = describe_key(
        "PATE's plain task whose data, teachers, pool, delta and scale are used."
    )
    few: types.Count = describe_key("Teachers of the small ensemble of Table 1.")
    queries: types.Queries
    ensembles: list[Ensemble] = Field(min_length=1, description="Other ensembles on the same data.")
    student_seeds: types.Seeds = describe_key("Instead of `nzc.student_seeds`.", LEFT_OUT)
    student_parameters: NetworkStudent = LEFT_OUT

    def mistakes(self) -> Iterator[types.Mistake]:
        sizes = [ensemble.K for ensemble in self.ensembles]
        for index, K in enumerate(sizes):
            if K in sizes[:index]:
                yield f"ensembles[{index}].K", K, "a size that is not there yet"
        if self.few not in sizes:
            yield "few", self.few, "one of the sizes of {here}.ensembles"


class Leads(types.Section):
    """Histograms over which one label is audited."""

    teachers: types.Distinct[Annotated[int, *types.integer(ge=1, le=20)]] = describe_key(
        "Sizes of ensembles."
    )
    classes: types.Distinct[Annotated[int, *types.integer(ge=2, le=4)]] = describe_key(
        "Numbers of classes."
    )
    epsilon: Annotated[float, *types.number(ge=0, le=500)] = describe_key(
        "The epsilon at which delta is given."
    )


class Nzc(Tasks):
    """The experiments of the NZC paper."""

    constant: types.NotNegative = describe_key("Votes added to the largest count.")
    gamma: types.Positive = describe_key("Scale of the noise.")
    noise: Literal["laplace", "gaussian"] = describe_key("Kind of noise.")
    ties: Literal["first", "last", "random"] = describe_key(
        "Which of several largest counts is raised."
    )
    tasks: dict[types.Name, types.Maybe[NzcTask]] = describe_key(
        "Labels asked of PATE's votes; null leaves a task out."
    )
    student_seeds: types.Seeds = describe_key(
        "Students of every aggregator are trained once per seed."
    )
    student: NetworkStudent
    distances: types.Distinct[Annotated[float, *types.number(ge=0, lt=1)]] = describe_key(
        "Distances of Figure 2b as shares of the number of teachers."
    )
    leads: Leads

    def conflicts(self) -> Iterator[types.Mistake]:
        if "nzc" not in self._settings.papers:
            return  # its ensembles are PATE's, which may have been changed without it in mind
        tasks = self._settings.pate.enabled_tasks()
        plain = [name for name, task in tasks.items() if task.kind == "plain"]
        for name, task in self.enabled_tasks().items():
            path = f"nzc.tasks.{name}"
            if task.task not in plain:
                plain_names = ", ".join(plain) or "none"
                yield f"{path}.task", task.task, f"a plain task of PATE: {plain_names}"
            pate = tasks[task.task]
            if pate.data != self._settings.data:
                continue  # not run
            data, owner = self._settings.datasets[pate.dataset], f"pate.tasks.{task.task}"
            for index, ensemble in enumerate(task.ensembles):
                key, limit = f"{path}.ensembles[{index}].K", f"datasets.{pate.dataset}.n_train"
                yield from types.find_numbers_above(key, ensemble.K, data.n_train, limit)
            if pate.pool >= data.n_test:
                allowed = f"below datasets.{pate.dataset}.n_test = {data.n_test}, since the rest "
                yield f"{owner}.pool", pate.pool, f"{allowed}evaluates the students of {path}"
            yield from types.find_numbers_above(
                f"{path}.queries", task.queries, pate.pool, f"{owner}.pool"
            )

    def running_tasks(self) -> list[str]:
        """Return the tasks whose task of PATE is run, in the order of config.yaml."""
        shared = self._settings.pate.running_tasks()
        return [name for name, task in self.enabled_tasks().items() if task.task in shared]

    def pate_task(self, task: str) -> Task:
        """Return the task of PATE that a task names; its K teachers are those of Tables 1 and 2."""
        return self._settings.pate.tasks[self.tasks[task].task]

    def ensemble(self, K: int) -> dict:
        """Return kind, K and seed, which name an ensemble; the largest is PATE's."""
        return {"kind": "plain", "K": K, "seed": self._settings.pate.training_seed}

    def sizes(self, task: str) -> list[int]:
        """Return the sizes of a task's ensembles, ascending: Figure 2's, and the two of Table 1."""
        return sorted(
            {self.pate_task(task).K, *(ensemble.K for ensemble in self.tasks[task].ensembles)}
        )

    def retraining(self, dataset: str, K: int | None) -> dict:
        """Return the epochs of an ensemble of K teachers, all that differs from PATE's training.

        Nothing for the ensemble of PATE's task itself.
        """
        if self._settings.pate.task_of(dataset).K == K:
            return {}
        for name, task in self.enabled_tasks().items():
            if self.pate_task(name).dataset == dataset:
                for ensemble in task.ensembles:
                    if ensemble.K == K:
                        return ensemble.pick("epochs")
        return {}

    def mechanism(self) -> dict:
        """Return constant, gamma, noise and ties of the immutable noisy ArgMax."""
        return self.pick("constant", "gamma", "noise", "ties")

    def label_settings(self, task: str) -> dict:
        """Return what labels of a task cost and how they are drawn: all but how anything trains."""
        pate, settings = self.pate_task(task), self.tasks[task]
        return {
            "few": settings.few,
            **pate.pick("pool", "delta"),
            "lnmax": {"scale": pate.lnmax.scale, "queries": settings.queries},
            "K": pate.K,
            "mechanism": self.mechanism(),
        }

    def student_settings(self, task: str) -> dict:
        """Return method, pool and parameters of a task's students (of labelled queries only)."""
        own = self.tasks[task].to_dict().get("student_parameters", {})
        return {
            "method": "supervised",
            "pool": self.pate_task(task).pool,
            "parameters": self.student.to_dict() | own,
        }

    def descriptions(self, names: list[str]) -> dict[str, dict]:
        """Return, by task, what tables say about it: stand-in or not, sizes of ensembles."""
        descriptions = {}
        for name in names:
            pate = self.pate_task(name)
            stand_in = self._settings.datasets[pate.dataset].stand_in
            descriptions[name] = {"stand_in": stand_in, "K": pate.K, "few": self.tasks[name].few}
        return descriptions

    def printed_sizes(self, names: list[str]) -> dict[str, dict]:
        """Return, by task, the sizes that section 5.1 prints: n_train, n_test and pool."""
        facts = {}
        for name in names:
            pate = self.pate_task(name)
            sizes = self._settings.datasets[pate.dataset].pick("n_train", "n_test")
            facts[name] = sizes | {"pool": pate.pool}
        return facts

    def ensembles(self, names: list[str]) -> dict[str, dict]:
        """Return sizes and pool by task, for Figure 2."""
        return {
            name: {"sizes": self.sizes(name), "pool": self.pate_task(name).pool} for name in names
        }
