"""The one gate of every release: whether labels may be released, and the labels that it shows."""

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base.noise_sources import NoiseSource
from private_ensembles.labels.mechanism import Mechanism, unproven_reason
from private_ensembles.labels.parameters import Parameters, require_counts
from private_ensembles.labels.votes import Votes

# So many counts are drawn for at a time, to bound memory.
_COUNTS_AT_ONCE = 1 << 20


def refusal(
    mechanism: Mechanism, parameters: Parameters, n_classes: int, *, secure: bool
) -> str | None:
    """Return why labels of these parameters may not be released, or None if they may.

    It depends only on what is public: the mechanism, its noise, the number of labels and classes,
    and the source. Seeded labels are rehearsals, of which nothing is claimed. The registry's column
    `secure` says how many labels and classes are proven (docs/noise.md shows it).

    Args:
        mechanism: What draws the labels.
        parameters: Its noise, and for how many labels.
        n_classes: C.
        secure: Whether noise is drawn from the system's entropy.
    """
    if not secure:
        return None
    if not mechanism.guarantee.holds:
        return "has a false privacy claim, so its labels are not released"
    if parameters.continuous:
        return "was calibrated for continuous noise: calibrate it for a task with secure=True"
    if parameters.n_classes not in (None, n_classes):
        return f"was calibrated for {parameters.n_classes} classes, not {n_classes}"
    return unproven_reason(mechanism.entry, parameters.labels, n_classes)


def require_proof(
    mechanism: Mechanism, parameters: Parameters, n_classes: int, *, secure: bool
) -> None:
    """Raise ValueError if labels would be drawn from secure noise that proves nothing.

    Args are those of `refusal`, which says why.
    """
    if reason := refusal(mechanism, parameters, n_classes, secure=secure):
        raise ValueError(f"noise = secure: {mechanism.name} {reason}")


def release_from_counts(
    mechanism: Mechanism, counts: NDArray, parameters: Parameters, source: NoiseSource
) -> NDArray[np.int64]:
    """Release one label for each query up to the cap on labels, -1 if there is no answer.

    Labels are drawn whatever the counts are, as long as they are such a table.

    Args:
        mechanism: What draws the labels.
        counts: (queries, classes) int, >= 0; each row adds up to the teachers for which the
            parameters were calibrated.
        parameters: Its noise, and the cap `labels`; later queries get -1.
        source: Where the noise comes from.

    Returns:
        (queries,) int64.

    Raises:
        ValueError: For other counts, and for secure noise of which the parameters prove nothing.
    """
    if not mechanism.law.needs_only_counts and min(len(counts), parameters.labels) > 1:
        raise ValueError(f"counts of {len(counts)} queries: a {mechanism.name} needs the votes")
    counts = require_counts(counts, parameters)
    require_proof(mechanism, parameters, counts.shape[1], secure=source.secure)
    return mechanism.law.draw_capped(counts, parameters, source)


def release_from_votes(
    mechanism: Mechanism, votes: Votes, parameters: Parameters, source: NoiseSource
) -> NDArray[np.int64]:
    """Release labels as `release_from_counts` does, from the votes of an ensemble.

    Args:
        mechanism: What draws the labels.
        votes: The votes of every teacher, or their counts.
        parameters: Its noise, and for how many labels.
        source: Where the noise comes from.

    Returns:
        (queries,) int64.

    Raises:
        ValueError: For another number of teachers, and as `release_from_counts` does.
    """
    if mechanism.law.needs_only_counts:
        return _release_in_pieces(mechanism, votes, parameters, source)
    if parameters.n_teachers not in (None, votes.n_teachers):
        raise ValueError(
            f"votes of {votes.n_teachers} teachers: must be of the {parameters.n_teachers} of "
            f"whom the {mechanism.name} is to be drawn"
        )
    require_proof(mechanism, parameters, votes.n_classes, secure=source.secure)
    labels = draw_outcomes(mechanism, votes, parameters, source)
    labels[parameters.labels :] = -1
    return labels


def _release_in_pieces(
    mechanism: Mechanism, votes: Votes, parameters: Parameters, source: NoiseSource
) -> NDArray[np.int64]:
    """Release labels as `release_from_counts` does, from counts of some queries at a time.

    No noise is drawn for queries after the cap, because their labels are not shown. How many there
    are, and which pieces they come in, is public.
    """
    law, n_queries = mechanism.law, votes.n_queries
    step = last = n_queries
    # Otherwise a seed would give other labels if queries came in pieces.
    if source.secure or law.draws_query_by_query:
        last = min(n_queries, law.most_queries(parameters))
        step = max(1, _COUNTS_AT_ONCE // votes.n_classes)
    outcomes, votes = np.full(n_queries, -1), votes.limit_ones()
    for start in range(0, last, step):
        queries = slice(start, min(start + step, last))
        counts = require_counts(votes.histogram(queries), parameters)
        require_proof(mechanism, parameters, votes.n_classes, secure=source.secure)
        outcomes[queries] = law.draw(counts, parameters, source)
    return law.apply_caps(outcomes, parameters)


def draw_outcomes(
    mechanism: Mechanism, votes: Votes, parameters: Parameters, source: NoiseSource
) -> NDArray[np.int64]:
    """Draw one outcome per query of an ensemble, however many labels are paid for.

    What is drawn once for all queries, such as a committee, is drawn here.

    Returns:
        (queries,) int64, -1 if there is no answer.
    """
    if mechanism.law.needs_only_counts:
        return mechanism.law.draw(votes.histogram(), parameters, source)
    return mechanism.law.answer(votes, parameters, source)
