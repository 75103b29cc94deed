"""The mechanisms that release labels, and what each needs to be private.

Pure data: a privacy claim without its privacy model and adjacency is no claim, so both stand here
beside the name and `require` is called before any label is released.
"""

from dataclasses import dataclass

PRIVACY_MODELS = frozenset({"shared_data", "disjoint_shards"})
ADJACENCIES = frozenset({"add_remove", "replace_one"})


@dataclass(frozen=True)
class Mechanism:
    """One way to turn votes into a label.

    privacy_models: "shared_data" where every teacher may see every record; "disjoint_shards" where
    one record reaches one teacher only. adjacency: the neighbouring relations its guarantee can be
    stated for; "add_remove" with disjoint shards needs an assignment that moves no other record
    (`datasets.shards.keyed_hash_shards`). teachers: what must vote. data_dependent: its privacy
    cost is itself a function of the votes. released: its labels may leave the workflow.
    """

    name: str
    label: str
    paper: str
    source: str
    teachers: str
    privacy_models: frozenset[str]
    adjacency: frozenset[str]
    data_dependent: bool
    released: bool


def _noisy_plurality(name: str, label: str, source: str, *, data_dependent: bool) -> Mechanism:
    """One of PATE's: noise on the counts of plain teachers, hence one record per teacher."""
    return Mechanism(
        name=name,
        label=label,
        paper="PATE",
        source=source,
        teachers="plain",
        privacy_models=frozenset({"disjoint_shards"}),
        adjacency=ADJACENCIES,
        data_dependent=data_dependent,
        released=True,
    )


MECHANISMS = {
    mechanism.name: mechanism
    for mechanism in (
        _noisy_plurality(
            "gnmax",
            "GNMax, σ by RDP",
            "PATE section 4.1; σ as in DaRRM appendix D.2.1",
            data_dependent=False,
        ),
        _noisy_plurality(
            "gnmax_analytic",
            "GNMax, σ by the analytic Gaussian mechanism",
            "PATE section 4.1; σ by Balle and Wang 2018, Theorem 8",
            data_dependent=False,
        ),
        Mechanism(
            name="gnmax_improved",
            label="GNMax, σ by the improved RDP conversion",
            paper="PATE",
            source="PATE section 4.1; Canonne, Kamath and Steinke 2020, Proposition 12",
            teachers="plain",
            privacy_models=frozenset({"disjoint_shards"}),
            adjacency=ADJACENCIES,
            data_dependent=False,
            released=True,
        ),
        Mechanism(
            name="gnmax_exact",
            label="GNMax, σ by the exact audit of the label",
            paper="PATE",
            source="PATE section 4.1; σ by DESIGN 5.5, two classes and this number of teachers",
            teachers="plain",
            privacy_models=frozenset({"disjoint_shards"}),
            adjacency=ADJACENCIES,
            data_dependent=False,
            released=True,
        ),
        Mechanism(
            name="lnmax_pure",
            label="LNMax, scale 2/ε",
            paper="PATE",
            source="PATE 2017 (LNMax); one moved vote changes two counts by one",
            teachers="plain",
            privacy_models=frozenset({"disjoint_shards"}),
            adjacency=ADJACENCIES,
            data_dependent=False,
            released=True,
        ),
        Mechanism(
            name="lnmax_exact",
            label="LNMax, scale by the exact audit of the label",
            paper="PATE",
            source="PATE 2017 (LNMax); closed form on two classes and this number of teachers",
            teachers="plain",
            privacy_models=frozenset({"disjoint_shards"}),
            adjacency=ADJACENCIES,
            data_dependent=False,
            released=True,
        ),
        Mechanism(
            name="exponential",
            label="Exponential mechanism on the counts",
            paper="tight baselines",
            source="McSherry and Talwar 2007, Theorem 6",
            teachers="plain",
            privacy_models=frozenset({"disjoint_shards"}),
            adjacency=ADJACENCIES,
            data_dependent=False,
            released=True,
        ),
        Mechanism(
            name="permute_and_flip",
            label="Permute-and-flip on the counts",
            paper="tight baselines",
            source="McKenna and Sheldon 2020, Algorithm 1",
            teachers="plain",
            privacy_models=frozenset({"disjoint_shards"}),
            adjacency=ADJACENCIES,
            data_dependent=False,
            released=True,
        ),
        Mechanism(
            name="ladder",
            label="Optimal ladder on two classes",
            paper="tight baselines",
            source="docs/ladder.md: no label-symmetric release is better",
            teachers="plain",
            privacy_models=frozenset({"disjoint_shards"}),
            adjacency=ADJACENCIES,
            data_dependent=False,
            released=True,
        ),
        # Its claim is false (docs/nzc.md), so its labels stay inside.
        Mechanism(
            name="nzc",
            label="NZC, immutable noisy ArgMax",
            paper="NZC",
            source="NZC section 3.2 and Theorem 4",
            teachers="plain",
            privacy_models=frozenset({"disjoint_shards"}),
            adjacency=ADJACENCIES,
            data_dependent=False,
            released=False,
        ),
        Mechanism(
            name="darrm_sub",
            label="DaRRM, γ by subsampling",
            paper="DaRRM",
            source="DaRRM Lemma 3.1",
            teachers="private",
            privacy_models=PRIVACY_MODELS,
            adjacency=ADJACENCIES,
            data_dependent=False,
            released=True,
        ),
        Mechanism(
            name="darrm_opt",
            label="DaRRM, γ optimised",
            paper="DaRRM",
            source="DaRRM section 5, with the exact objective and a certificate",
            teachers="private",
            privacy_models=PRIVACY_MODELS,
            adjacency=ADJACENCIES,
            data_dependent=False,
            released=True,
        ),
        Mechanism(
            name="majority_private",
            label="Majority of private teachers, no noise",
            paper="DaRRM",
            source="parallel composition and post-processing; the row that DaRRM lacks",
            teachers="private",
            privacy_models=frozenset({"disjoint_shards"}),
            adjacency=ADJACENCIES,
            data_dependent=False,
            released=True,
        ),
        _noisy_plurality(
            "lnmax", "LNMax", "PATE section 3.1 (Papernot et al. 2017)", data_dependent=True
        ),
        _noisy_plurality(
            "confident_gnmax", "Confident-GNMax", "PATE Algorithm 1", data_dependent=True
        ),
        _noisy_plurality(
            "interactive_gnmax",
            "Interactive-GNMax",
            "PATE Algorithm 2; the student's scores must come from released labels only",
            data_dependent=True,
        ),
    )
}


def require(name: str, privacy_model: str, adjacency: str) -> Mechanism:
    """Return the mechanism, provided that it is private in this model for these neighbours.

    Raises ValueError naming the allowed values where the name is unknown or the mechanism's
    guarantee does not cover the privacy model or the adjacency.
    """
    if name not in MECHANISMS:
        raise ValueError(f"mechanism = {name!r}: must be one of {', '.join(MECHANISMS)}")
    mechanism = MECHANISMS[name]
    for what, value, allowed in (
        ("privacy_model", privacy_model, mechanism.privacy_models),
        ("adjacency", adjacency, mechanism.adjacency),
    ):
        if value not in allowed:
            raise ValueError(
                f"{what} = {value!r}: must be one of {', '.join(sorted(allowed))} for {name}"
            )
    return mechanism
