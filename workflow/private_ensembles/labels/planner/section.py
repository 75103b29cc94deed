"""The sections `planner` and `synthetic_votes`: how ensembles of no one in particular agree."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from private_ensembles.base import settings
from private_ensembles.base.settings import about

BETA = "Beta distribution of the share of teachers that are right on a query."


class Profile(settings.Section):
    """How the teachers tend to agree (votes.synthetic.ConsensusProfile)."""

    easy_share: settings.Share = about("Share of easy queries.")
    easy: settings.Pair[settings.Positive] = about(BETA)
    hard: settings.Pair[settings.Positive] = about(BETA)
    confusion: settings.Positive = about(
        "Concentration of the votes for wrong classes; small for few such classes."
    )


class PlannedProfile(Profile):
    """The same for a plan, which is compared with guessing."""

    commonest: settings.Maybe[settings.number(gt=0, lt=1)] = about(
        "Share of the commonest class; null if all are equally common."
    )
    absent_share: settings.number(ge=0, lt=1) = about(
        "Share of ballots that are absent; above 0 only if ballots may be."
    )


class Pool(settings.Section):
    """How many queries there are, of how many classes."""

    n_classes: settings.Classes = about("Classes.")
    n_queries: settings.Count = about("Queries.")


class SyntheticVotes(Profile, Pool):  # keys in the order of config.yaml: of the last base first
    """Profile of the consensus of an ensemble that does not exist."""

    imbalance: settings.number(ge=1) = about(
        "How many times more frequent the first class is than the last."
    )
    mislabelled: settings.Share = about("Share of queries whose label is not the true class.")


class Planner(settings.MainSection):
    """Which mechanism to use, on a stated profile of the votes."""

    mechanisms: settings.Distinct[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]] = about(
        "Names of mechanisms (private_ensembles/labels/registry.py)."
    )
    privacy_model: Literal["shared_data", "disjoint_shards"] = about("What a record may reach.")
    adjacency: Literal["add_remove", "replace_one"] = about("What a neighbouring data set is.")
    teacher_epsilon: settings.Maybe[settings.Loss] = about(
        "Cost of one private teacher (add_remove); null if teachers are not private."
    )
    teacher_Delta: settings.Delta = about("Its Delta.")
    teachers: settings.Teachers = about("Teachers.")
    n_classes: settings.Classes = about("Classes.")
    queries: settings.Count = about("Queries in the pool.")
    labels: settings.Count = about("Labels wanted at most.")
    epsilons: settings.Distinct[settings.TotalEpsilon] = about("Budgets of table and figure.")
    delta: settings.SmallDelta = about("Of all labels together.")
    profile: PlannedProfile

    @field_validator("mechanisms")
    @classmethod
    def _are_offered(cls, names: list[str], info: ValidationInfo) -> list[str]:
        offered = (info.context or {}).get("mechanisms")
        for index, name in enumerate(names):
            if offered is not None and name not in offered:
                raise settings.wrong(f"[{index}]", name, f"one of {', '.join(offered)}")
        return names

    def mistakes(self) -> Iterator[settings.Mistake]:
        yield from settings.at_most("labels", self.labels, self.queries, "{here}.queries")
