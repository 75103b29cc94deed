"""Rank the mechanisms by expected right labels within a budget, on a stated profile."""

from __future__ import annotations

import argparse
from pathlib import Path

from private_ensembles.command import settings, votes_options
from private_ensembles.command.numbers import whole
from private_ensembles.command.output import emit, high, warn_of

EXAMPLES = (
    "private-ensembles plan --epsilon 2 --teachers 50 --classes 3 --queries 40 --labels 20"
    " --mechanism gnmax_analytic --mechanism permute_and_flip --mechanism ladder",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `plan` takes."""
    parser.add_argument("--teachers", type=whole, required=True, help="how many vote")
    parser.add_argument("--classes", type=whole, required=True, help="among how many labels")
    parser.add_argument("--queries", type=whole, required=True, help="in the pool")
    parser.add_argument("--labels", type=whole, help="wanted at most; default: one for each query")
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="write a page, such as plan.html: curves over labels, from one label on, and epsilon",
    )
    votes_options.add_arguments(parser)
    settings.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the ranking; return 1 if no mechanism applies."""
    from private_ensembles.command import plan_page
    from private_ensembles.planner import ranking, study

    labels = options.queries if options.labels is None else options.labels
    sizes = {"teachers": options.teachers, "n_classes": options.classes}
    chosen = settings.of(options, queries=options.queries, labels=labels, **sizes)
    wanted = study.task(chosen, options.epsilon, options.delta, secure=options.noise == "secure")
    warn_of(ranking.about_seconds(wanted))
    plans = study.ranked(wanted, chosen["mechanisms"], options.seed)
    rows = study.plan_rows(wanted, plans)
    profile = chosen["profile"]
    report = {"noise": options.noise, "plans": rows, "profile": profile}
    said = votes_options.profile_text(options, profile)
    text = said + ranking_text(rows)
    if options.page is not None and plans[0].refusal is None:
        source = votes_options.profile_source(options)
        words = plan_page.write(options.page, wanted, plans, options.seed, profile, source)
        report |= {"page": str(options.page), "page_lines": words}
        text += [*words, f"page: {options.page}"]
    emit(report, text, as_json=options.json)
    return 0 if plans[0].refusal is None else 1


def ranking_text(rows: list[dict]) -> list[str]:
    """Return rows of `study.plan_rows` as lines of text, the best first."""
    first = rows[0]
    lines = [
        f"{first['wanted']} labels, all for epsilon = {first['budget_epsilon']:g} at delta = "
        f"{first['delta']:g} ({first['privacy_model']}, {first['adjacency']}); expected on the "
        "profile:"
    ]
    for row in rows:
        if row["not_applicable"]:
            lines.append(f"  {row['mechanism']:18} {row['not_applicable']}")
            continue
        lines.append(
            f"  {row['mechanism']:18} {row['correct']:8.1f} right of {row['answers']:.1f} answers, "
            f"epsilon {high(row['epsilon'])}; {row['parameters']}"
        )
    return lines
