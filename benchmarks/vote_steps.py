"""What other packages say that noisy votes and tokens cost, beside what they cost.

Each function takes what a reproducer of `benchmarks/reproducers` prints and returns rows: claims
beside bounds on the exact value (`lower`, `exact`), and observations beside what was expected.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm

from private_ensembles import label_epsilon, score_epsilon
from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    two_class_dominating_pairs,
)
from private_ensembles.audit.divergence import exact_epsilon
from private_ensembles.audit.sampler import clopper_pearson
from private_ensembles.audit.verdicts import exceeds
from private_ensembles.labels.gnmax_quadrature import gnmax_distribution
from private_ensembles.papers.pate.mathematics.rdp import gnmax_log_q

# Each test of draws errs with this probability.
ERROR = 1e-9
# The others' votes may stand here in the pack's worst case, in standard deviations of the noise.
_PLACES = np.linspace(-6.0, 6.0, 49)


def judge_claim(claimed: float, lower: float, upper: float) -> str:
    """Return ``fails`` if the truth is surely above the claim, ``holds`` if not, else ``open``."""
    if exceeds(lower, claimed):
        return "fails"
    return "open" if exceeds(upper, claimed) else "holds"


def claim_row(mechanism: str, neighbours: str, claimed: float, lower: float, upper: float) -> dict:
    """Return a row for a claimed epsilon and bounds on the exact one."""
    return {
        "part": "claim",
        "mechanism": mechanism,
        "neighbours": neighbours,
        "measure": "epsilon",
        "claimed": claimed,
        "lower": lower,
        "exact": upper,
        "verdict": judge_claim(claimed, lower, upper),
    }


def observation_row(
    mechanism: str, done: str, seen: object, expected: object, *, fits: bool
) -> dict:
    """Return a row for what a package did beside what was expected of it."""
    return {
        "part": "observation",
        "mechanism": mechanism,
        "done": done,
        "seen": str(seen),
        "expected": str(expected),
        "verdict": "as expected" if fits else "differs",
    }


def judge_autodp(said: dict) -> list[dict]:
    """Judge GNMax's labels by Renyi divergence, and the bounds that depend on the votes."""
    bounds = label_epsilon(
        "gnmax", said["sigma"], delta=said["delta"], labels=said["labels"], teachers=250, classes=10
    )
    words = f"RDP_inde_pate_gaussian, {said['labels']} labels, σ = {said['sigma']:g}"
    rows = [claim_row(words, "one of 250 votes moves", said["claimed"], bounds.lower, bounds.upper)]
    counts = np.array([[40, 5, 5]])
    neighbours = [
        counts[0] - np.eye(3, dtype=int)[i] + np.eye(3, dtype=int)[j] for i, j in _list_moves(3)
    ]
    table = np.vstack(
        [gnmax_distribution(histogram[None], 4.0) for histogram in (counts[0], *neighbours)]
    )
    log_q = float(gnmax_log_q(counts, 4.0)[0])
    for order, bound in zip(said["orders"], said["bounds"], strict=True):
        mechanism = f"RDP_depend_pate_gaussian, votes 40, 5, 5, σ = 4, order {order:g}"
        there = _divergence(table[:1], table[1:], order)
        back = _divergence(table[1:], table[:1], order)
        row = claim_row(mechanism, "of these votes from a neighbour's", bound, there, there)
        verdict = "fails" if exceeds(there / bound, 1.0) else "holds"
        rows.append(row | {"measure": "Rényi divergence", "verdict": verdict})
        # Theorem 6 of PATE 2018, which is quoted, holds for the first direction only.
        row = claim_row(mechanism, "of a neighbour's from these votes", bound, back, back)
        covered = "not covered" if exceeds(back / bound, 1.0) else "holds"
        rows.append(row | {"measure": "Rényi divergence", "verdict": covered})
    # The probability that the reproducer states is not below the votes' own.
    assert log_q <= said["log_q"]
    return rows


def _divergence(first: NDArray, second: NDArray, order: float) -> float:
    """Return the largest Renyi divergence of a first row from a second one."""
    moments = np.sum(first * np.expm1((order - 1) * np.log(first / second)), axis=1)
    return float(np.log1p(moments.max()) / (order - 1))


def _list_moves(classes: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(classes) for j in range(classes) if i != j]


def judge_invink(said: dict) -> list[dict]:
    """Judge InvisibleInk's tokens."""
    bounds = score_epsilon(said["range"], said["tokens"], said["delta"])
    words = f"get_epsilon at get_clip's clip, {said['tokens']} tokens"
    return [
        claim_row(words, "one reference is left out", said["claimed"], bounds.lower, bounds.upper)
    ]


def judge_llama_index_pack(said: dict) -> list[dict]:
    """Judge few-shot examples by noisy means of next-token probabilities, within one label."""
    rate = said["sampled"] / said["label_records"]
    tokens, sigma, delta = said["tokens"], said["sigma"], said["delta"]
    lower = bound_tokens_epsilon(rate, sigma, tokens, delta)
    upper = bound_vectors_epsilon(rate, sigma, tokens, delta)
    words = f"sigma_to_eps, one example of {tokens} tokens, σ = {sigma:g}, {said['sampled']} of "
    words += f"{said['label_records']:,} records of its label a token"
    low, high = clopper_pearson(said["hits"], said["draws"], ERROR)
    charged, of_label = said["rate_charged"], said["rate_of_label"]
    return [
        claim_row(words, "one record of the label is replaced", said["claimed"], lower, upper),
        observation_row(
            "_split_dataset",
            f"{said['draws']:,} samples of {said['sampled']} for a label of 100 of 400 records",
            f"a record is in {said['hits'] / said['draws']:.3f} of them",
            f"the rate that sigma_to_eps charges, {charged:g}",
            fits=bool(low <= charged <= high),
        )
        | {"note": f"rate within the label: {of_label:g}"},
        observation_row(
            "_mode_of_distribution",
            "the token of two, without noise",
            "the likelier" if said["right_end"] else "the less likely",
            "the likelier",
            fits=said["right_end"],
        ),
    ]


def bound_vectors_epsilon(rate: float, sigma: float, tokens: int, delta: float) -> float:
    """Return an upper bound on the noisy means' epsilon: tokens are functions of them.

    A mean of M distributions changes by sqrt(2)/M at most if one record is replaced, and the noise
    is sqrt(2) sigma/M. For a sample of fixed size the pair of the Poisson-sampled Gaussian
    dominates both orders. Its composition is dp_accounting's.

    Args:
        rate: share of the records that is sampled for a token.
        sigma: noise multiplier.
        tokens: how many are drawn.
        delta: of all tokens.

    References:
        Zhu, Dong and Wang 2022, Theorem 11.
    """
    from dp_accounting.pld import privacy_loss_distribution as pld

    token_loss = pld.from_gaussian_mechanism(
        sigma, sampling_prob=rate, value_discretization_interval=1e-3, pessimistic_estimate=True
    )
    return token_loss.self_compose(tokens).get_epsilon_for_delta(delta)


def bound_tokens_epsilon(rate: float, sigma: float, tokens: int, delta: float) -> float:
    """Return a lower bound on what the tokens themselves tell: two tokens, one record that differs.

    Every other record gives the same two probabilities, so the difference of the means stands at a
    place that an adversary chooses; the record, if sampled, changes it by 1/sigma standard
    deviations of the noise.

    Args:
        rate: share of the records that is sampled for a token.
        sigma: noise multiplier.
        tokens: how many are drawn.
        delta: of all tokens.
    """
    ends = np.stack([_PLACES, _PLACES + 1 / sigma])
    token_probabilities = norm.cdf(ends)
    counts = np.arange(tokens + 1)
    best = 0.0
    # Tokens do not depend on those before them here, so that their counts say everything.
    for first, second in zip(
        token_probabilities[0],
        (1 - rate) * token_probabilities[0] + rate * token_probabilities[1],
        strict=True,
    ):
        table = np.stack(
            [binom.pmf(counts, tokens, probability) for probability in (first, second)]
        )
        best = max(best, exact_epsilon(table, [[0, 1]], delta, side="lower", relative_error=1e-9))
    return best


def one_noise_probabilities(teachers: int, scale: float) -> NDArray[np.float64]:
    """Return Pr[0], Pr[1] at 0, ..., K votes for 1, (K + 1, 2).

    The label is 1 if votes + Lap(1/scale) > K/2.
    """
    lead = scale * (np.arange(teachers + 1) - teachers / 2)
    tail = np.exp(-np.abs(lead)) / 2
    ones = np.where(lead >= 0, 1 - tail, tail)
    return np.stack([np.where(lead >= 0, tail, 1 - tail), ones], axis=1)


def _bound_labels_epsilon(answer: dict, labels: int) -> tuple[float, float]:
    probabilities = one_noise_probabilities(answer["teachers"], answer["scale"])
    bounds = adaptive_epsilon(
        two_class_dominating_pairs(probabilities[:, 1], probabilities[:, 0]),
        labels,
        answer["delta"],
    )
    return bounds.lower, bounds.upper


def _judge_law(answer: dict) -> list[dict]:
    """Judge whether votes are drawn as in `one_noise_probabilities`, and how unanimity wins."""
    expected = one_noise_probabilities(answer["shown_teachers"], answer["shown_scale"])[:, 1]
    low, high = clopper_pearson(np.array(answer["ones"]), answer["draws"], ERROR)
    fits = bool(((low <= expected) & (expected <= high)).all())
    unanimous_probability = one_noise_probabilities(answer["teachers"], answer["scale"])[-1, 1]
    return [
        observation_row(
            "vote step",
            f"{answer['draws']:,} labels at each of 0 to {answer['shown_teachers']} votes for 1",
            "as votes + Laplace noise > K/2" if fits else "another law",
            "as votes + Laplace noise > K/2",
            fits=fits,
        )
        | {
            "note": f"a unanimous vote of {answer['teachers']} is right in "
            f"{unanimous_probability:.2%} of labels"
        },
        observation_row(
            "vote step",
            "50 labels at 9 and at 1 of 10 votes, with next to no noise",
            "the label of most votes" if answer["right_end"] else "another label",
            "the label of most votes",
            fits=answer["right_end"],
        ),
    ]


def judge_smartnoise(said: dict) -> list[dict]:
    """Judge SmartNoise's PATE-GAN: a training's labels, and what else reaches the generator."""
    words = f"PATEGAN: {said['labels']:,} labels of {said['teachers']} teachers, their account"
    neighbours = "one of the votes moves"
    return [
        claim_row(words, neighbours, said["claimed"], *_bound_labels_epsilon(said, said["labels"])),
        *_judge_law(said),
        observation_row(
            "PATEGAN.train",
            f"its own account after the last label, target {said['claimed']:g}",
            f"{said['accountant']:.4f}",
            "at most the target",
            fits=said["accountant"] <= said["claimed"],
        ),
        observation_row(
            "PATEGAN.train",
            "gradients that reach the generator for each of its steps",
            f"{said['gradients']:g}, all but 1 of the teachers' losses",
            "1, of the student's loss",
            fits=said["gradients"] == 1,
        ),
    ]


def judge_synthcity(said: dict) -> list[dict]:
    """Judge synthcity's PATE-GAN: labels drawn and charged, rows at the discriminator."""
    words = f"PATEGAN: all {said['labels']:,} labels of {said['teachers']} teachers, their account"
    neighbours = "one of the votes moves"
    return [
        claim_row(
            words, neighbours, said["accountant"], *_bound_labels_epsilon(said, said["labels"])
        ),
        *_judge_law(said),
        observation_row(
            "PATEGAN.fit",
            f"batches of noisy labels used: {said['batches']}",
            f"{said['batches_charged']} of them are charged",
            "all are charged",
            fits=said["batches"] == said["batches_charged"],
        ),
        observation_row(
            "PATEGAN.fit",
            f"private rows that the generator's discriminator is given, of {said['rows']}",
            said["rows_shown"],
            0,
            fits=said["rows_shown"] == 0,
        ),
        observation_row(
            "PATEGAN(delta=1e-06)",
            "the delta that is kept",
            said["delta_kept"],
            said["delta_asked"],
            fits=said["delta_kept"] == said["delta_asked"],
        )
        | {"note": f"used: {said['delta']:.3g}, from the number of rows"},
    ]
