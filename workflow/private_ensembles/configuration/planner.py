"""The sections `planner` and `synthetic_votes`: how ensembles of no one in particular agree."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from private_ensembles.configuration.types import (
    Count,
    Delta,
    Distinct,
    MainSection,
    Maybe,
    Mistake,
    Pair,
    Positive,
    Section,
    Share,
    SmallDelta,
    integer,
    number,
    wrong,
)

BETA = "Beta distribution of the share of teachers that are right on a query."


class Profile(Section):
    """How the teachers tend to agree (votes.synthetic.ConsensusProfile)."""

    easy_share: Share = Field(description="Share of easy queries.")
    easy: Pair[Positive] = Field(description=BETA)
    hard: Pair[Positive] = Field(description=BETA)
    confusion: Positive = Field(
        description="Concentration of the votes for wrong classes; small for few such classes."
    )


class Pool(Section):
    """How many queries there are, of how many classes."""

    n_classes: integer(ge=2) = Field(description="Classes.")
    n_queries: Count = Field(description="Queries.")


class SyntheticVotes(Profile, Pool):  # keys in the order of config.yaml: of the last base first
    """Profile of the consensus of an ensemble that does not exist."""

    imbalance: number(ge=1) = Field(
        description="How many times more frequent the first class is than the last."
    )
    mislabelled: Share = Field(description="Share of queries whose label is not the true class.")


class Planner(MainSection):
    """Which mechanism to use, on a stated profile of the votes."""

    mechanisms: Distinct[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]] = Field(
        description="Names of mechanisms (files in private_ensembles/mechanisms)."
    )
    privacy_model: Literal["shared_data", "disjoint_shards"] = Field(
        description="What a record may reach."
    )
    adjacency: Literal["add_remove", "replace_one"] = Field(
        description="What a neighbouring data set is."
    )
    teacher_epsilon: Maybe[Positive] = Field(
        description="Cost of one private teacher (add_remove); null where teachers are not private."
    )
    teacher_Delta: Delta = Field(description="Its Delta.")
    teachers: integer(ge=2) = Field(description="Teachers.")
    n_classes: integer(ge=2, le=10000) = Field(description="Classes.")
    queries: Count = Field(description="Queries in the pool.")
    labels: Count = Field(description="Labels wanted at most.")
    epsilons: Distinct[number(gt=0, le=100)] = Field(
        description="Budgets of the table and the figure."
    )
    delta: SmallDelta = Field(description="Of all labels together.")
    profile: Profile

    @field_validator("mechanisms")
    @classmethod
    def _are_offered(cls, names: list[str], info: ValidationInfo) -> list[str]:
        offered = (info.context or {}).get("mechanisms")
        for index, name in enumerate(names):
            if offered is not None and name not in offered:
                raise wrong(f"[{index}]", name, f"one of {', '.join(offered)}")
        return names

    def mistakes(self) -> Iterator[Mistake]:
        if self.labels > self.queries:
            yield "labels", self.labels, f"at most {{here}}.queries = {self.queries}"
