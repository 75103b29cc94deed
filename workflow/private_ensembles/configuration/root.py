"""The whole configuration: values that no paper owns, and the sections."""

import os
from collections.abc import Iterator
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import Field, ValidationInfo, field_validator, model_validator

from private_ensembles.configuration import types
from private_ensembles.configuration.audit import PATE, Audit
from private_ensembles.configuration.changes import automatic_noise
from private_ensembles.configuration.class_names import read_class_names
from private_ensembles.configuration.darrm import Darrm
from private_ensembles.configuration.datasets import ADDRESS, Datasets
from private_ensembles.configuration.dpbag import Dpbag
from private_ensembles.configuration.models import ForestTeachers, Teachers
from private_ensembles.configuration.nzc import Nzc
from private_ensembles.configuration.pate import Pate
from private_ensembles.configuration.planner import Planner, SyntheticVotes
from private_ensembles.configuration.types import about


class Configuration(types.Section):
    """Configuration of private_ensembles."""

    data: Literal["embedded", "paper"] = about(
        "Which data the accuracies are measured on; `embedded` downloads nothing."
    )
    papers: types.Distinct[Literal["darrm", "pate", "dpbag", "nzc"]] = about(
        "Papers that the default target, the comparison and the page cover."
    )
    data_mirror: types.Maybe[Annotated[str, Field(min_length=1)]] = about(
        "Folder or start of an address tried before the public addresses."
    )
    seed: types.Seed = about("Origin of all randomness.")
    noise: Literal["auto", "reproducible", "secure"] = about(
        "Origin of the noise; `auto` is `secure` for your own votes and `reproducible` otherwise."
    )
    votes: types.Maybe[Annotated[str, Field(pattern=r"\.(npz|npy|csv|parquet)$")]] = about(
        "File of your own votes, on which everything runs in place of the papers."
    )
    votes_kind: Literal["auto", "votes", "counts"] = about(
        "What the file holds; `auto` reads it off the file."
    )
    n_classes: types.Maybe[types.Classes] = about(
        "Classes of your own votes, which must be stated with them, or `class_names`."
    )
    class_names: types.Maybe[Annotated[str, Field(min_length=1)]] = about(
        "Names of the classes, separated by commas, or a file with one on each line."
    )
    first_class: types.integer(ge=0, le=1) = about("What your own votes call the first class.")
    n_teachers: types.Maybe[types.Teachers] = about(
        "Teachers of your own votes, which must be stated with them, unless a session does."
    )
    id_column: types.Maybe[Annotated[str, Field(min_length=1)]] = about(
        "Column of your own votes that holds identifiers of the queries; null looks for `id`."
    )
    truth_column: types.Maybe[Annotated[str, Field(min_length=1)]] = about(
        "Column of your own votes that holds the right labels; null looks for `label`."
    )
    ignore_columns: types.Maybe[Annotated[str, Field(min_length=1)]] = about(
        "Columns of your own votes, separated by commas, that are no teacher's and none of these."
    )
    long_columns: types.Maybe[Annotated[str, Field(pattern=r"^[^,]+,[^,]+,[^,]+$")]] = about(
        "Columns of query, teacher and vote, separated by commas, if each line holds one vote."
    )
    absent: types.YesNo = about(
        "Whether a teacher of your own votes may say nothing about a query."
    )
    absent_as: types.Maybe[Annotated[str, Field(min_length=1)]] = about(
        "What stands in the file where a ballot is absent, which it then may be; null: nothing, -1."
    )
    most_ones: types.Maybe[types.Count] = about(
        "On how many queries a teacher votes 1 at most, of two classes; the first ones count."
    )
    answer: Annotated[str, Field(min_length=1)] = about(
        "Queries to answer: `first`, `random`, or a file that names one on each line."
    )
    labels_wanted: types.Maybe[types.Count] = about(
        "The most labels to release; null asks for one for every query."
    )
    epsilon: types.TotalEpsilon = about("Budget of all labels of your own votes together.")
    delta: types.SmallDelta = about("Budget of all labels of your own votes together.")
    again: types.YesNo = about("Whether labels of your own votes may be released a second time.")
    total_budget: types.Maybe[types.TotalEpsilon] = about(
        "What all releases of your own votes may cost together, as epsilon; null for no limit."
    )
    already_spent: types.Maybe[types.Spent] = about(
        "Epsilon and delta that were spent on the same teachers before there was a ledger."
    )
    shards: types.Maybe[Literal["disjoint", "shared"]] = about(
        "Whether a record may be in the data of several teachers; stated for a release."
    )
    unit: Annotated[str, Field(min_length=1, max_length=100)] = about(
        "What one record is, such as patient: what your own votes' labels protect."
    )
    reach: types.Count = about("The most teachers whose data one unit may be in.")
    anyway: types.YesNo = about("Whether labels may be released that are of little use.")
    session: types.Maybe[Annotated[str, Field(min_length=1)]] = about(
        "File of a session, of which your own votes are a batch."
    )
    batch: types.Maybe[types.BatchName] = about(
        "Name of the batch: one that was released is not drawn again."
    )
    download_timeout: types.number(gt=0, le=86400) = about(
        "Seconds of silence after which a download is tried again."
    )
    solver: Literal["auto", "gurobi", "highs"] = about(
        "Solver of the linear programs; `auto` is HiGHS, our own beyond 201 teachers."
    )
    device: Literal["auto", "cpu", "cuda"] = about("Where teachers train; `auto` prefers a GPU.")
    teachers: Teachers
    darrm: Darrm
    pate: Pate
    dpbag: Dpbag
    nzc: Nzc
    audit: types.Maybe[Audit] = about("Settings of the ledger; null leaves it out.")
    forest_teachers: ForestTeachers
    synthetic_votes: dict[types.Name, SyntheticVotes] = about(
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
        paths = _places(mirror, info)
        folder = next(filter(os.path.isdir, paths), None)
        if folder is None and info.data.get("data") == "paper":
            raise types.wrong(
                "", mirror, f"an existing folder (looked at {' and '.join(paths)}) or URL"
            )
        return folder or paths[0]

    @field_validator("votes", "session")
    @classmethod
    def _files_are_there(cls, path: str | None, info: ValidationInfo) -> str | None:
        if path is None:
            return None
        paths = _places(path, info)
        file = next(filter(os.path.isfile, paths), None)
        if file is None:
            raise types.wrong("", path, f"an existing file (looked at {' and '.join(paths)})")
        return file

    @field_validator("class_names", "answer")
    @classmethod
    def _may_be_a_file(cls, text: str | None, info: ValidationInfo) -> str | None:
        words = text in ("first", "random") if info.field_name == "answer" else "," in (text or ",")
        file = next(filter(os.path.isfile, _places(text or "", info)), None)
        if info.field_name == "answer" and words:
            return text
        if file is None and not words:
            other = "first, random" if info.field_name == "answer" else "names with commas"
            raise types.wrong("", text, f"{other} or an existing file")
        return file or text

    @model_validator(mode="after")
    def _sections_fit(self):
        if self.noise == "auto":
            self.noise = automatic_noise(self.votes)
        if self.absent_as is not None and self.session is None:
            self.absent = True
        if self.class_names is not None and self.n_classes is None and self.session is None:
            self.n_classes = self._named_classes()
        sections = [part for _, part in self if isinstance(part, types.MainSection)]
        for section in sections:
            section._settings = self
        for section in (self, self.datasets, *sections):
            for mistake in section.conflicts():
                raise types.wrong(*mistake)
        return self

    def _named_classes(self) -> int:
        """Return how many classes have names."""
        try:
            return len(read_class_names(self.class_names))
        except (ValueError, OSError) as error:
            reason = str(error).removeprefix("class_names: ")
            raise types.wrong("class_names", self.class_names, f"right: {reason}") from None

    def conflicts(self) -> Iterator[types.Mistake]:
        """Yield what is wrong between parts that are no sections of their own."""
        if self.session is not None and self.answer != "first":
            yield "answer", self.answer, "first, as a session answers the queries of its batches"
        if self.session is not None:
            if self.votes is None:
                yield "votes", None, "the file of a batch of votes, as a session is given"
            if self.batch is None:
                yield "batch", None, "a name for this batch of the session, as in batch=2026-11"
        elif self.batch is not None:
            yield "batch", self.batch, "null, as no session is given"
        elif self.votes is not None and self.n_classes is None:
            # The largest vote would reveal something about the votes, without noise.
            allowed = "the number of classes of your votes, as in --config n_classes=10"
            yield "n_classes", None, allowed
        elif self.votes is not None and self.n_teachers is None:
            # The promise rests on it, and a column more is seen nowhere else.
            allowed = (
                "the number of teachers, as in --config n_teachers=25 (columns that are no "
                "teacher's: id_column, truth_column, ignore_columns)"
            )
            yield "n_teachers", None, allowed
        yield from self._facts_conflicts()
        for name in self.synthetic_votes:
            if name in self.datasets:  # their votes would be one folder
                allowed = "another name than those under datasets"
                yield f"synthetic_votes.{name}", name, allowed

    def _facts_conflicts(self) -> Iterator[types.Mistake]:
        """Yield what is wrong with the facts on which a release of own votes rests."""
        if not self.unit.isprintable():
            yield "unit", self.unit, "printable text"
        if self.session is not None:
            usual = {"shards": None, "unit": "record", "reach": 1, "absent": False}
            usual |= {"n_teachers": None}
            for name, default in usual.items():
                if (value := getattr(self, name)) != default:
                    shown = "no" if default is False else default or "null"
                    yield name, value, f"{shown}, as the session states its own"
        elif self.votes is not None and self.noise == "secure" and self.shards is None:
            # Nothing in the votes shows it, and everything rests on it.
            allowed = (
                "stated for a release: shards=disjoint (no record is in the data of two teachers) "
                "or shards=shared"
            )
            yield "shards", None, allowed
        share = self.planner.profile.absent_share
        if share and not (self.votes is not None and self.absent):
            allowed = "0, unless ballots of your own votes may be absent (absent=yes)"
            yield "planner.profile.absent_share", share, allowed
        if self.most_ones is not None and self.session is not None:
            allowed = "null, as a session would have to remember each teacher's ones"
            yield "most_ones", self.most_ones, allowed
        elif self.most_ones is not None and self.votes and (self.n_classes != 2 or self.absent):
            allowed = "null, except for votes of two classes without absent ballots"
            yield "most_ones", self.most_ones, allowed
        if self.shards == "shared" and self.reach > 1:
            yield "reach", self.reach, "1, as shards = shared may have a record in all of them"

    # What rules ask that concerns several sections ---------------------------------------------

    def available(self, dataset: str) -> bool:
        """Tell whether the files of a data set, if it is optional, are at hand."""
        return self.datasets.available(dataset, self.data_mirror)

    def training(self, dataset: str, kind: str, K: int | None = None) -> dict:
        """Return the training parameters of one kind ("private" or "plain") of (K) teachers.

        Those of a task of PATE, if its votes are cast on this data set, else DaRRM's. Ensembles
        of other sizes, which NZC compares, may train for another number of epochs.
        """
        task = self.pate.task_of(dataset)
        if task is not None and task.kind == kind:
            return task.teachers.plain() | self.nzc.retraining(dataset, K)
        return self.darrm.training(dataset, kind, K)

    def classes(self, dataset: str) -> int:
        """Return the classes of a data set, or of synthetic votes that go by its name."""
        synthetic = self.synthetic_votes.get(dataset)
        return synthetic.n_classes if synthetic else self.datasets[dataset].n_classes

    def ledger(self) -> dict:
        """Return what the ledger depends on: budgets, the noise of PATE's tasks, NZC's claim."""
        audit, votes = self.audit, self.dpbag.logistic
        return {
            "budgets": {name: audit.budget(name) for name in audit.budgets} if audit else {},
            "student_score": audit.student_score if audit else None,
            "totals": audit.totals_of() if audit else None,
            "pate": {
                name: task.pick(*PATE) | {"n_classes": self.classes(task.dataset)}
                for name, task in self.pate.chosen().items()
            },
            "nzc": {
                name: self.pate.tasks[task.task].pick("pool", "delta")
                for name, task in self.nzc.chosen().items()
                if task.task in self.pate.chosen()
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


# The keys at the top whose value may be any text: names, and paths of files.
TEXTS = {name for name, field in Configuration.model_fields.items() if _is_text(field.annotation)}


def _places(name: str, info: ValidationInfo) -> list[str]:
    """Return where a relative path may lead: from each folder that it may be relative to."""
    folders = (info.context or {}).get("folders") or ["."]
    wanted = os.path.expanduser(name)
    paths = (os.path.abspath(os.path.join(folder, wanted)) for folder in folders)
    return list(dict.fromkeys(paths))
