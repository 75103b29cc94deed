"""What a release by Confident-GNMax over a fixed pool of queries costs: a guarantee, publishable.

Three reports, of which one is chosen before anybody looks at votes:

- ``data_independent``: the exact cost at the caps on queries and answers. Nothing is sanitised.
- ``sanitized``: the data-dependent cost of every query's whole step in both directions
  (:mod:`.joint`), published with noise in proportion to its smooth sensitivity SS (GNSS). The
  noise's scale is private as well, so that ln SS is published, too: it moves by at most beta
  between neighbours, and Gaussian noise of standard deviation beta s on it costs lambda / (2 s^2).
  The two give a one-sided upper bound on the cost that holds with the stated confidence over the
  publication's own noise.
- ``both``: the smaller of the two is claimed, and both are charged for what was published.

Order, beta and the noises come from rules of thumb that do not look at votes.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from private_ensembles import checks
from private_ensembles.accounting.composition import conversion_cost, rdp_to_dp
from private_ensembles.pate.data_independent import data_independent_epsilon
from private_ensembles.pate.joint import BETA_SLACK, JointProfile
from private_ensembles.pate.records import Guarded
from private_ensembles.pate.rounds import Round, certain_epsilon
from private_ensembles.pate.sanitize import gnss_rdp, guessed_order, rule_of_thumb

REPORTS = ("data_independent", "sanitized", "both")


@dataclass(frozen=True)
class Publication:
    """How the data-dependent cost is published; nothing here depends on votes.

    order: Rényi order of everything; beta, sigma_ss: GNSS; sigma_log: noise on ln SS in units of
    beta; gnss_rdp and sensitivity_rdp: what the two publications cost at the order.
    """

    order: float
    beta: float
    sigma_ss: float
    sigma_log: float
    gnss_rdp: float
    sensitivity_rdp: float

    def cost(self, order: float) -> float:
        """Rényi cost of both publications at any order; infinite if beta is too large."""
        gnss = gnss_rdp(order, self.beta + BETA_SLACK, self.sigma_ss)
        return gnss + order / (2 * self.sigma_log**2) * (1 + 1e-15)


@dataclass(frozen=True, repr=False)
class ReleasePrivacy(Guarded):
    """What a release costs; made by :func:`release_privacy`.

    For release: claimed_epsilon at delta, with `confidence` (1 for data_independent, which is
    certain), published_epsilon (an estimate, off by normal noise), published_sensitivity,
    published_upper (the one-sided upper confidence bound), publication, report, the caps, and the
    data-independent costs. data_independent_epsilon: by Rényi orders at the caps, the cost of
    publishing included if something is published; exact_data_independent_epsilon: of the labels
    alone, as one Gaussian mechanism, or on the lattice if the round's noise is `secure`.

    Not for release: joint_rdp, epsilon (the cost of labels and publication at these votes),
    smooth_sensitivity, sanitized_sd. None if nothing is sanitised.
    """

    public: ClassVar[tuple[str, ...]] = (
        "claimed_epsilon",
        "confidence",
        "delta",
        "report",
        "exact_data_independent_epsilon",
        "data_independent_epsilon",
        "published_epsilon",
        "published_sensitivity",
        "published_upper",
        "publication",
        "conversion",
        "queries",
        "query_cap",
        "answer_cap",
    )
    called: ClassVar[dict[str, str]] = {"epsilon": "epsilon_at_these_votes"}

    queries: int
    query_cap: int
    answer_cap: int
    delta: float
    conversion: str
    report: str
    data_independent_epsilon: float
    exact_data_independent_epsilon: float
    claimed_epsilon: float
    confidence: float
    publication: Publication | None = None
    published_epsilon: float | None = None
    published_sensitivity: float | None = None
    published_upper: float | None = None
    joint_rdp: float | None = None
    epsilon: float | None = None
    smooth_sensitivity: float | None = None
    sanitized_sd: float | None = None


def release_privacy(
    single_round: Round,
    delta: float,
    generator: np.random.Generator | None = None,
    *,
    report: str = "sanitized",
    confidence: float = 0.95,
    query_cap: int | None = None,
    answer_cap: int | None = None,
    conversion: str = "improved",
    **publication_options,
) -> ReleasePrivacy:
    """Cost of one round with a threshold on a fixed pool, as a :class:`ReleasePrivacy`.

    query_cap, answer_cap: the mechanism asks the first query_cap queries of the pool and stops
    after answer_cap answers (default: neither). Stopping early only shortens what is released, so
    that the data-dependent cost of all queries up to query_cap bounds it.

    generator: of the noise of what is published; needed unless `report` is ``data_independent``.
    Draw from it once per release: the costs cover one publication. publication_options are those
    of :func:`choose_publication`: target_epsilon, order (default 1 + 2
    log(1/delta) / target_epsilon, lowered by halves, with a warning, until conditions C5 and C6
    hold), beta and sigma_ss (`rule_of_thumb`), sigma_log (costs a fiftieth of log(1/delta) / (order
    - 1)) must be chosen without looking at the votes, and so must `report`.

    Raises ValueError for delta or confidence outside (0, 1), another report or conversion, a
    missing generator, and as `JointProfile`.
    """
    conversion_cost(np.array([2.0]), delta, conversion)  # checks both
    checks.one_of(REPORTS, report=report)
    checks.probability(confidence=confidence, zero=False, one=False)
    releases = single_round.releases(query_cap, answer_cap)
    tried = single_round.tried(query_cap)
    exact = certain_epsilon([single_round], delta, query_cap=query_cap, answer_cap=answer_cap)
    facts = {
        "queries": len(single_round.counts),
        "query_cap": tried,
        "answer_cap": releases.labels,
        "delta": delta,
        "conversion": conversion,
        "report": report,
        "exact_data_independent_epsilon": exact,
    }
    if report == "data_independent":
        independent, _ = data_independent_epsilon(releases.rho, delta, conversion=conversion)
        return ReleasePrivacy(
            **facts, data_independent_epsilon=independent, claimed_epsilon=exact, confidence=1.0
        )
    if generator is None:
        raise ValueError("generator: must be given if something is published")
    publication = choose_publication(single_round, delta, **publication_options)
    leads = None if single_round.leads is None else single_round.leads[:tried]
    asked = replace(single_round, counts=single_round.counts[:tried], leads=leads)
    profile = JointProfile(asked, publication.order)
    joint, sensitivity = profile.total_rdp(), profile.smooth(publication.beta)
    total = joint + publication.gnss_rdp + publication.sensitivity_rdp
    epsilon, _ = rdp_to_dp([publication.order], [total], delta, conversion)
    z = float(ndtri((1 + confidence) / 2))  # half of the risk for each of the two
    log_sd = publication.sigma_log * publication.beta
    published, published_sensitivity = publish(epsilon, sensitivity, publication, generator)
    most = published_sensitivity * math.exp(z * log_sd)
    upper = max(0.0, published + z * publication.sigma_ss * most) * (1 + 1e-12)
    # Of the labels at the caps and of both publications, whatever the votes.
    orders = 1 + (publication.order - 1) * np.geomspace(0.05, 1, 400)
    rdp = [each * releases.rho * (1 + 1e-15) + publication.cost(each) for each in orders]
    independent, _ = rdp_to_dp(orders, rdp, delta, conversion)
    return ReleasePrivacy(
        **facts,
        data_independent_epsilon=independent,
        claimed_epsilon=min(upper, independent) if report == "both" else upper,
        confidence=confidence,
        publication=publication,
        published_epsilon=published,
        published_sensitivity=published_sensitivity,
        published_upper=upper,
        joint_rdp=joint,
        epsilon=epsilon,
        smooth_sensitivity=sensitivity,
        sanitized_sd=publication.sigma_ss * sensitivity,
    )


def publish(
    epsilon: float, sensitivity: float, publication: Publication, generator: np.random.Generator
) -> tuple[float, float]:
    """Draw what is published: epsilon with GNSS noise, and the sensitivity with log-normal noise.

    Costs publication.cost(order) at every order, epsilon and sensitivity being a function of local
    sensitivity at most `sensitivity` and its smooth bound at publication.beta.
    """
    published = epsilon + publication.sigma_ss * sensitivity * generator.standard_normal()
    log_sd = publication.sigma_log * publication.beta
    return published, sensitivity * math.exp(log_sd * generator.standard_normal())


def choose_publication(
    single_round: Round,
    delta: float,
    *,
    target_epsilon: float = 3.0,
    order: float | None = None,
    beta: float | None = None,
    sigma_ss: float | None = None,
    sigma_log: float | None = None,
) -> Publication:
    """The publication's parameters, from public ones only: numbers, not votes.

    Raises ValueError for delta outside (0, 1), target_epsilon <= 0, parameters out of range, a beta
    at which GNSS costs infinitely much, and if conditions C5 and C6 hold at no order tried.
    """
    wanted = guessed_order(delta, target_epsilon)
    if order is None:
        order = wanted
        while single_round.conditions_violated(order):
            order -= 0.5
            if order <= 1:
                raise ValueError(f"order = {wanted:g}: condition C5 or C6 fails there and below")
        if order < wanted:
            warnings.warn(
                f"condition C5 or C6 fails at order {wanted:g}: order {order:g} is used instead",
                RuntimeWarning,
                stacklevel=3,
            )
    beta, sigma_ss = rule_of_thumb(order, delta, beta=beta, sigma_ss=sigma_ss)
    if sigma_log is None:
        sigma_log = math.sqrt(25 * order * (order - 1) / -math.log(delta))
    checks.finite(sigma_log=sigma_log, above=0)
    return Publication(
        order=float(order),
        beta=beta,
        sigma_ss=sigma_ss,
        sigma_log=sigma_log,
        gnss_rdp=gnss_rdp(order, beta + BETA_SLACK, sigma_ss),
        sensitivity_rdp=order / (2 * sigma_log**2) * (1 + 1e-15),
    )
