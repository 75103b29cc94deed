"""Certificates of the ledger's rows that are not about a budget: aggregators, DPBag, NZC.

A row's certificate is of its proven epsilon, or that its claim is false. Rows without one are
listed with the reason. Format and theorems: docs/certificates.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import pandas as pd

from private_ensembles.darrm.certificate_file import exactly, stated
from private_ensembles.ledger import ledger
from private_ensembles.ledger.certificates import (
    named_law,
    of_label,
    of_losses,
    of_responses,
)
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.laws.bagging import BaggingNoise
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.parameters import Parameters
from private_ensembles.papers.pate import given_noise

Row = tuple[str, str]
Proof = Callable[..., dict]
# The verifier's exponential ends here; larger claims are not refuted, whatever they claim.
_LARGEST_EPSILON = 2000.0


def certificates_of_rows(
    settings: Mapping, published: pd.DataFrame, table: pd.DataFrame, about: list[list[str]]
) -> dict[str, list]:
    """Return what is proven of each row of the ledger, and which rows nothing is proven of.

    settings, published: as `ledger.ledger` takes them, and table its result. about: what the
    certificates of the budgets are about, which are not repeated. Returns ``certificates``, and
    ``about``: for each of them the mechanism and setting of its row.
    """
    proofs = _proofs(settings, published)
    known = {subject for subjects in about for subject in subjects}
    proven = []
    rows = []
    for row in table.itertuples():
        name = f"{row.mechanism}, {row.setting}"
        budget, _, words = row.setting.partition(": ")
        stated_teachers = words.startswith("one label, K") and "teachers by" not in words
        if stated_teachers and f"{budget}: {row.mechanism}" in known:
            continue
        bodies = [proof(row) for proof in proofs.get((row.mechanism, row.setting), [])]
        if not bodies:
            bodies = [{"kind": "ledger_row", "theorem": "none", "why": _why_not(name, row)}]
        proven += bodies
        rows += [[name]] * len(bodies)
    return {"certificates": proven, "about": rows}


def _why_not(name: str, row) -> str:
    entry = registry.entry(row.mechanism)
    if entry.teachers == "private":
        return f"{name}: rests on what the accountant of DP-SGD says of one teacher"
    if not entry.releasable:
        return f"{name}: a claim so large is not refuted in these numbers"
    return f"{name}: no certificate of this noise is written"


def _proofs(settings: Mapping, published: pd.DataFrame) -> dict[Row, list[Proof]]:
    """Return, by row, functions from the row of the ledger to a certificate."""
    proofs: dict[Row, list[Proof]] = {}
    for name, task in settings["pate"].items():
        noise = {**task, "student_score": settings["student_score"]}
        for n_classes in {2, task["n_classes"]}:
            setting = ledger.one_query(name, n_classes, task["K"])
            for mechanism in map(load, registry.aggregators()):
                parameters = given_noise.at_noise(mechanism, noise, n_classes)
                if parameters is not None:
                    noisy = releases(parameters)
                    proofs[mechanism.name, setting] = [_of_counts(noisy), *_of_claims(noisy)]
        proofs |= _of_totals(name, task)
    for setting, noise in ledger.bagging(settings["dpbag"]).items():
        proofs["dpbag", setting] = _of_bagging(noise)
    n, rate = settings["dpbag"]["n"], settings["dpbag"]["noise"] / settings["dpbag"]["n"]
    for setting, labels, partitions, _ in ledger.printed_labels(n, published):
        proofs["dpbag", setting] = [
            _of_bags(BaggingNoise(n, 1 if partitions is None else partitions, rate), labels)
        ]
    nzc = settings["mechanism"]
    for name, task in settings["nzc"].items():
        for reading, scale in (("scale", nzc["gamma"]), ("inverse_scale", 1 / nzc["gamma"])):
            for queries in (1, task["pool"]):
                setting = ledger.read_gamma(name, queries, nzc["gamma"], reading)
                proofs["nzc", setting] = _of_nzc(nzc, scale, queries)
    return proofs


def releases(parameters: Parameters) -> list[dict]:
    """The noisy counts that a query asks for, and by how much a vote that moves changes them.

    Raises ValueError for parameters of no noisy count, of which nothing could be certified.
    """
    if not parameters.noisy_counts:
        raise ValueError(f"parameters = {parameters!r}: must be those of an aggregator")
    return [_noise(*counts) for counts in parameters.noisy_counts]


def _noise(noise: str, times: int, squared: float, scale: float) -> dict:
    numbers = {"squared": _ratio(squared), "scale": _ratio(scale)}
    return {"noise": noise, "times": times, **numbers}


def _ratio(x: float) -> str:
    return "{}/{}".format(*Fraction(x).as_integer_ratio())


def _of_counts(noisy: list[dict]) -> Proof:
    """The counts have the row's proven epsilon."""

    def proof(row) -> dict:
        claim = {"epsilon": exactly(row.proven_epsilon), "delta": exactly(row.delta)}
        return stated("total", f"{noisy[0]['noise']}_noise", releases=noisy, **claim)

    return proof


def _of_claims(noisy: list[dict]) -> list[Proof]:
    """PATE's claim for Gaussian noise: lambda rho at the best of its orders, 1.5, 2, 2.5, ..."""
    if noisy[0]["noise"] != "gaussian":
        return []

    def proof(row) -> dict:
        scales = (
            release["times"] * Fraction(release["squared"]) / Fraction(release["scale"]) ** 2
            for release in noisy
        )
        rho, spent = float(sum(scales)) / 2, -math.log(row.delta)
        near = math.floor(2 * math.sqrt(spent / rho))
        orders = [1 + k / 2 for k in (near, near + 1) if k > 0]
        order = min(orders, key=lambda order: order * rho + spent / (order - 1))
        # The paper's number is of floats, which are off in the last place.
        claim = {"epsilon": exactly(row.claimed_epsilon * (1 + 1e-15)), "delta": exactly(row.delta)}
        return stated("total", "renyi", releases=noisy, order=exactly(order), **claim)

    return [proof]


def _of_totals(name: str, task: Mapping) -> dict[Row, list[Proof]]:
    """The rows of PATE's Table 1: every query answered."""
    proofs: dict[Row, list[Proof]] = {}
    for mechanism in map(load, registry.aggregators()):
        for rounds in given_noise.printed_releases(mechanism, task).values():
            queries = sum(noise.labels for noise in rounds)
            setting = ledger.published_total(name, queries, task["K"])
            if mechanism.entry.check:
                proof = _of_counts([release for noise in rounds for release in releases(noise)])
            else:
                proof = _of_labels(2 / rounds[0].scale, queries)
            proofs[mechanism.name, setting] = [proof]
    return proofs


def _of_labels(label_epsilon: float, labels: int) -> Proof:
    return lambda row: of_responses(label_epsilon, 0.0, labels, row.proven_epsilon, row.delta)


def bagged(noise: BaggingNoise) -> dict:
    """The law of a label: all of a record's teachers that agree change their votes together."""
    moved = math.floor(noise.share * noise.k)
    return named_law("laplace", noise.k / Fraction(noise.rate), noise.n_shards * noise.k, moved)


def _of_bagging(noise: BaggingNoise) -> list[Proof]:
    """A label's exact epsilon; and 2 lambda m, what is claimed, as counts move by 2 m together."""
    counts = [_noise("laplace", 1, (2 * noise.share) ** 2, 1 / Fraction(noise.rate))]

    def claimed(row) -> dict:
        claim = {"epsilon": exactly(row.claimed_epsilon), "delta": exactly(row.delta)}
        return stated("total", "laplace_noise", releases=counts, **claim)

    def exact(row) -> dict:
        return of_label("hockey_stick", bagged(noise), row.exact_epsilon, row.delta)

    return [claimed, exact]


def _of_bags(noise: BaggingNoise, labels: int) -> Proof:
    """The loss of one label is about rate."""

    def proof(row) -> dict:
        return of_losses(
            "loss_distribution", bagged(noise), noise.rate, labels, row.proven_epsilon, row.delta
        )

    return proof


def _of_nzc(mechanism: Mapping, scale: float, queries: int) -> list[Proof]:
    """At a lead of one a label is that of one vote, with noise on the scale of constant + 1.

    A budget that one label exceeds is exceeded by several.
    """
    if mechanism["noise"] != "laplace":
        return []
    moved = Fraction(mechanism["constant"]) + 1
    law = named_law("laplace", Fraction(scale) / moved, 1)

    def claimed(row) -> dict:
        if row.claimed_epsilon > _LARGEST_EPSILON:
            return {"kind": "ledger_row", "theorem": "none", "why": _why_not(row.setting, row)}
        return of_label("counterexample", law, row.claimed_epsilon, row.delta)

    return [claimed, _of_counts([_noise("laplace", queries, (2 * moved) ** 2, scale)])]
