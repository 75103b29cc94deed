"""The section `own`: your own votes, and what is asked of them, part by part as in Python."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from private_ensembles.base import settings
from private_ensembles.base.settings import describe_key
from private_ensembles.release.class_names import read_class_names
from private_ensembles.release.files import formats


class Ensemble(settings.Section):
    """Who votes, and on what."""

    teachers: settings.Maybe[settings.Teachers] = describe_key(
        "How many; must be stated with the votes, unless a session does."
    )
    classes: settings.Maybe[settings.Classes] = describe_key(
        "How many; must be stated with the votes, or `reading.class_names`."
    )
    absent: settings.YesNo = describe_key("Whether a teacher may say nothing about a query.")
    teacher_epsilon: settings.Maybe[settings.Loss] = describe_key(
        "Cost of one private teacher (add_remove); null if teachers are not private."
    )
    teacher_Delta: settings.Delta = describe_key("Its Delta.")


class Budget(settings.Section):
    """What the labels may cost."""

    epsilon: settings.TotalEpsilon = describe_key("What they may cost, all together.")
    delta: settings.SmallDelta = describe_key("The delta of that cost.")


class Protection(settings.Section):
    """Whom the guarantee protects: facts that nothing in the votes shows."""

    shards: settings.Maybe[Literal["disjoint", "shared"]] = describe_key(
        "Whether a record may be in the data of several teachers; stated for a release."
    )
    unit: Annotated[str, Field(min_length=1, max_length=100)] = describe_key(
        "What one record is, such as patient: what the labels protect."
    )
    reach: settings.Count = describe_key("The most teachers whose data one unit may be in.")
    adjacency: Literal["add_remove", "replace_one"] = describe_key(
        "What a neighbouring data set is."
    )


class Wanted(settings.Section):
    """Which labels are wanted."""

    labels: settings.Maybe[settings.Count] = describe_key(
        "At most; null asks for one for every query."
    )
    answer: settings.Text = describe_key(
        "Queries to answer: `first`, `random`, or a file that names one on each line."
    )
    most_ones: settings.Maybe[settings.Count] = describe_key(
        "On how many queries a teacher votes 1 at most, of two classes; the first ones count."
    )

    @field_validator("answer")
    @classmethod
    def _is_a_word_or_a_file(cls, text: str, info: ValidationInfo) -> str:
        file = settings.find_file(text, info)
        if text in ("first", "random"):
            return text
        if file is None:
            raise settings.mistake_error("", text, "first, random or an existing file")
        return file


class Reading(settings.Section):
    """How the file of votes is read."""

    kind: Literal["auto", "votes", "counts"] = describe_key(
        "What it holds; `auto` reads it off the file."
    )
    class_names: settings.Maybe[settings.Text] = describe_key(
        "Names of the classes, separated by commas, or a file with one on each line."
    )
    first_class: Annotated[int, *settings.integer(ge=0, le=1)] = describe_key(
        "What it calls the first class."
    )
    id_column: settings.Maybe[settings.Text] = describe_key(
        "Column that holds identifiers of the queries; null looks for `id`."
    )
    truth_column: settings.Maybe[settings.Text] = describe_key(
        "Column that holds the right labels; null looks for `label`."
    )
    ignore_columns: settings.Maybe[settings.Text] = describe_key(
        "Columns, separated by commas, that are no teacher's and none of these."
    )
    long_columns: settings.Maybe[Annotated[str, Field(pattern=r"^[^,]+,[^,]+,[^,]+$")]] = (
        describe_key(
            "Columns of query, teacher and vote, separated by commas, if each line holds one vote."
        )
    )
    absent_as: settings.Maybe[settings.Text] = describe_key(
        "What stands where a ballot is absent, which it then may be; null: nothing, -1."
    )

    @field_validator("class_names")
    @classmethod
    def _are_names_or_a_file(cls, text: str | None, info: ValidationInfo) -> str | None:
        file = None if text is None else settings.find_file(text, info)
        if file is None and "," not in (text or ","):
            raise settings.mistake_error("", text, "names with commas or an existing file")
        return file or text


class Release(settings.Section):
    """What a release may do, and what else was or may be spent."""

    again: settings.YesNo = describe_key("Whether labels may be released a second time.")
    anyway: settings.YesNo = describe_key("Whether labels may be released that are of little use.")
    total_budget: settings.Maybe[settings.TotalEpsilon] = describe_key(
        "What all releases may cost together, as epsilon; null for no limit."
    )
    already_spent: settings.Maybe[settings.Spent] = describe_key(
        "Epsilon and delta that were spent on the same teachers before there was a ledger."
    )


class Session(settings.Section):
    """The session of which the votes are a batch, if they are one."""

    file: settings.Maybe[Annotated[settings.Text, settings.File]] = describe_key("Its file.")
    batch: settings.Maybe[settings.BatchName] = describe_key(
        "Name of the batch: one that was released is not drawn again."
    )


class Own(settings.MainSection):
    """Your own votes, on which everything runs in place of the papers."""

    votes: settings.Maybe[
        Annotated[str, Field(pattern=formats.ending_pattern()), settings.File]
    ] = describe_key("Their file; null runs the papers.")
    ensemble: Ensemble
    budget: Budget
    protection: Protection
    wanted: Wanted
    reading: Reading
    release: Release
    session: Session

    @model_validator(mode="after")
    def _fill_implied_values(self):
        """Set `absent` if `absent_as` is stated, and the number of classes by their names."""
        ensemble, reading = self.ensemble, self.reading
        if self.session.file is None:
            ensemble.absent = ensemble.absent or reading.absent_as is not None
            if ensemble.classes is None and reading.class_names is not None:
                ensemble.classes = self._count_classes(reading.class_names)
        return self

    def _count_classes(self, names: str) -> int:
        """Return how many classes have names."""
        try:
            return len(read_class_names(names))
        except (ValueError, OSError) as error:
            reason = str(error).removeprefix("class_names: ")
            raise settings.mistake_error("reading.class_names", names, f"right: {reason}") from None

    def conflicts(self) -> Iterator[settings.Mistake]:
        """Yield what is wrong between the parts, and with the noise of this run."""
        is_batch = self.session.file is not None
        conflicts = self._batch_conflicts() if is_batch else self._release_conflicts()
        if not self.protection.unit.isprintable():
            yield "own.protection.unit", self.protection.unit, "printable text"
        for key, value, allowed in conflicts:
            yield f"own.{key}", value, allowed

    def _batch_conflicts(self) -> Iterator[settings.Mistake]:
        if self.votes is None:
            yield "votes", None, "the file of a batch of votes, as a session is given"
        if self.session.batch is None:
            yield "session.batch", None, "a name for this batch of the session, as in batch=2026-11"
        if self.wanted.answer != "first":
            allowed = "first, as a session answers the queries of its batches"
            yield "wanted.answer", self.wanted.answer, allowed
        if self.wanted.most_ones is not None:
            allowed = "null, as a session would have to remember each teacher's ones"
            yield "wanted.most_ones", self.wanted.most_ones, allowed
        usual = {
            "protection.shards": None,
            "protection.unit": "record",
            "protection.reach": 1,
            "protection.adjacency": "replace_one",
            "ensemble.absent": False,
            "ensemble.teachers": None,
            "ensemble.classes": None,
            "ensemble.teacher_epsilon": None,
            "budget.epsilon": 1,
            "budget.delta": 1e-5,
            "wanted.labels": None,
        }
        for path, default in usual.items():
            if (value := attrgetter(path)(self)) != default:
                shown = "no" if default is False else default or "null"
                yield path, value, f"{shown}, as the session states its own"

    def _release_conflicts(self) -> Iterator[settings.Mistake]:
        ensemble, protection, most_ones = self.ensemble, self.protection, self.wanted.most_ones
        if self.session.batch is not None:
            yield "session.batch", self.session.batch, "null, as no session is given"
        if protection.shards == "shared" and protection.reach > 1:
            allowed = "1, as shards = shared may have a record in all of them"
            yield "protection.reach", protection.reach, allowed
        if self.votes is None:
            return
        if ensemble.classes is None:
            # To take the largest vote instead would reveal something about the votes.
            allowed = "the number of classes of your votes, as in --config n_classes=10"
            yield "ensemble.classes", None, allowed
        if ensemble.teachers is None:
            # The promise rests on this number; nothing else shows a column that is no teacher's.
            allowed = (
                "the number of teachers, as in --config n_teachers=25 (columns that are no "
                "teacher's: id_column, truth_column, ignore_columns)"
            )
            yield "ensemble.teachers", None, allowed
        if self._settings.noise == "secure" and protection.shards is None:
            # Nothing in the votes shows whether shards are disjoint, and everything rests on it.
            allowed = (
                "stated for a release: shards=disjoint (no record is in the data of two teachers) "
                "or shards=shared"
            )
            yield "protection.shards", None, allowed
        if most_ones is not None and (ensemble.classes != 2 or ensemble.absent):
            allowed = "null, except for votes of two classes without absent ballots"
            yield "wanted.most_ones", most_ones, allowed
