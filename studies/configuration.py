"""The settings of studies/config.yaml, and one line on what is wrong with them."""

import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from private_ensembles.base import settings as types
from private_ensembles.base.settings import describe_key
from private_ensembles.run.configuration import Configuration
from private_ensembles.training.data_section import Addresses, FileName
from private_ensembles.training.section import NetworkStudent


class BestLabel(types.Section):
    """The best label beside the others, for teachers of stated and of other accuracies."""

    teachers: Annotated[int, *types.integer(ge=2, le=60)] = describe_key("Teachers.")
    n_classes: Annotated[int, *types.integer(ge=3, le=100)] = describe_key("Classes.")
    accuracies: types.Distinct[Annotated[float, *types.number(gt=0, lt=1)]] = describe_key(
        "Shares of queries on which a teacher is right; each is stated and true in turn."
    )
    epsilons: types.Distinct[types.TotalEpsilon] = describe_key("Budgets of one label.")
    labels: types.Distinct[Annotated[int, *types.integer(ge=1, le=1000)]] = describe_key(
        "Numbers of labels that cost the largest budget together."
    )

    def mistakes(self) -> Iterator[types.Mistake]:
        for index, accuracy in enumerate(self.accuracies):
            if accuracy <= 1 / self.n_classes:
                yield f"accuracies[{index}]", accuracy, f"above 1 / {self.n_classes}, chance"


class ManyLabels(types.Section):
    """Noise laws at equal totals, two classes, each charged for its labels."""

    teachers: Annotated[int, *types.integer(ge=2, le=1000)] = describe_key("Teachers.")
    lead: types.Count = describe_key("Votes by which the right class leads.")
    epsilon: types.TotalEpsilon = describe_key("Of all labels together, at planner.delta.")
    labels: types.Distinct[Annotated[int, *types.integer(ge=1, le=10000)]] = describe_key(
        "Numbers Q of labels."
    )

    def mistakes(self) -> Iterator[types.Mistake]:
        yield from types.find_numbers_above("lead", self.lead, self.teachers, "{here}.teachers")
        if (self.teachers - self.lead) % 2:
            yield "lead", self.lead, f"odd or even as teachers = {self.teachers} is"


class EqualBudget(types.Section):
    """Mechanisms at the same total epsilon."""

    epsilon: types.Distinct[types.TotalEpsilon] = describe_key("Total privacy losses epsilon.")


class InteractiveStudents(types.Section):
    """A student of a first round whose scores drive a second one: Interactive-GNMax, with images.

    The queries, the noise and the cap on answers of both rounds together are those of the task's
    `confident`, so that both cost the same whatever the votes.
    """

    first_share: Annotated[float, *types.number(gt=0, lt=1)] = describe_key(
        "Share of the queries of `confident` that the first round asks."
    )
    threshold: Annotated[float, *types.number()] = describe_key(
        "Votes by which the teachers must differ from the student in the second round."
    )
    confidence: types.Share = describe_key(
        "Score above which the student's own label is reinforced."
    )
    seeds: types.Seeds = describe_key("Training seeds; each has its own second round.")
    student_parameters: NetworkStudent = describe_key("Instead of the task's.")


class Epochs(types.Section):
    """Epochs of each kind of student."""

    vat: types.Count = describe_key("Of virtual adversarial training.")
    gan: types.Count = describe_key("Of the GAN.")


class GanStudent(types.Section):
    """PATE's kind of student beside the workflow's, on labels that the authors released."""

    task: str = describe_key("One of `authors_labels`; left out if these are not at hand.")
    labels: types.Counts = describe_key("Numbers of labels.")
    epochs: Epochs
    widths: list[types.Count] = describe_key("Hidden layers of the GAN's discriminator.")
    generator_widths: list[types.Count] = describe_key("Hidden layers of its generator.")


class TeachersLabels(types.Section):
    """A public file with what each teacher of an ensemble said, which can be downloaded."""

    file: FileName = describe_key("A NumPy file of classes: a row for each teacher.")
    git_blob: str = Field(
        pattern="^[0-9a-f]{40}$", description="Its hash in git, until a sha256 is known."
    )
    urls: Addresses


class AuthorsVotes(types.Section):
    """The votes of PATE's own ensembles, if their files are at hand."""

    folder: str = describe_key("Where the files are, relative to where the workflow runs.")
    files: types.Named[str] = describe_key(
        "By task, a NumPy file of counts: a row for each query, a column for each class. What is "
        "not there is left out."
    )
    labels: types.Named[TeachersLabels] = describe_key(
        "By task, where its counts are not there: the labels from which they can be counted, if "
        "their file is in the folder or in a data_mirror that is one."
    )


class Adversaries(types.Section):
    """Attacks on the teachers of this run: one record of one teacher is replaced."""

    data: Literal["any", "embedded", "paper"] = describe_key("The value of `data` that runs them.")
    tasks: types.Distinct[str] = describe_key(
        "The first of these tasks of PATE that is run is attacked."
    )
    m: types.Allowance
    queries: Annotated[int, *types.integer(ge=1, le=1000)] = describe_key(
        "Labels that an adversary sees."
    )
    records: Annotated[int, *types.integer(ge=1, le=1000)] = describe_key(
        "Real records, and as many poisoned ones, that are tried; the worst is shown."
    )
    retrainings: Annotated[int, *types.integer(ge=4, le=100_000)] = describe_key(
        "Trainings of a private teacher with and without the record, of each so many."
    )
    draws: Annotated[int, *types.integer(ge=100, le=10_000_000)] = describe_key(
        "Runs of a mechanism on either side."
    )
    confidence: Annotated[float, *types.number(gt=0, lt=1)] = describe_key(
        "Of all intervals at once."
    )


class Studies(types.Section):
    """The section `studies`; null leaves a study out."""

    best_label: types.Maybe[BestLabel]
    many_labels: types.Maybe[ManyLabels]
    equal_budget: types.Maybe[EqualBudget]
    interactive_students: types.Maybe[types.Named[InteractiveStudents]] = describe_key(
        "By task of PATE."
    )
    authors_labels: types.Maybe[types.Named[str]] = describe_key(
        "By task of PATE, the data set of labels that the authors' ensemble released."
    )
    gan_student: types.Maybe[GanStudent]
    authors_votes: types.Maybe[AuthorsVotes]
    adversaries: types.Maybe[Adversaries]

    def conflicts(self, settings: Configuration) -> Iterator[types.Mistake]:
        """Yield mistakes that only show beside the workflow's settings; keys start here."""
        tasks = settings.pate.tasks
        tasks_by_path = {
            "interactive_students": self.interactive_students,
            "authors_labels": self.authors_labels,
            "authors_votes.files": self.authors_votes and self.authors_votes.files,
            "authors_votes.labels": self.authors_votes and self.authors_votes.labels,
        }
        for path, by_task in tasks_by_path.items():
            for name in by_task or ():
                if name not in tasks:
                    yield f"{path}.{name}", name, f"one of pate.tasks: {', '.join(tasks)}"
        for name in self.interactive_students or ():
            if tasks[name] and (tasks[name].student != "vat" or tasks[name].confident.queries < 2):
                allowed = "left out: two rounds need a network and two queries"
                yield f"interactive_students.{name}", name, allowed
        data_names = settings.datasets.select_names("labels", stand_in=False)
        for task, name in (self.authors_labels or {}).items():
            if name not in data_names:
                allowed = (
                    f"one of the data sets that hold labels: {', '.join(data_names) or 'none'}"
                )
                yield f"authors_labels.{task}", name, allowed
        if self.adversaries:
            plain = [
                name for name, task in settings.pate.enabled_tasks().items() if task.kind == "plain"
            ]
            for index, name in enumerate(self.adversaries.tasks):
                if name not in tasks or (tasks[name] and name not in plain):
                    allowed = f"one of pate.tasks whose teachers are plain: {', '.join(plain)}"
                    yield f"adversaries.tasks[{index}]", name, allowed
            if self.adversaries.data in ("any", settings.data):
                largest_m = settings.darrm.K
                yield from types.find_numbers_above(
                    "adversaries.m", self.adversaries.m, largest_m, "darrm.K"
                )


def check_or_exit(values: Mapping, settings: Configuration) -> Studies:
    """Return the checked section; the first mistake is one line and ends the process, status 1.

    Args:
        values: the section `studies` of the configuration.
        settings: the workflow's, which name tasks and data sets.
    """
    try:
        checked = Studies.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path, value, words = ".".join(map(str, first["loc"])), first["input"], first["msg"]
        if first["type"] == "mistake":
            key, value, allowed = (first["ctx"][name] for name in ("key", "value", "allowed"))
            words = f"must be {allowed.replace('{here}', path)}"
            path = f"{path}.{key}"
        sys.exit(f"error: studies.{path} = {value!r}: {words}")
    for path, value, allowed in checked.conflicts(settings):
        sys.exit(f"error: studies.{path} = {value!r}: must be {allowed}")
    return checked
