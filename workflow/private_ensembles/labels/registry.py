"""The list of mechanisms: what each is called, how it looks, which law has which account.

Facts only: laws and accounts are named here, and load when `mechanism.load_mechanism` puts them
together. All tables, figures and pages take a mechanism's name, order and look from here. To add
one: docs/add.md.
"""

from dataclasses import dataclass
from functools import partial

ADJACENCIES = frozenset({"add_remove", "replace_one"})
# Analyses of one family's noise, from the loosest to the tightest.
ANALYSES = ("paper", "analytic", "label")
# How many labels of two classes, and of more, are proven if noise is secure. ALL: whatever the
# law's own exact sampler draws. ONE_COIN: one exact coin, audited as it is. COINS_OR_EXACT: coins
# of the table that the account is of; for more classes the law's own exact sampler. AS_CHARGED: the
# same, for as many labels as the account charges.
ALL, ONE_COIN, NONE = (10**9, 10**9), (1, 0), (0, 0)
COINS_OR_EXACT, AS_CHARGED = (10_000, 10**9), (10_000, 10_000)


@dataclass(frozen=True)
class Origin:
    """Where a mechanism is from, and where its claim is proven.

    Attributes:
        paper: By which tables and figures group it.
        source: The paper's section.
        proof: page#anchor in docs.
    """

    paper: str
    source: str
    proof: str


@dataclass(frozen=True)
class Guarantee:
    """What a mechanism's privacy claim covers.

    Attributes:
        secure: How many labels of two classes, and of more, are proven if noise is secure.
        teachers: Whose votes, "plain" or "private".
        privacy_models: For which it can be stated.
        adjacencies: For which it can be stated.
        other_model_refusal: What a task of another privacy model is told; "": a general refusal.
        holds: Whether the claim is true, so that labels may leave the workflow.
        data_dependent: Whether the published cost is itself a function of the votes.
        hides_votes: Whether the privacy comes from noise on the votes, whose histograms can be
            audited, and not from the teachers.
        costs_once: Whether any number of labels costs the same.
    """

    secure: tuple[int, int]
    teachers: str = "plain"
    privacy_models: frozenset[str] = frozenset({"disjoint_shards"})
    adjacencies: frozenset[str] = ADJACENCIES
    other_model_refusal: str = ""
    holds: bool = True
    data_dependent: bool = False
    hides_votes: bool = True
    costs_once: bool = False


@dataclass(frozen=True)
class Offer:
    """How a mechanism is offered for labels within a budget.

    Attributes:
        family: Mechanisms that differ only in how their noise is found share a family.
        analysis: How the noise is found, one of `ANALYSES`.
        scale_law: The name under which `noise_scale` finds its noise.
        plain: Whether it stands before others that give hardly more correct labels
            (`labels.planner.ranking`).
    """

    family: str = ""
    analysis: str = "paper"
    scale_law: str = ""
    plain: bool = False


@dataclass(frozen=True)
class Entry:
    """A mechanism's facts.

    Attributes:
        name: Its name in files, settings and options.
        label: Its name in every table, page and figure.
        plot_style: Its colour, mark and dash in figures.
        law: The law, by its path in the package.
        account: The account, by its path in the package.
        origin: Where it is from.
        guarantee: What its claim covers.
        offer: None if its noise cannot be found for a budget.
        check: What a threshold looks at, by its path in the package; "": there is no threshold.
    """

    name: str
    label: str
    plot_style: tuple[str, str, str | tuple]
    law: str
    account: str
    origin: Origin
    guarantee: Guarantee
    offer: Offer | None = None
    check: str = ""

    @property
    def family(self) -> str:
        """The name of its family; its own if it has none."""
        return self.offer.family if self.offer and self.offer.family else self.name

    def require_coverage(self, privacy_model: str, adjacency: str) -> None:
        """Raise ValueError unless the guarantee covers the privacy model and the adjacency."""
        for what, value, allowed in (
            ("privacy_model", privacy_model, self.guarantee.privacy_models),
            ("adjacency", adjacency, self.guarantee.adjacencies),
        ):
            if value not in allowed:
                names = ", ".join(sorted(allowed))
                raise ValueError(f"{what} = {value!r}: must be one of {names} for {self.name}")


# fmt: off
_GAUSSIAN, _LAPLACE = "Gaussian noise on the counts", "Laplace noise on the counts"
_CONFIDENT = "Confident-GNMax"
_NOISY_COUNTS = "method.md#gaussian-noise-on-the-counts"
_CLASS_BY_COUNT = "method.md#choosing-a-class-by-its-count"
_BOTH = frozenset({"shared_data", "disjoint_shards"})
_private_guarantee = partial(Guarantee, secure=ALL, teachers="private", hides_votes=False)

ENTRIES = (
    Entry(
        "gnmax", "GNMax, published σ", ("purple", "D", "-"),
        "labels.laws.gaussian.WHOLE", "labels.accounts.gaussian_counts.paper",
        Origin("PATE", "PATE section 4.1; σ as in DaRRM appendix D.2.1", _NOISY_COUNTS),
        Guarantee(secure=ALL),
        Offer(_GAUSSIAN, scale_law="gnmax", plain=True),
    ),
    Entry(
        "gnmax_analytic", "GNMax, analytic σ", ("purple", "v", "--"),
        "labels.laws.gaussian.WHOLE", "labels.accounts.gaussian_counts.analytic",
        Origin("PATE", "PATE section 4.1; σ by Balle and Wang 2018, Theorem 8", _NOISY_COUNTS),
        Guarantee(secure=ALL),
        Offer(_GAUSSIAN, "analytic", scale_law="gnmax", plain=True),
    ),
    Entry(
        "gnmax_exact", "GNMax, σ of the labels", ("purple", "8", ":"),
        "labels.laws.gaussian.COINS", "labels.accounts.label.gaussian",
        Origin("PATE", "PATE section 4.1; σ by docs/many-labels.md",
               "many-labels.md#gaussian-noise-in-any-number-of-classes"),
        Guarantee(secure=AS_CHARGED),
        Offer(_GAUSSIAN, "label", scale_law="gnmax", plain=True),
    ),
    Entry(
        "lnmax_pure", "LNMax, pure scale", ("green", "<", "-"),
        "labels.laws.laplace.LAW", "labels.accounts.laplace_counts.paper",
        Origin("PATE", "PATE 2017 (LNMax); one moved vote changes two counts by one",
               "method.md#laplace-noise-on-the-counts"),
        Guarantee(secure=ONE_COIN),
        Offer(_LAPLACE, scale_law="lnmax"),
    ),
    Entry(
        "exponential", "Exponential mechanism", ("orange", "p", "--"),
        "labels.laws.gumbel.LAW", "labels.accounts.label.gumbel",
        Origin("tight baselines", "McSherry and Talwar 2007, Theorem 6", _CLASS_BY_COUNT),
        Guarantee(secure=COINS_OR_EXACT),
        Offer(scale_law="exponential"),
    ),
    Entry(
        "permute_and_flip", "Permute-and-flip", ("vermilion", "h", "-"),
        "labels.laws.exponential.LAW", "labels.accounts.label.exponential",
        Origin("tight baselines", "McKenna and Sheldon 2020, Algorithm 1", _CLASS_BY_COUNT),
        Guarantee(secure=COINS_OR_EXACT),
        Offer(scale_law="permute_and_flip"),
    ),
    Entry(
        "ladder", "Optimal ladder", ("black", "P", "-"),
        "labels.laws.ladder.LAW", "labels.accounts.label.ladder",
        Origin("tight baselines", "docs/best-label.md: no label-symmetric release is better",
               "best-label.md#the-ladder"),
        Guarantee(secure=ALL),
        Offer(),
    ),
    Entry(
        "nzc", "NZC", ("vermilion", "+", ":"),
        "papers.nzc.law.LAW", "papers.nzc.account.immutable",
        Origin("NZC", "NZC section 3.2 and Theorem 4", "nzc.md#the-claim-fails"),
        Guarantee(secure=NONE, holds=False),
    ),
    Entry(
        "darrm_sub", "DaRRM, γ by subsampling", ("vermilion", "s", "--"),
        "papers.darrm.law.SUBSAMPLED", "papers.darrm.accounts.subsampled",
        Origin("DaRRM", "DaRRM Lemma 3.1", "method.md#private-teachers"),
        _private_guarantee(privacy_models=_BOTH),
        Offer(),
    ),
    Entry(
        "darrm_opt", "DaRRM, optimised γ", ("blue", "o", "-"),
        "papers.darrm.law.OPTIMISED", "papers.darrm.accounts.optimised",
        Origin("DaRRM", "DaRRM section 5, with the exact objective and a certificate",
               "method.md#2-three-corners-suffice-for-monotone-γ-three_corner_worst_case"),
        _private_guarantee(privacy_models=_BOTH),
        Offer(),
    ),
    Entry(
        "majority_private", "Majority, private teachers", ("black", "x", ":"),
        "papers.darrm.majority.LAW", "papers.darrm.accounts.one_teacher",
        Origin("DaRRM", "parallel composition and post-processing; the row that DaRRM lacks",
               "method.md#private-teachers"),
        _private_guarantee(costs_once=True),
        Offer(plain=True),
    ),
    Entry(
        "committee", "Committee of teachers", ("black", "4", "--"),
        "papers.darrm.committee_law.LAW", "papers.darrm.accounts.committee",
        Origin("DaRRM",
               "post-processing of a subset that is drawn once; the row that DaRRM's totals lack",
               "darrm.md#what-a-committee-costs"),
        _private_guarantee(
            costs_once=True,
            privacy_models=frozenset({"shared_data"}),
            other_model_refusal="on disjoint shards all teachers together cost what one does: "
            "majority_private",
        ),
        Offer(plain=True),
    ),
    Entry(
        "dpbag", "DPBag and SAA", ("orange", "3", "-"),
        "papers.dpbag.law.LAW", "papers.dpbag.account.bagging",
        Origin("DPBag", "DPBag section 3; SAA has one partition",
               "dpbag.md#what-the-numbers-promise"),
        Guarantee(secure=ONE_COIN, data_dependent=True),
    ),
    Entry(
        "lnmax", "LNMax", ("green", "^", "-."),
        "labels.laws.laplace.LAW", "labels.accounts.given_noise.laplace",
        Origin("PATE", "PATE section 3.1 (Papernot et al. 2017)",
               "method.md#laplace-noise-on-the-counts"),
        Guarantee(secure=ONE_COIN, data_dependent=True),
    ),
    Entry(
        "confident_gnmax", "Confident-GNMax", ("sky", "*", "-"),
        "labels.laws.gaussian.WHOLE", "labels.accounts.thresholds.counts",
        Origin("PATE", "PATE Algorithm 1", _NOISY_COUNTS),
        Guarantee(secure=ALL, data_dependent=True),
        Offer(_CONFIDENT),
        check="labels.laws.checked.plurality_votes",
    ),
    Entry(
        "confident_gnmax_exact", "Confident-GNMax, σ of the labels", ("sky", "H", ":"),
        "labels.laws.gaussian.CONTINUOUS", "labels.accounts.thresholds.labels",
        Origin("PATE", "PATE Algorithm 1; σ by docs/other-labels.md",
               "other-labels.md#thresholds-first-labels-afterwards"),
        Guarantee(secure=ALL, data_dependent=True),
        Offer(_CONFIDENT, "label"),
        check="labels.laws.checked.plurality_votes",
    ),
    Entry(
        "interactive_gnmax", "Interactive-GNMax", ("sky", "X", "--"),
        "labels.laws.gaussian.WHOLE", "labels.accounts.thresholds.given",
        Origin("PATE", "PATE Algorithm 2; the student's scores must come from released labels only",
               _NOISY_COUNTS),
        Guarantee(secure=ALL, data_dependent=True),
        check="labels.laws.checked.student_disagreement",
    ),
)
# fmt: on


def entries() -> dict[str, Entry]:
    """Return all entries by name, in their order."""
    return {entry.name: entry for entry in ENTRIES}


def get_entry(name: str) -> Entry:
    """Return the mechanism of this name.

    Raises:
        ValueError: If there is none.

    >>> get_entry("gnmax").label
    'GNMax, published σ'
    """
    by_name = entries()
    if name not in by_name:
        raise ValueError(f"mechanism = {name!r}: must be one of {', '.join(by_name)}")
    return by_name[name]


def offered_mechanisms() -> list[str]:
    """Return the names of the mechanisms offered for labels within a budget, in their order."""
    return [entry.name for entry in ENTRIES if entry.offer is not None]


def analyses_by_law() -> dict[str, dict[str, str]]:
    """Return the mechanisms whose noise has one scale, by law and by the analysis that finds it.

    An analysis is named by the account: its own name, or its file's.

    Returns:
        For each law, the mechanism of each analysis, from the loosest analysis to the tightest.

    >>> analyses_by_law()["gnmax"]["label"]
    'gnmax_exact'
    """
    by_law: dict[str, dict[str, str]] = {}
    for entry in ENTRIES:
        if entry.offer and entry.offer.scale_law:
            (analysis,) = set(entry.account.split(".")) & set(ANALYSES)
            by_law.setdefault(entry.offer.scale_law, {})[analysis] = entry.name
    return {
        law: dict(sorted(names.items(), key=lambda item: ANALYSES.index(item[0])))
        for law, names in by_law.items()
    }


def single_label_mechanisms() -> list[str]:
    """Return the names of mechanisms with one label of a budget in DaRRM's tables and the ledger.

    Confident-GNMax answers none for certain, so it is left to the planner. Families stay together,
    each from the loosest analysis to the tightest.
    """
    offers = [
        (entry, entry.offer)
        for entry in ENTRIES
        if entry.offer is not None and not entry.guarantee.data_dependent
    ]
    families = [entry.family for entry, _ in offers]

    def position(pair: tuple[Entry, Offer]) -> tuple[int, int]:
        entry, offer = pair
        return families.index(entry.family), ANALYSES.index(offer.analysis)

    return [entry.name for entry, _ in sorted(offers, key=position)]
