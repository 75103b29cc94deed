"""The list of mechanisms: what each is called, how it looks, which law has which account.

Facts only: laws and accounts are named here, and load when `mechanism.load` puts them together. All
tables, figures and pages take a mechanism's name, order and look from here. To add one:
docs/add-a-mechanism.md.
"""

from __future__ import annotations

from dataclasses import dataclass

ADJACENCIES = frozenset({"add_remove", "replace_one"})
# Of one family, from the loosest analysis to the tightest.
ANALYSES = ("paper", "improved", "analytic", "label")
# How many labels of two classes, and of more, are proven if noise is secure: all that the law's own
# exact sampler draws; one coin, audited as it is; coins of the table that the account is of; those,
# and a lattice so fine that the account grants its distance from continuous noise; none.
ALL, ONE_COIN, COINS = (10**9, 10**9), (1, 0), (10_000, 0)
COINS_OR_FINE, NONE = (10_000, 10_000), (0, 0)


@dataclass(frozen=True)
class Entry:
    """A mechanism's facts.

    label, look: its name, and its colour, mark and dash, in every table, page and figure.
    law, account, check: "file.object" in the folders of these names; no check: no threshold.
    secure: how many labels of two classes, and of more, are proven if noise is secure.
    paper, source, proof: where it is from, and page#anchor in docs that proves its claim.
    given, aggregator: the account of noise that PATE's configuration gives, and the place among
    its aggregators.
    scale_of: the law by whose name `noise_scale` finds its noise.
    family, analysis: mechanisms that differ only in how their noise is found share a family.
    teachers: whose votes, "plain" or "private".
    privacy_models, adjacencies: for which its guarantee can be stated; elsewhere: what another
    privacy model is told.
    releasable: its labels may leave the workflow.
    data_dependent: its published cost is itself a function of the votes.
    keeps_budget: its noise can be found for a budget.
    hides_votes: the privacy comes from noise on the votes, whose histograms can be audited, and not
    from the teachers.
    costs_once: any number of labels costs the same.
    """

    name: str
    label: str
    look: tuple[str, str, str | tuple]
    law: str
    account: str
    secure: tuple[int, int]
    paper: str
    source: str
    proof: str
    check: str = ""
    given: str = ""
    aggregator: int | None = None
    scale_of: str = ""
    family: str = ""
    analysis: str = "paper"
    teachers: str = "plain"
    privacy_models: frozenset[str] = frozenset({"disjoint_shards"})
    adjacencies: frozenset[str] = ADJACENCIES
    elsewhere: str = ""
    releasable: bool = True
    data_dependent: bool = False
    keeps_budget: bool = True
    hides_votes: bool = True
    costs_once: bool = False

    def require(self, privacy_model: str, adjacency: str) -> None:
        """Raise ValueError unless the guarantee covers the privacy model and the adjacency."""
        for what, value, allowed in (
            ("privacy_model", privacy_model, self.privacy_models),
            ("adjacency", adjacency, self.adjacencies),
        ):
            if value not in allowed:
                names = ", ".join(sorted(allowed))
                raise ValueError(f"{what} = {value!r}: must be one of {names} for {self.name}")


_GAUSSIAN = {"paper": "PATE", "scale_of": "gnmax", "family": "Gaussian noise on the counts"}
_LAPLACE = {"law": "laplace.LAW", "paper": "PATE", "family": "Laplace noise on the counts"}
_CONFIDENT = {"paper": "PATE", "family": "Confident-GNMax", "data_dependent": True}
_TIGHT = {"paper": "tight baselines"}
_PRIVATE = {"paper": "DaRRM", "teachers": "private", "hides_votes": False}
_NOISY_COUNTS = "audit.md#gaussian-noise-on-the-counts"
_BOTH = frozenset({"shared_data", "disjoint_shards"})

ENTRIES = (
    Entry(
        name="gnmax", label="GNMax, published σ", look=("purple", "D", "-"),
        law="gaussian.WHOLE", account="published.gaussian", given="given.gaussian", aggregator=1,
        secure=ALL, source="PATE section 4.1; σ as in DaRRM appendix D.2.1", proof=_NOISY_COUNTS,
        **_GAUSSIAN,
    ),
    Entry(
        name="gnmax_analytic", label="GNMax, analytic σ", look=("purple", "v", "--"),
        law="gaussian.WHOLE", account="analytic.gaussian", secure=ALL, analysis="analytic",
        source="PATE section 4.1; σ by Balle and Wang 2018, Theorem 8",
        proof=_NOISY_COUNTS, **_GAUSSIAN,
    ),
    Entry(
        name="gnmax_improved", label="GNMax, improved RDP σ", look=("purple", "d", "--"),
        law="gaussian.WHOLE", account="improved.gaussian", secure=ALL, analysis="improved",
        source="PATE section 4.1; Canonne, Kamath and Steinke 2020, Proposition 12",
        proof=_NOISY_COUNTS, **_GAUSSIAN,
    ),
    Entry(
        name="gnmax_exact", label="GNMax, exact σ", look=("purple", "8", ":"),
        law="gaussian.COINS", account="label.gaussian", secure=COINS_OR_FINE, analysis="label",
        source="PATE section 4.1; σ by DESIGN 5.5, 5.12 and 5.13",
        proof="many-labels.md#gaussian-noise-in-any-number-of-classes", **_GAUSSIAN,
    ),
    Entry(
        name="lnmax_pure", label="LNMax, pure scale", look=("green", "<", "-"),
        account="published.laplace", secure=ONE_COIN,
        scale_of="lnmax", source="PATE 2017 (LNMax); one moved vote changes two counts by one",
        proof="audit.md#laplace-noise-on-the-counts", **_LAPLACE,
    ),
    Entry(
        name="lnmax_improved", label="LNMax, improved RDP scale", look=("green", "1", "--"),
        account="improved.laplace", secure=ONE_COIN, analysis="improved",
        scale_of="lnmax",
        source="PATE 2017 (LNMax); Canonne, Kamath and Steinke 2020, Proposition 12",
        proof="audit.md#laplace-noise-on-the-counts", **_LAPLACE,
    ),
    Entry(
        name="lnmax_analytic", label="LNMax, scale of the counts", look=("green", "2", "-."),
        account="analytic.laplace", secure=ONE_COIN, analysis="analytic",
        scale_of="lnmax",
        source="PATE 2017 (LNMax); `lnmax_noisy_counts_delta`, any number of classes",
        proof="audit.md#laplace-noise-on-the-counts", **_LAPLACE,
    ),
    Entry(
        name="lnmax_exact", label="LNMax, exact scale", look=("green", ">", ":"),
        account="label.laplace", secure=COINS, analysis="label",
        scale_of="lnmax",
        source="PATE 2017 (LNMax); docs/many-labels.md, for this number of teachers",
        proof="many-labels.md#laplace-noise-in-any-number-of-classes", **_LAPLACE,
    ),
    Entry(
        name="exponential", label="Exponential mechanism", look=("orange", "p", "--"),
        law="gumbel.LAW", account="label.gumbel", secure=COINS,
        scale_of="exponential", source="McSherry and Talwar 2007, Theorem 6",
        proof="audit.md#choosing-a-class-by-its-count", **_TIGHT,
    ),
    Entry(
        name="permute_and_flip", label="Permute-and-flip", look=("vermilion", "h", "-"),
        law="exponential.LAW", account="label.exponential", secure=COINS,
        scale_of="permute_and_flip", source="McKenna and Sheldon 2020, Algorithm 1",
        proof="audit.md#choosing-a-class-by-its-count", **_TIGHT,
    ),
    Entry(
        name="ladder", label="Optimal ladder", look=("black", "P", "-"),
        law="ladder.LAW", account="label.ladder", secure=ALL,
        source="docs/ladder.md: no label-symmetric release is better",
        proof="ladder.md#the-ladder", **_TIGHT,
    ),
    Entry(
        name="optimal_label", label="Optimal label", look=("black", "|", "-."),
        law="optimal.LAW", account="label.optimal", secure=ALL,
        source="docs/best-label.md: no label is right more often at the stated accuracy",
        proof="best-label.md#the-repair", **_TIGHT,
    ),
    Entry(
        name="nzc", label="NZC", look=("vermilion", "+", ":"),
        law="immutable.LAW", account="given.immutable", secure=NONE,
        paper="NZC", source="NZC section 3.2 and Theorem 4", proof="nzc.md#the-claim-fails",
        releasable=False, keeps_budget=False,
    ),
    Entry(
        name="darrm_sub", label="DaRRM, γ by subsampling", look=("vermilion", "s", "--"),
        law="gamma.SUBSAMPLED", account="private_teachers.subsampled", secure=ALL,
        source="DaRRM Lemma 3.1", proof="audit.md#private-teachers",
        privacy_models=_BOTH, **_PRIVATE,
    ),
    Entry(
        name="darrm_opt", label="DaRRM, optimised γ", look=("blue", "o", "-"),
        law="gamma.OPTIMISED", account="private_teachers.optimised", secure=ALL,
        source="DaRRM section 5, with the exact objective and a certificate",
        proof="method.md#2-three-corners-suffice-for-monotone-γ-three_corner_worst_case",
        privacy_models=_BOTH, **_PRIVATE,
    ),
    Entry(
        name="majority_private", label="Majority, private teachers", look=("black", "x", ":"),
        law="majority.LAW", account="private_teachers.one_teacher", secure=ALL,
        source="parallel composition and post-processing; the row that DaRRM lacks",
        proof="audit.md#private-teachers", costs_once=True, **_PRIVATE,
    ),
    Entry(
        name="committee", label="Committee of teachers", look=("black", "4", "--"),
        law="committee.LAW", account="private_teachers.committee", secure=ALL,
        source="post-processing of a subset that is drawn once; the row that DaRRM's totals lack",
        proof="committees.md#what-a-committee-costs", costs_once=True,
        privacy_models=frozenset({"shared_data"}),
        elsewhere="on disjoint shards all teachers together cost what one does: majority_private",
        **_PRIVATE,
    ),
    Entry(
        name="dpbag", label="DPBag and SAA", look=("orange", "3", "-"),
        law="bagging.LAW", account="given.bagging", secure=ONE_COIN,
        paper="DPBag",
        source="DPBag section 3 (SAA: one partition); a record moves averaged counts by 1 at most",
        proof="dpbag.md#what-the-numbers-promise", data_dependent=True, keeps_budget=False,
    ),
    Entry(
        name="lnmax", label="LNMax", look=("green", "^", "-."),
        account="given.laplace", given="given.laplace", aggregator=0, secure=ONE_COIN,
        source="PATE section 3.1 (Papernot et al. 2017)",
        proof="audit.md#laplace-noise-on-the-counts",
        data_dependent=True, keeps_budget=False, **_LAPLACE,
    ),
    Entry(
        name="confident_gnmax", label="Confident-GNMax", look=("sky", "*", "-"),
        law="gaussian.WHOLE", check="thresholds.plurality", account="thresholds.counts",
        given="thresholds.given", aggregator=2, secure=ALL,
        source="PATE Algorithm 1", proof=_NOISY_COUNTS, **_CONFIDENT,
    ),
    Entry(
        name="confident_gnmax_exact", label="Confident-GNMax, exact σ", look=("sky", "H", ":"),
        law="gaussian.FINE", check="thresholds.plurality", account="thresholds.labels",
        secure=ALL, analysis="label",
        source="PATE Algorithm 1; σ by DESIGN 5.12 and 5.13",
        proof="confident-labels.md#thresholds-first-labels-afterwards", **_CONFIDENT,
    ),
    Entry(
        name="interactive_gnmax", label="Interactive-GNMax", look=("sky", "X", "--"),
        law="gaussian.WHOLE", check="thresholds.student", account="thresholds.given",
        given="thresholds.given", aggregator=3, secure=ALL,
        paper="PATE", data_dependent=True, keeps_budget=False,
        source="PATE Algorithm 2; the student's scores must come from released labels only",
        proof=_NOISY_COUNTS,
    ),
)  # fmt: skip


def entries() -> dict[str, Entry]:
    """Return all entries by name, in their order."""
    return {entry.name: entry for entry in ENTRIES}


def entry(name: str) -> Entry:
    """Return the mechanism of this name; ValueError if there is none.

    >>> entry("gnmax").label
    'GNMax, published σ'
    """
    known = entries()
    if name not in known:
        raise ValueError(f"mechanism = {name!r}: must be one of {', '.join(known)}")
    return known[name]


def offered() -> list[str]:
    """Return the names of those whose noise can be found for a budget, in their order."""
    return [entry.name for entry in ENTRIES if entry.keeps_budget]


def aggregators() -> list[str]:
    """Return the names of PATE's aggregators, whose noise its configuration gives, in its order."""
    given = [entry for entry in ENTRIES if entry.aggregator is not None]
    return [entry.name for entry in sorted(given, key=lambda entry: entry.aggregator)]


def analyses_by_law() -> dict[str, dict[str, str]]:
    """Return the mechanisms whose noise has one scale, by law and by the analysis that finds it.

    An analysis is named after the file of the account.

    >>> analyses_by_law()["gnmax"]["label"]
    'gnmax_exact'
    """
    by_law: dict[str, dict[str, str]] = {}
    for entry in ENTRIES:
        analysis = entry.account.partition(".")[0].replace("published", "paper")
        if entry.scale_of:
            by_law.setdefault(entry.scale_of, {})[analysis] = entry.name
    return {
        law: dict(sorted(found.items(), key=lambda item: ANALYSES.index(item[0])))
        for law, found in by_law.items()
    }


def of_one_label() -> list[str]:
    """Return the names of those that have one label of a budget in DaRRM's tables and the ledger.

    Confident-GNMax answers none for certain, so it is left to the planner. Families stay together,
    each from the loosest analysis to the tightest.
    """
    of_budget = [entry for entry in ENTRIES if entry.keeps_budget and not entry.data_dependent]
    families = [entry.family or entry.name for entry in of_budget]

    def place(entry: Entry) -> tuple[int, int]:
        return families.index(entry.family or entry.name), ANALYSES.index(entry.analysis)

    return [entry.name for entry in sorted(of_budget, key=place)]
