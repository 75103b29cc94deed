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
    one record reaches one teacher only (of each partition, where there are several). adjacency: the
    neighbouring relations its guarantee can be stated for; "add_remove" with disjoint shards needs
    an assignment that moves no other record (`datasets.shards.keyed_hash_shards`). teachers: what
    must vote. data_dependent: its privacy cost is itself a function of the votes. released: its
    labels may leave the workflow.
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


def _on_counts(
    name: str, label: str, paper: str, source: str, *, data_dependent=False, released=True
) -> Mechanism:
    """A mechanism on the counts of plain teachers: one vote moves where shards are disjoint."""
    return Mechanism(
        name=name,
        label=label,
        paper=paper,
        source=source,
        teachers="plain",
        privacy_models=frozenset({"disjoint_shards"}),
        adjacency=ADJACENCIES,
        data_dependent=data_dependent,
        released=released,
    )


MECHANISMS = {
    mechanism.name: mechanism
    for mechanism in (
        _on_counts(
            "gnmax", "GNMax, σ by RDP", "PATE", "PATE section 4.1; σ as in DaRRM appendix D.2.1"
        ),
        _on_counts(
            "gnmax_analytic",
            "GNMax, σ by the analytic Gaussian mechanism",
            "PATE",
            "PATE section 4.1; σ by Balle and Wang 2018, Theorem 8",
        ),
        _on_counts(
            "gnmax_improved",
            "GNMax, σ by the improved RDP conversion",
            "PATE",
            "PATE section 4.1; Canonne, Kamath and Steinke 2020, Proposition 12",
        ),
        _on_counts(
            "gnmax_exact",
            "GNMax, σ by the exact audit of the label",
            "PATE",
            "PATE section 4.1; σ by DESIGN 5.5, two classes and this number of teachers",
        ),
        _on_counts(
            "lnmax_pure",
            "LNMax, scale 2/ε",
            "PATE",
            "PATE 2017 (LNMax); one moved vote changes two counts by one",
        ),
        _on_counts(
            "lnmax_improved",
            "LNMax, scale by the improved RDP conversion",
            "PATE",
            "PATE 2017 (LNMax); Canonne, Kamath and Steinke 2020, Proposition 12",
        ),
        _on_counts(
            "lnmax_analytic",
            "LNMax, scale by the exact δ of the noisy counts",
            "PATE",
            "PATE 2017 (LNMax); baselines.lnmax_noisy_counts_delta, any number of classes",
        ),
        _on_counts(
            "lnmax_exact",
            "LNMax, scale by the exact audit of the label",
            "PATE",
            "PATE 2017 (LNMax); closed form on two classes and this number of teachers",
        ),
        _on_counts(
            "exponential",
            "Exponential mechanism on the counts",
            "tight baselines",
            "McSherry and Talwar 2007, Theorem 6",
        ),
        _on_counts(
            "permute_and_flip",
            "Permute-and-flip on the counts",
            "tight baselines",
            "McKenna and Sheldon 2020, Algorithm 1",
        ),
        _on_counts(
            "ladder",
            "Optimal ladder on two classes",
            "tight baselines",
            "docs/ladder.md: no label-symmetric release is better",
        ),
        # Its claim is false (docs/nzc.md), so its labels stay inside.
        _on_counts(
            "nzc",
            "NZC, immutable noisy ArgMax",
            "NZC",
            "NZC section 3.2 and Theorem 4",
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
        _on_counts(
            "dpbag",
            "DPBag and SAA, noisy vote of bagged teachers",
            "DPBag",
            "DPBag section 3 (SAA: one partition); one record moves averaged counts by 1 at most",
            data_dependent=True,
        ),
        _on_counts(
            "lnmax",
            "LNMax",
            "PATE",
            "PATE section 3.1 (Papernot et al. 2017)",
            data_dependent=True,
        ),
        _on_counts(
            "confident_gnmax", "Confident-GNMax", "PATE", "PATE Algorithm 1", data_dependent=True
        ),
        _on_counts(
            "interactive_gnmax",
            "Interactive-GNMax",
            "PATE",
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
