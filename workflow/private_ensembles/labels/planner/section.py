"""The sections `planner` and `synthetic_votes`: how ensembles of no one in particular agree."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from private_ensembles.base import settings
from private_ensembles.base.settings import describe_key

BETA = "Beta distribution of the share of teachers that are right on a query."


class Profile(settings.Section):
    """How the teachers tend to agree (labels.profile.ConsensusProfile)."""

    easy_share: settings.Share = describe_key("Share of easy queries.")
    easy: settings.Pair[settings.Positive] = describe_key(BETA)
    hard: settings.Pair[settings.Positive] = describe_key(BETA)
    confusion: settings.Positive = describe_key(
        "Concentration of the votes for wrong classes; small for few such classes."
    )


class PlannedProfile(Profile):
    """The same for a plan, which is compared with guessing."""

    commonest: settings.Maybe[Annotated[float, *settings.number(gt=0, lt=1)]] = describe_key(
        "Share of the commonest class; null if all are equally common."
    )
    absent_share: Annotated[float, *settings.number(ge=0, lt=1)] = describe_key(
        "Share of ballots that are absent; above 0 only if ballots may be."
    )


class Pool(settings.Section):
    """How many queries there are, of how many classes."""

    n_classes: settings.Classes = describe_key("Classes.")
    n_queries: settings.Count = describe_key("Queries.")


class SyntheticVotes(Profile, Pool):  # keys in the order of config.yaml: of the last base first
    """Profile of the consensus of an ensemble that does not exist."""

    imbalance: Annotated[float, *settings.number(ge=1)] = describe_key(
        "How many times more frequent the first class is than the last."
    )
    mislabelled: settings.Share = describe_key(
        "Share of queries whose label is not the true class."
    )


class Planner(settings.MainSection):
    """Which mechanism to use, on a stated profile of the votes."""

    mechanisms: settings.Distinct[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]] = (
        describe_key("Names of mechanisms (private_ensembles/labels/registry.py).")
    )
    privacy_model: Literal["shared_data", "disjoint_shards"] = describe_key(
        "What a record may reach."
    )
    adjacency: Literal["add_remove", "replace_one"] = describe_key(
        "What a neighbouring data set is."
    )
    teacher_epsilon: settings.Maybe[settings.Loss] = describe_key(
        "Cost of one private teacher (add_remove); null if teachers are not private."
    )
    teacher_Delta: settings.Delta = describe_key("Its Delta.")
    teachers: settings.Teachers = describe_key("Teachers.")
    n_classes: settings.Classes = describe_key("Classes.")
    queries: settings.Count = describe_key("Queries in the pool.")
    labels: settings.Count = describe_key("Labels wanted at most.")
    epsilons: settings.Distinct[settings.TotalEpsilon] = describe_key(
        "Budgets of table and figure."
    )
    delta: settings.SmallDelta = describe_key("Of all labels together.")
    profile: PlannedProfile

    @field_validator("mechanisms")
    @classmethod
    def _check_offered(cls, names: list[str], info: ValidationInfo) -> list[str]:
        offered = (info.context or {}).get("mechanisms")
        for index, name in enumerate(names):
            if offered is not None and name not in offered:
                raise settings.mistake_error(f"[{index}]", name, f"one of {', '.join(offered)}")
        return names

    def mistakes(self) -> Iterator[settings.Mistake]:
        yield from settings.find_numbers_above(
            "labels", self.labels, self.queries, "{here}.queries"
        )
