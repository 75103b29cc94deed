"""The section `pate`: the experiments of the PATE paper, and the slices that its rules need."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import model_validator

from private_ensembles.base import settings as types
from private_ensembles.base.settings import LEFT_OUT, describe_key
from private_ensembles.training.section import ForestStudent, NetworkStudent, PlainTeachers

# Each kind of teachers learns from this content, and each kind of student.
_LEARNS = {"plain": "images", "forest": "a table"}
_STUDIES = {"vat": "images", "forest": "a table"}
BETA = "Smoothness."
SIGMA_SS = "Noise in units of smooth sensitivity."
THRESHOLD = "Votes that the plurality must have."
Shares = types.Distinct[types.Positive]


class Confident(types.Section):
    """Confident-GNMax (or its interactive kind) on a number of queries."""

    queries: types.Count = describe_key("Queries asked.")
    threshold: Annotated[float, *types.number()] = describe_key(THRESHOLD)
    sigma1: types.Votes
    sigma2: types.Votes


class Lnmax(types.Section):
    """The aggregator of PATE 2017."""

    scale: types.Votes
    queries: types.Queries


class Printed(types.Section):
    """What Table 2 prints."""

    answers: types.Count = describe_key("Queries answered.")
    order: Annotated[float, *types.number(gt=1)] = describe_key("Renyi order.")
    beta: types.Positive = describe_key(BETA)
    sigma_ss: types.Positive = describe_key(SIGMA_SS)


class PrintedRounds(Printed):
    """What Table 2 prints for the two rounds, one number each."""

    beta: types.Pair[types.Positive] = describe_key(BETA)
    sigma_ss: types.Pair[types.Positive] = describe_key(SIGMA_SS)


class TwoRounds(types.Section):
    """A confident round and an interactive one."""

    student_accuracy: types.Share = describe_key(
        "How often the student of the second round is right."
    )
    student_score: types.Share = describe_key(
        "Its score for the class that it predicts; the others share the rest."
    )
    first: Confident
    second: Confident
    printed: PrintedRounds


class Recipe(types.Section):
    """Another way to make a task's teachers."""

    dataset: str = describe_key("Instead of the task's data set.")
    teachers: PlainTeachers


class Task(types.Section):
    """One vote matrix and what is asked of it."""

    data: Literal["any", "embedded", "paper"] = describe_key("The value of `data` that runs it.")
    dataset: str = describe_key("Data set (or name of the synthetic votes).")
    kind: Literal["plain", "forest", "synthetic"] = describe_key("Kind of teachers.")
    K: types.Count = describe_key("Teachers.")
    pool: types.Count = describe_key("Public queries; the other test records evaluate the student.")
    delta: types.SmallDelta
    confident: Confident
    lnmax: Lnmax
    printed: types.Maybe[Printed] = describe_key("What Table 2 prints; null if it has no such row.")
    student: types.Maybe[Literal["vat", "forest"]] = describe_key("How the student learns.")
    draws: types.Repetitions = describe_key("Instead of `pate.draws`.", LEFT_OUT)
    two_rounds: TwoRounds = LEFT_OUT
    student_seeds: types.Seeds = describe_key("Instead of `pate.student_seeds`.", LEFT_OUT)
    teachers: PlainTeachers = LEFT_OUT
    recipe: types.Maybe[str] = describe_key(
        "The one of `recipes` that takes the place of `dataset` and `teachers`; null for none.",
        LEFT_OUT,
    )
    recipes: types.Named[Recipe] = describe_key(
        "Other ways to make the teachers, by name.", LEFT_OUT
    )
    student_parameters: NetworkStudent = LEFT_OUT
    baseline_parameters: NetworkStudent = LEFT_OUT

    @model_validator(mode="before")
    @classmethod
    def _follows_its_recipe(cls, settings: Any) -> Any:
        """Put the chosen recipe in its place, so that nothing else needs to know of recipes."""
        if not isinstance(settings, dict):
            return settings
        recipes = settings.get("recipes")
        chosen = recipes.get(settings.get("recipe")) if isinstance(recipes, dict) else None
        return settings | chosen if isinstance(chosen, dict) else settings

    def mistakes(self) -> Iterator[types.Mistake]:
        if self.recipe is not None and self.recipe not in (self.recipes or {}):
            recipe_names = ", ".join(self.recipes or {}) or "none"
            yield "recipe", self.recipe, f"null or one of {{here}}.recipes: {recipe_names}"
        for name, section in (("confident", self.confident), ("lnmax", self.lnmax)):
            yield from types.find_numbers_above(
                f"{name}.queries", section.queries, self.pool, "{here}.pool"
            )
        if self.two_rounds:
            first, second = self.two_rounds.first.queries, self.two_rounds.second.queries
            if first + second > self.pool:
                allowed = f"at most {{here}}.pool = {self.pool} together with the first round's"
                yield "two_rounds.second.queries", second, f"{allowed} {first}"


class Students(types.Section):
    """Parameters of students by method; what is missing has a default."""

    vat: NetworkStudent
    forest: ForestStudent

    def mistakes(self) -> Iterator[types.Mistake]:
        for name, parameters in self:
            if parameters.method is not None:
                yield f"{name}.method", parameters.method, "left out"


class Baselines(types.Section):
    """Method and parameters of the baseline beside each method of students."""

    vat: NetworkStudent
    forest: ForestStudent

    def mistakes(self) -> Iterator[types.Mistake]:
        for name, parameters in self:
            if parameters.method is None:
                yield f"{name}.method", None, "given"


class NoiseFigure(types.Section):
    """Noise and sizes that are compared."""

    teachers: types.Counts = describe_key("Sizes of ensembles.")
    laplace_teachers: types.Count = describe_key(
        "The size at which Laplace and Gaussian noise are compared; one of `teachers`."
    )
    queries: types.Count = describe_key("Number of queries.")
    delta: types.SmallDelta
    gnmax: Shares = describe_key("Scales of noise as shares of the number of teachers.")
    lnmax: Shares = describe_key("Scales of noise as shares of the number of teachers.")

    def mistakes(self) -> Iterator[types.Mistake]:
        if self.laplace_teachers not in self.teachers:
            sizes = ", ".join(map(str, self.teachers))
            yield "laplace_teachers", self.laplace_teachers, f"one of {{here}}.teachers: {sizes}"


class Threshold(types.Section):
    """A noisy threshold."""

    threshold: Annotated[float, *types.number()] = describe_key(THRESHOLD)
    sigma1: types.Votes


class Thresholds(types.Section):
    """Noisy thresholds by name."""

    moderate: Threshold = LEFT_OUT
    aggressive: Threshold = LEFT_OUT


class EqualAnswers(types.Section):
    """Confident-GNMax beside LNMax at the same numbers of answers."""

    threshold: Annotated[float, *types.number()] = describe_key(THRESHOLD)
    sigma1: types.Votes
    scale: types.Votes
    answers: types.Pair[types.Count] = describe_key(
        "Numbers of answers, one for each pair of costs."
    )


class ThresholdFigure(types.Section):
    """Thresholds whose effect is shown."""

    teachers: types.Count = describe_key("Size of the ensemble.")
    queries: types.Count = describe_key("Number of queries.")
    delta: types.SmallDelta
    sigma2: types.Votes
    checks: Thresholds
    scale: types.Votes
    points: Annotated[int, *types.integer(ge=2, le=10000)] = describe_key("Points of a curve.")
    order: Annotated[float, *types.number(gt=1)] = describe_key("Renyi order of the dots.")
    figure1: EqualAnswers


class Tasks(types.MainSection):
    """A paper whose experiments are tasks; its students have seeds, some tasks their own."""

    def enabled_tasks(self) -> dict:
        """Return all tasks but those that are null."""
        return {name: task for name, task in self.tasks.items() if task is not None}

    def seeds(self, task: str) -> list[int]:
        """Return the training seeds of a task's students: its own, or those of all tasks."""
        return self.tasks[task].student_seeds or self.student_seeds


class Pate(Tasks):
    """The experiments of the PATE paper."""

    tasks: types.Named[types.Maybe[Task]] = describe_key(
        "Vote matrices, what is asked of them and who learns from the answers; null "
        "leaves a task out."
    )
    training_seed: types.Seed = describe_key("Training seed of every task's ensemble.")
    student_seeds: types.Seeds = describe_key("One student of each aggregator is trained per seed.")
    students: Students
    baselines: Baselines
    answer_cap: types.Maybe[types.Count] = describe_key(
        "Answers after which Confident-GNMax stops."
    )
    draws: types.Repetitions = describe_key("Random draws of the queries.")
    orders: types.Orders
    figure1: types.Maybe[types.Distinct[str]] = describe_key(
        "The first of these tasks that is run is shown; null leaves the figure out."
    )
    figure4: types.Maybe[NoiseFigure]
    figure5: types.Maybe[ThresholdFigure]

    # Mistakes that only show beside other keys -------------------------------------------------

    def mistakes(self) -> Iterator[types.Mistake]:
        # A null task is left out, here as elsewhere.
        student_tasks = [name for name, task in self.tasks.items() if task is None or task.student]
        for index, name in enumerate(self.figure1 or ()):
            if name not in student_tasks:
                allowed = f"one of the tasks that have a student: {', '.join(student_tasks)}"
                yield f"figure1[{index}]", name, allowed
        least = 1 + self.orders.order_step
        if self.orders.order_max <= least:
            yield "orders.order_max", self.orders.order_max, f"above 1 + order_step = {least:g}"

    def conflicts(self) -> Iterator[types.Mistake]:
        for name, task in self.enabled_tasks().items():
            path = f"pate.tasks.{name}"
            yield from self._source_mistakes(path, task)
            yield from self._student_mistakes(path, task)
            if task.data in ("any", self._settings.data):
                yield from self._size_mistakes(path, task)
        yield from self._shared_dataset_mistakes()
        profile = self._settings.synthetic_votes.get("glyph")
        for name, figure in (("figure4", self.figure4), ("figure5", self.figure5)):
            if figure is not None and profile is None:
                yield f"pate.{name}", figure.to_dict(), "null if synthetic_votes has no glyph"
            if figure is not None:
                most, limit = profile.n_queries, "synthetic_votes.glyph.n_queries"
                yield from types.find_numbers_above(
                    f"pate.{name}.queries", figure.queries, most, limit
                )

    def _source_mistakes(self, path: str, task: Task) -> Iterator[types.Mistake]:
        """Yield mistakes of the votes' source, and of how teachers train."""
        kind, dataset = task.kind, task.dataset
        section = "synthetic_votes" if kind == "synthetic" else "datasets"
        names = list(getattr(self._settings, section))
        if dataset not in names:
            known_names = ", ".join(names) or "none"
            allowed = f"one of those under {section}, since kind is {kind}: {known_names}"
            yield f"{path}.dataset", dataset, allowed
        if kind != "synthetic" and self._settings.datasets[dataset].content != _LEARNS[kind]:
            allowed = f"one that holds {_LEARNS[kind]}, since kind is {kind}"
            yield f"{path}.dataset", dataset, allowed
        if kind == "plain" and task.teachers is None:
            yield f"{path}.teachers", None, "given, since kind is plain"
        if kind != "plain" and task.teachers is not None:
            yield f"{path}.teachers", task.teachers.to_dict(), f"left out if kind is {kind}"

    def _student_mistakes(self, path: str, task: Task) -> Iterator[types.Mistake]:
        """Yield mistakes of students: they need inputs of their kind, and their parameters."""
        method = task.student
        if method is not None and task.kind == "synthetic":
            yield f"{path}.student", method, "null, since synthetic votes have no inputs"
        if method is not None:
            holds = self._settings.datasets[task.dataset].content
            fit = next(name for name, needs in _STUDIES.items() if needs == holds)
            if method != fit:
                yield f"{path}.student", method, f"null or {fit} for {task.dataset}"
        for key in ("student_parameters", "baseline_parameters"):
            # They are those of networks; a forest's are the same for all tasks.
            if method == "forest" and (parameters := getattr(task, key)):
                yield f"{path}.{key}", parameters.to_dict(), "left out if student is forest"

    def _size_mistakes(self, path: str, task: Task) -> Iterator[types.Mistake]:
        """Yield mistakes of sizes: teachers and the pool must fit into the data set."""
        dataset, pool = task.dataset, task.pool
        if task.kind == "synthetic":
            limit = f"synthetic_votes.{dataset}.n_queries"
            most = self._settings.synthetic_votes[dataset].n_queries
            yield from types.find_numbers_above(f"{path}.pool", pool, most, limit)
            return
        data = self._settings.datasets[dataset]
        yield from types.find_numbers_above(
            f"{path}.K", task.K, data.n_train, f"datasets.{dataset}.n_train"
        )
        if pool > data.n_test or (task.student and pool == data.n_test):
            # The student is evaluated on what the pool leaves over.
            limit = "below" if task.student else "at most"
            yield f"{path}.pool", pool, f"{limit} datasets.{dataset}.n_test = {data.n_test}"

    def _shared_dataset_mistakes(self) -> Iterator[types.Mistake]:
        """Yield data sets with two kinds of plain teachers, who are looked up by their data set."""
        darrm = self._settings.darrm
        owners: dict[str, str] = {}
        for name, task in self.enabled_tasks().items():
            if task.kind != "plain":
                continue
            path, dataset = f"pate.tasks.{name}", task.dataset
            if dataset in darrm.datasets or dataset == darrm.embedded.dataset:
                allowed = "another data set than DaRRM's, whose plain teachers are others"
                yield f"{path}.dataset", dataset, allowed
            owner = owners.setdefault(dataset, name)
            if task.teachers != self.tasks[owner].teachers:
                allowed = f"those of pate.tasks.{owner}, whose data set it shares"
                yield f"{path}.teachers", task.teachers.to_dict(), allowed

    # Slices ------------------------------------------------------------------------------------

    def running_tasks(self) -> list[str]:
        """Return the tasks whose data sets are of this configuration and at hand, in its order."""
        available = self._settings.is_available
        return [
            name
            for name, task in self.enabled_tasks().items()
            if task.data in ("any", self._settings.data)
            and (task.kind == "synthetic" or available(task.dataset))
        ]

    def task_of(self, dataset: str) -> Task | None:
        """Return the task whose votes are cast on `dataset`, or None."""
        tasks = self.enabled_tasks().values()
        return next((task for task in tasks if task.dataset == dataset), None)

    def ensemble(self, task: str) -> dict:
        """Return kind, K and seed, which name a task's ensemble."""
        return self.tasks[task].pick("kind", "K") | {"seed": self.training_seed}

    def accounting(self, task: str) -> dict:
        """Return what a task's accounting depends on: all but how votes and students train."""
        settings = self.tasks[task]
        return {
            **settings.pick("pool", "delta", "confident", "lnmax", "printed"),
            "draws": self.draws if settings.draws is None else settings.draws,
            **self.pick("orders"),
            "two_rounds": settings.two_rounds and settings.two_rounds.to_dict(),
        }

    def answer_settings(self, task: str) -> dict:
        """Return what the labels bought for a task's students depend on."""
        settings = self.tasks[task].pick("pool", "confident", "lnmax")
        return settings | {"answer_cap": self.answer_cap}

    def student(self, task: str) -> dict:
        """Return method, pool and parameters of a task's student."""
        settings = self.tasks[task]
        parameters = getattr(self.students, settings.student).to_dict()
        parameters |= settings.to_dict().get("student_parameters", {})
        return {"method": settings.student, "pool": settings.pool, "parameters": parameters}

    def aggregators(self, task: str) -> list[str]:
        """Return the names of what labels a task's students: `lnmax-Q` for each Q, `confident`."""
        return [*(f"lnmax-{queries}" for queries in self.tasks[task].lnmax.queries), "confident"]

    def baseline(self, task: str) -> dict:
        """Return method, pool and parameters of a task's non-private baseline."""
        settings = self.tasks[task]
        parameters = getattr(self.baselines, settings.student).to_dict()
        parameters |= settings.to_dict().get("baseline_parameters", {})
        method = parameters.pop("method")
        return {"method": method, "pool": settings.pool, "parameters": parameters}

    def descriptions(self, names: list[str]) -> dict[str, dict]:
        """Return, by task, what tables say about it: stand-in or not, synthetic or not, K."""
        descriptions = {}
        for name in names:
            task = self.tasks[name]
            synthetic = task.kind == "synthetic"
            stand_in = not synthetic and self._settings.datasets[task.dataset].stand_in
            descriptions[name] = {"stand_in": stand_in, "synthetic": synthetic, "K": task.K}
        return descriptions

    def figure1_settings(self, task: str) -> dict:
        """Return what Figure 1 depends on beside its inputs."""
        settings = self.tasks[task].pick("pool", "delta", "confident", "lnmax")
        return settings | self.pick("orders")

    def parameters(self, names: list[str]) -> dict[str, dict]:
        """Return, by task, the parameters that Table 1 prints, and those of two rounds if any."""
        keys = ("K", "delta", "confident", "lnmax", "two_rounds")
        return {name: self.tasks[name].pick(*keys) for name in names}

    def figure_settings(self, figure: str) -> dict:
        """Return a figure's settings and the grid of orders."""
        settings = getattr(self, figure)
        return {**(settings.to_dict() if settings else {}), **self.pick("orders")}

    def figure_teachers(self, figure: str) -> list[int]:
        """Return the sizes of the synthetic ensembles of a figure; none without the figure."""
        settings = getattr(self, figure)
        if settings is None:
            return []
        return settings.teachers if figure == "figure4" else [settings.teachers]
