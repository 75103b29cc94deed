"""The list of mechanisms: what each is called, how it looks, which law has which account.

Facts only: laws and accounts are named here, and load when `mechanism.load` puts them together. All
tables, figures and pages take a mechanism's name, order and look from here. To add one:
docs/add-a-mechanism.md.
"""

from dataclasses import dataclass

ADJACENCIES = frozenset({"add_remove", "replace_one"})
# Of one family, from the loosest analysis to the tightest.
ANALYSES = ("paper", "analytic", "label")
# How many labels of two classes, and of more, are proven if noise is secure: all that the law's own
# exact sampler draws; one coin, audited as it is; coins of the table that the account is of, and
# for more classes the law's own exact sampler, or a lattice so fine that the account grants its
# distance from continuous noise; none.
ALL, ONE_COIN, NONE = (10**9, 10**9), (1, 0), (0, 0)
COINS_OR_EXACT, COINS_OR_FINE = (10_000, 10**9), (10_000, 10_000)


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
_LAPLACE = {"paper": "PATE", "family": "Laplace noise on the counts"}
_CONFIDENT = {"paper": "PATE", "family": "Confident-GNMax", "data_dependent": True}
_TIGHT = {"paper": "tight baselines"}
_PRIVATE = {"paper": "DaRRM", "teachers": "private", "hides_votes": False}
_NOISY_COUNTS = "method.md#gaussian-noise-on-the-counts"
_BOTH = frozenset({"shared_data", "disjoint_shards"})

# fmt: off
ENTRIES = (
    Entry("gnmax", "GNMax, published σ", ("purple", "D", "-"), "gaussian.WHOLE",
          "gaussian_counts.paper", ALL, given="given.gaussian", aggregator=1,
          source="PATE section 4.1; σ as in DaRRM appendix D.2.1", proof=_NOISY_COUNTS,
          **_GAUSSIAN),
    Entry("gnmax_analytic", "GNMax, analytic σ", ("purple", "v", "--"), "gaussian.WHOLE",
          "gaussian_counts.analytic", ALL, analysis="analytic",
          source="PATE section 4.1; σ by Balle and Wang 2018, Theorem 8", proof=_NOISY_COUNTS,
          **_GAUSSIAN),
    Entry("gnmax_exact", "GNMax, σ of the labels", ("purple", "8", ":"), "gaussian.COINS",
          "label.gaussian", COINS_OR_FINE, analysis="label",
          source="PATE section 4.1; σ by docs/many-labels.md",
          proof="many-labels.md#gaussian-noise-in-any-number-of-classes", **_GAUSSIAN),
    Entry("lnmax_pure", "LNMax, pure scale", ("green", "<", "-"), "laplace.LAW",
          "laplace_counts.paper", ONE_COIN, scale_of="lnmax",
          source="PATE 2017 (LNMax); one moved vote changes two counts by one",
          proof="method.md#laplace-noise-on-the-counts", **_LAPLACE),
    Entry("exponential", "Exponential mechanism", ("orange", "p", "--"), "gumbel.LAW",
          "label.gumbel", COINS_OR_EXACT, scale_of="exponential",
          source="McSherry and Talwar 2007, Theorem 6",
          proof="method.md#choosing-a-class-by-its-count", **_TIGHT),
    Entry("permute_and_flip", "Permute-and-flip", ("vermilion", "h", "-"), "exponential.LAW",
          "label.exponential", COINS_OR_EXACT, scale_of="permute_and_flip",
          source="McKenna and Sheldon 2020, Algorithm 1",
          proof="method.md#choosing-a-class-by-its-count", **_TIGHT),
    Entry("ladder", "Optimal ladder", ("black", "P", "-"), "ladder.LAW", "label.ladder", ALL,
          source="docs/best-label.md: no label-symmetric release is better",
          proof="best-label.md#the-ladder", **_TIGHT),
    Entry("nzc", "NZC", ("vermilion", "+", ":"), "immutable.LAW", "given.immutable", NONE,
          paper="NZC", source="NZC section 3.2 and Theorem 4", proof="nzc.md#the-claim-fails",
          releasable=False, keeps_budget=False),
    Entry("darrm_sub", "DaRRM, γ by subsampling", ("vermilion", "s", "--"), "gamma.SUBSAMPLED",
          "private_teachers.subsampled", ALL, source="DaRRM Lemma 3.1",
          proof="method.md#private-teachers", privacy_models=_BOTH, **_PRIVATE),
    Entry("darrm_opt", "DaRRM, optimised γ", ("blue", "o", "-"), "gamma.OPTIMISED",
          "private_teachers.optimised", ALL,
          source="DaRRM section 5, with the exact objective and a certificate",
          proof="method.md#2-three-corners-suffice-for-monotone-γ-three_corner_worst_case",
          privacy_models=_BOTH, **_PRIVATE),
    Entry("majority_private", "Majority, private teachers", ("black", "x", ":"), "majority.LAW",
          "private_teachers.one_teacher", ALL,
          source="parallel composition and post-processing; the row that DaRRM lacks",
          proof="method.md#private-teachers", costs_once=True, **_PRIVATE),
    Entry("committee", "Committee of teachers", ("black", "4", "--"), "committee.LAW",
          "private_teachers.committee", ALL,
          source="post-processing of a subset that is drawn once; the row that DaRRM's totals lack",
          proof="darrm-many-labels.md#what-a-committee-costs", costs_once=True,
          privacy_models=frozenset({"shared_data"}),
          elsewhere="on disjoint shards all teachers together cost what one does: majority_private",
          **_PRIVATE),
    Entry("dpbag", "DPBag and SAA", ("orange", "3", "-"), "bagging.LAW", "given.bagging", ONE_COIN,
          paper="DPBag", source="DPBag section 3; SAA has one partition",
          proof="dpbag.md#what-the-numbers-promise", data_dependent=True, keeps_budget=False),
    Entry("lnmax", "LNMax", ("green", "^", "-."), "laplace.LAW", "given.laplace", ONE_COIN,
          given="given.laplace", aggregator=0, source="PATE section 3.1 (Papernot et al. 2017)",
          proof="method.md#laplace-noise-on-the-counts", data_dependent=True, keeps_budget=False,
          **_LAPLACE),
    Entry("confident_gnmax", "Confident-GNMax", ("sky", "*", "-"), "gaussian.WHOLE",
          "thresholds.counts", ALL, check="checked.plurality", given="thresholds.given",
          aggregator=2, source="PATE Algorithm 1", proof=_NOISY_COUNTS, **_CONFIDENT),
    Entry("confident_gnmax_exact", "Confident-GNMax, σ of the labels", ("sky", "H", ":"),
          "gaussian.FINE", "thresholds.labels", ALL, check="checked.plurality", analysis="label",
          source="PATE Algorithm 1; σ by docs/confident-labels.md",
          proof="confident-labels.md#thresholds-first-labels-afterwards", **_CONFIDENT),
    Entry("interactive_gnmax", "Interactive-GNMax", ("sky", "X", "--"), "gaussian.WHOLE",
          "thresholds.given", ALL, check="checked.student", given="thresholds.given",
          aggregator=3, paper="PATE", data_dependent=True, keeps_budget=False,
          source="PATE Algorithm 2; the student's scores must come from released labels only",
          proof=_NOISY_COUNTS),
)
# fmt: on


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
    """Return the names of those that are offered for labels within a budget, in their order."""
    return [entry.name for entry in ENTRIES if entry.keeps_budget]


def aggregators() -> list[str]:
    """Return the names of PATE's aggregators, whose noise its configuration gives, in its order."""
    given = [entry for entry in ENTRIES if entry.aggregator is not None]
    return [entry.name for entry in sorted(given, key=lambda entry: entry.aggregator)]


def analyses_by_law() -> dict[str, dict[str, str]]:
    """Return the mechanisms whose noise has one scale, by law and by the analysis that finds it.

    Those of one law from the loosest to the tightest.

    An analysis is named by the account: its own name, or its file's.

    >>> analyses_by_law()["gnmax"]["label"]
    'gnmax_exact'
    """
    by_law: dict[str, dict[str, str]] = {}
    for entry in ENTRIES:
        if entry.scale_of:
            (analysis,) = set(entry.account.split(".")) & set(ANALYSES)
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
    of_budget = [entry(name) for name in offered() if not entry(name).data_dependent]
    families = [known.family or known.name for known in of_budget]

    def place(known: Entry) -> tuple[int, int]:
        return families.index(known.family or known.name), ANALYSES.index(known.analysis)

    return [known.name for known in sorted(of_budget, key=place)]
