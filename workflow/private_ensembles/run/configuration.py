"""The whole configuration: values that no paper owns, and the sections."""

import os
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import ValidationInfo, create_model, field_validator, model_validator

from private_ensembles.base import settings
from private_ensembles.base.instruction_sets import find_obstacle
from private_ensembles.base.settings import describe_key
from private_ensembles.labels.planner.section import Planner, SyntheticVotes
from private_ensembles.papers.all import ALL
from private_ensembles.papers.ledger.section import PATE, Audit
from private_ensembles.release.own_keys import SECTION_PATHS
from private_ensembles.release.section import Own
from private_ensembles.run.changes import resolve_automatic_noise
from private_ensembles.training.data_section import ADDRESS, Datasets
from private_ensembles.training.section import ForestTeachers, Teachers

_PAPERS = tuple(paper.name for paper in ALL)


class _General(settings.Section):
    """The keys and sections that stand above those of the papers."""

    data: Literal["embedded", "paper"] = describe_key(
        "Which data the accuracies are measured on; `embedded` downloads nothing."
    )
    papers: settings.Distinct[Literal[_PAPERS]] = describe_key(
        "Papers that the default target, the comparison and the page cover."
    )
    data_mirror: settings.Maybe[settings.Text] = describe_key(
        "Folder or start of an address tried before the public addresses."
    )
    seed: settings.Seed = describe_key("Origin of all randomness.")
    noise: Literal["auto", "reproducible", "secure"] = describe_key(
        "Origin of the noise; `auto` is `secure` for your own votes and `reproducible` otherwise."
    )
    own: Own
    download_timeout: Annotated[float, *settings.number(gt=0, le=86400)] = describe_key(
        "Seconds of silence after which a download is tried again."
    )
    solver: Literal["auto", "gurobi", "highs"] = describe_key(
        "Solver of the linear programs; `auto` is HiGHS, our own beyond 201 teachers."
    )
    device: Literal["auto", "cpu", "cuda"] = describe_key(
        "Where teachers train; `auto` prefers a GPU."
    )
    portable: settings.YesNo = describe_key(
        "Whether libraries use one instruction set, so that other processors give the same bytes."
    )
    teachers: Teachers

    @field_validator("portable")
    @classmethod
    def _libraries_can_be_held(cls, portable: bool) -> bool:
        obstacle = find_obstacle() if portable else None
        if obstacle is not None:
            raise settings.mistake_error("", portable, f"false here: this processor {obstacle}")
        return portable


def _section(paper: str) -> type[settings.MainSection]:
    """Return the class of a paper's section, which bears the paper's name: `Darrm` of darrm."""
    module = import_module(f"private_ensembles.papers.{paper}.section")
    return getattr(module, paper.capitalize())


# Messages and the schema keep this order of the sections.
_WithPapers = create_model(
    "_WithPapers", __base__=_General, **{paper: (_section(paper), ...) for paper in _PAPERS}
)


class Configuration(_WithPapers):
    """Configuration of private_ensembles."""

    audit: settings.Maybe[Audit] = describe_key("Settings of the ledger; null leaves it out.")
    forest_teachers: ForestTeachers
    synthetic_votes: dict[settings.Name, SyntheticVotes] = describe_key(
        "Profiles of the consensus of ensembles that do not exist, by name."
    )
    planner: Planner
    datasets: Datasets

    # Checks across sections --------------------------------------------------------------------

    @field_validator("data_mirror")
    @classmethod
    def _mirror_is_there(cls, mirror: str | None, info: ValidationInfo) -> str | None:
        if mirror is None or ADDRESS.match(mirror):
            return mirror
        paths = settings.list_candidate_paths(mirror, info)
        folder = next(filter(os.path.isdir, paths), None)
        if folder is None and info.data.get("data") == "paper":
            raise settings.mistake_error(
                "", mirror, f"an existing folder (looked at {' and '.join(paths)}) or URL"
            )
        return folder or paths[0]

    @model_validator(mode="after")
    def _sections_fit(self):
        if self.noise == "auto":
            self.noise = resolve_automatic_noise(self.own.votes)
        sections = [part for _, part in self if isinstance(part, settings.MainSection)]
        for section in sections:
            section._settings = self
        for section in (self, self.datasets, *sections):
            for mistake in section.conflicts():
                raise settings.mistake_error(*mistake)
        return self

    def conflicts(self) -> Iterator[settings.Mistake]:
        """Yield what is wrong between parts that are no sections of their own."""
        share, own = self.planner.profile.absent_share, self.own
        if share and not (own.votes is not None and own.ensemble.absent):
            allowed = "0, unless ballots of your own votes may be absent (absent=yes)"
            yield "planner.profile.absent_share", share, allowed
        released = own.votes is not None and own.session.file is None
        for key, usual in {"adjacency": "replace_one", "teacher_epsilon": None}.items():
            stated, path = getattr(self.planner, key), SECTION_PATHS[key]
            if released and stated not in (usual, attrgetter(path)(own)):
                allowed = f"as in config.yaml, as your own votes have their own (own.{path})"
                yield f"planner.{key}", stated, allowed
        for name in self.synthetic_votes:
            if name in self.datasets:  # their votes would be one folder
                allowed = "another name than those under datasets"
                yield f"synthetic_votes.{name}", name, allowed

    # What rules ask of several sections ---------------------------------------------------------

    def is_available(self, dataset: str) -> bool:
        """Return whether the files of a data set, if it is optional, are at hand."""
        return self.datasets.is_available(dataset, self.data_mirror)

    def training_parameters(self, dataset: str, kind: str, K: int | None = None) -> dict:
        """Return the training parameters of the teachers of an ensemble.

        They are those of a task of PATE, if its votes are cast on this data set, or else DaRRM's.
        Ensembles of other sizes, which NZC compares, may train for another number of epochs.

        Args:
            dataset: The name of the data set.
            kind: "private" or "plain".
            K: The number of teachers; None for that of the task.
        """
        task = self.pate.task_of(dataset)
        if task is not None and task.kind == kind:
            return task.teachers.to_dict() | self.nzc.retraining(dataset, K)
        return self.darrm.training(dataset, kind, K)

    def classes(self, dataset: str) -> int:
        """Return the number of classes of a data set, or of synthetic votes that bear its name."""
        synthetic = self.synthetic_votes.get(dataset)
        return synthetic.n_classes if synthetic else self.datasets[dataset].n_classes

    def ledger(self) -> dict:
        """Return what the ledger depends on, such as budgets, PATE's noise and NZC's claim."""
        audit, votes = self.audit, next(iter(self.dpbag.models().values()))
        return {
            "budgets": {name: audit.budget(name) for name in audit.budgets} if audit else {},
            "student_score": audit.student_score if audit else None,
            "totals": audit.totals_settings() if audit else None,
            "pate": {
                name: task.pick(*PATE) | {"n_classes": self.classes(task.dataset)}
                for name, task in self.pate.enabled_tasks().items()
            },
            "nzc": {
                name: self.pate.tasks[task.task].pick("pool", "delta")
                for name, task in self.nzc.enabled_tasks().items()
                if task.task in self.pate.enabled_tasks()
            },
            "dpbag": {"n": max(votes.n), "k": max(votes.k), **self.dpbag.pick("noise", "delta")},
            "mechanism": self.nzc.mechanism(),
        }

    def gammas(self) -> list[dict]:
        """Return K, m, epsilon and Delta of the noise functions that the ledger's budgets need."""
        budgets = self.ledger()["budgets"].values()
        keys = ("K", "m", "epsilon", "Delta")
        return [{key: budget[key] for key in keys} for budget in budgets]


def _is_text(annotation: object) -> bool:
    """Return whether a key may be any text, or null."""
    if get_origin(annotation) in (Annotated, Union):
        return any(map(_is_text, get_args(annotation)))
    return annotation is str


def _annotation(path: str) -> object:
    """Return the type of the key at a dotted path."""
    section = Configuration
    for step in path.split("."):
        section = section.model_fields[step].annotation
    return section


# All keys that may be given on the command line, with their dotted paths. The values of some may be
# any text, such as names and paths of files.
_TYPED = {name: name for name in Configuration.model_fields} | {
    key: f"own.{path}" for key, path in SECTION_PATHS.items()
}
TEXTS = {key for key, path in _TYPED.items() if _is_text(_annotation(path))}
