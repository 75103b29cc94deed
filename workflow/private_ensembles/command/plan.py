"""Rank the mechanisms by expected right labels within a budget, on a stated profile."""

from __future__ import annotations

import argparse

from private_ensembles.command import planner_options, votes_options
from private_ensembles.command.numbers import parse_integer
from private_ensembles.command.output import emit, format_upper_bound, warn_of_duration
from private_ensembles.labels.assumed_profile import name_profile
from private_ensembles.labels.task import Protection

EXAMPLES = (
    "private-ensembles plan --teachers 50 --classes 3 --queries 40 --labels 20 --epsilon 2",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plan`."""
    planner_options.add_ensemble(parser)
    planner_options.add_budget(parser)
    planner_options.add_protection(parser, shards="disjoint")
    wanted = parser.add_argument_group("wanted", "which labels")
    wanted.add_argument(
        "--queries", type=parse_integer, required=True, metavar="N", help="how many there are"
    )
    wanted.add_argument(
        "--labels",
        type=parse_integer,
        metavar="N",
        help="how many are wanted at most; default: one for each query",
    )
    votes_options.add_most_ones(wanted)
    planner_options.add_profile(parser)
    votes_options.add_reading(parser, "the file of --profile-from")
    noise = parser.add_argument_group("noise")
    planner_options.add_noise(noise, seed="of the votes by which mechanisms are ranked")


def run(options: argparse.Namespace) -> int:
    """Print the ranking and return the exit status.

    Returns:
        0 if a mechanism applies, else 1.
    """
    from private_ensembles.labels.planner import planning, ranking
    from private_ensembles.release import expectation

    labels = options.queries if options.labels is None else options.labels
    options.classes = votes_options.count_classes(options)
    sizes = {"teachers": options.teachers, "n_classes": options.classes}
    settings = planner_options.build_planner_settings(
        options, queries=options.queries, labels=labels, **sizes
    )
    protection = planner_options.protection_of(options)
    secure = options.noise == "secure"
    stated = {"absent": options.absent, "most_ones": options.most_ones, "reach": protection.reach}
    task = planning.build_task(settings, options.epsilon, options.delta, secure=secure, **stated)
    warn_of_duration(ranking.estimate_seconds(task))
    plans = planning.rank_on_profile(task, settings["mechanisms"], options.seed)
    applies = plans[0].refusal is None
    rows = planning.plan_rows(task, plans)
    profile = settings["profile"]
    profile_name = name_profile(profile)
    text = votes_options.profile_text(options, profile)
    text += ranking_text(rows, protection, profile_name)
    expected = None
    if applies:
        best = expectation.expect_labels(task, plans[0], options.seed)
        text += best.summary_lines()
        text += [f"warning: {caution}" for caution in best.cautions()]
        expected = best.report()
    ballots: dict[str, object] = {"absent": True} if options.absent else {}
    if task.wanted.most_ones is not None:
        ballots["most_ones"] = task.wanted.most_ones
    facts = {name: getattr(protection, name) for name in ("shards", "unit", "reach")}
    report = {"noise": options.noise, **facts, **ballots, "plans": rows, "profile": profile}
    report |= {"profile_is": profile_name, "expectation": expected}
    emit(report, text, as_json=options.json)
    return 0 if applies else 1


def ranking_text(rows: list[dict], protection: Protection, profile: str) -> list[str]:
    """Return a ranking as lines of text; mechanisms refused for the same reason share a line.

    Args:
        rows: The rows of `planning.plan_rows`, the best first.
        protection: Who is protected.
        profile: What the profile is called.
    """
    first = rows[0]
    reach = protection.reach
    shards = f"{protection.shards} shards" + f", reach {reach}" * (reach > 1)
    lines = [
        f"{first['wanted']} labels, all for epsilon = {first['budget_epsilon']:g} at delta = "
        f"{first['delta']:g} ({shards}, {first['adjacency']}); expected on {profile}:"
    ]
    refused: dict[str, list[str]] = {}
    width = max(len(row["mechanism"]) for row in rows)
    for row in rows:
        if row["not_applicable"]:
            refused.setdefault(row["not_applicable"], []).append(row["mechanism"])
            continue
        lines.append(
            f"  {row['mechanism']:{width}} {row['correct']:8.1f} right of {row['answers']:.1f} "
            f"answers, epsilon {format_upper_bound(row['epsilon'])}; {row['parameters']}"
        )
    for reason, names in refused.items():
        lines.append(f"  not applicable: {', '.join(names)}: {reason}")
    return lines
