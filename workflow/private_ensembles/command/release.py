"""Release labels for your own votes within a budget, once; docs/own-votes.md has the rules."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from private_ensembles import docs_address
from private_ensembles.base.parameter_names import write_lower_bound
from private_ensembles.command import planner_options, votes_options
from private_ensembles.command.numbers import parse_budget, parse_integer, parse_real
from private_ensembles.command.output import (
    emit,
    format_upper_bound,
    say,
    warn_of_duration,
)
from private_ensembles.labels.assumed_profile import name_profile
from private_ensembles.labels.task import Protection

if TYPE_CHECKING:  # --help releases nothing
    from private_ensembles.release import transaction

EXAMPLES = (
    "private-ensembles release votes.csv --teachers 25 --classes 3 --epsilon 2 --delta 1e-5"
    " --shards disjoint",
)
RESULTS = Path("results/own")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `release`."""
    parser.add_argument("votes", metavar="VOTES", help=votes_options.FILE)
    planner_options.add_ensemble(parser, required=False)
    planner_options.add_budget(parser)
    planner_options.add_protection(parser)
    wanted = parser.add_argument_group("wanted", "which labels")
    wanted.add_argument(
        "--labels",
        type=parse_integer,
        metavar="N",
        help="how many are wanted at most; default: one for each query",
    )
    votes_options.add_answer(wanted)
    votes_options.add_most_ones(wanted)
    votes_options.add_reading(parser, "VOTES")
    planner_options.add_profile(parser)
    released = parser.add_argument_group("release")
    seed = "of the votes by which mechanisms are ranked, and of a rehearsal's noise"
    planner_options.add_noise(released, seed=seed)
    planner_options.add_anyway(released)
    released.add_argument(
        "--again", action="store_true", help="allow another release; all costs add up"
    )
    released.add_argument(
        "--total-budget",
        type=parse_real,
        metavar="EPSILON",
        help="refuse a release with which all on the ledger may cost more; default: no limit",
    )
    released.add_argument(
        "--already-spent",
        type=parse_budget,
        metavar="EPSILON,DELTA",
        help="what was spent on the same teachers before there was a ledger; it adds up",
    )
    released.add_argument(
        "--out",
        type=Path,
        default=RESULTS,
        metavar="FOLDER",
        help="where release/ and ledger.sqlite go, or rehearsal/; default results/own, as in the "
        "workflow",
    )


def run(options: argparse.Namespace) -> int:
    """Release the labels, keep the ledger, and print what may be published."""
    from private_ensembles.base.files import describe, hold_lock, write_csv
    from private_ensembles.release import (
        expectation,
        own_votes,
        release_files,
        transaction,
    )
    from private_ensembles.release.pool import describe_order

    options.classes = votes_options.count_classes(options)
    budget = {
        "epsilon": options.epsilon,
        "delta": options.delta,
        "labels_wanted": options.labels,
        "noise": options.noise,
    }
    request = transaction.Request(
        Path(options.votes),
        _configuration(options, budget),
        again_option="--again",
        already_spent_option="--already-spent ",
    )
    protection = planner_options.protection_of(options)
    folder = transaction.OutputFolder(options.out / ("release" if request.secure else "rehearsal"))
    transaction.check_permission(request, folder)  # this comes before any work
    pool = votes_options.read_pool(options, seed=None if request.secure else options.seed)
    votes = pool.votes
    sizes = {"teachers": votes.n_teachers, "n_classes": votes.n_classes}
    settings = planner_options.build_planner_settings(
        options, queries=votes.n_queries, labels=votes.n_queries, **sizes
    )
    application = own_votes.plan_for(
        votes, settings, budget, protection, options.seed, announce_seconds=warn_of_duration
    )
    expectation.announce_and_check(
        application.expectation,
        secure=request.secure,
        anyway=options.anyway,
        allow="--anyway",
        say=say,
    )
    rows, row = own_votes.public_rows(application), own_votes.chosen_row(application)
    other_files = {"mechanisms.csv": lambda path: write_csv(path, rows)}

    def summarize(labels: transaction.Labels) -> tuple[dict[str, Any], list[str]]:
        """Return what is printed, as JSON and as text; it is made before anything is charged."""
        files = release_files.paths_of(labels, other_files)
        report = {
            "mechanism": application.chosen.mechanism,
            "parameters": row["parameters"],
            "epsilon": float(row["epsilon"]),
            "delta": options.delta,
            "asked": own_votes.public_facts(application)
            | {"answered": describe_order(options.answer)},
            "profile": settings["profile"],
            "profile_is": name_profile(settings["profile"]),
            "expectation": application.expectation.report(),
            "files": {Path(name).stem: str(path) for name, path in files.items()},
            "all_releases": None if labels.total is None else asdict(labels.total),
            "left_of_total_budget": labels.remaining_budget,
            "if_planned_together": None if labels.joint is None else asdict(labels.joint),
        }
        text = votes_options.profile_text(options, settings["profile"])
        return report, [*text, *_text(report, labels)]

    # A second release at the same time waits here, and then sees what the first has charged.
    with hold_lock(folder.lock):
        labels = own_votes.charge_and_release(
            application,
            pool,
            options.seed,
            request,
            folder,
            summarize=summarize,
            anyway=options.anyway,
        )
        try:
            release_files.write_release(labels, other_files)
        except OSError as error:
            remedy = "the labels are charged, and the same command puts them in place"
            raise OSError(f"{describe(error)}: {remedy}") from None
    report, text = labels.summary
    emit(report, text, as_json=options.json)
    return 0


def _configuration(options: argparse.Namespace, budget: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request by the workflow's keys, so that it is the same request in both."""
    return {
        **budget,
        "n_classes": options.classes,
        **votes_options.collect_file_facts(options),
        "seed": options.seed,
        "profile_from": options.profile_from,
        "shards": options.shards,
        "unit": options.unit,
        "reach": options.reach,
        "planner": planner_options.build_planner_settings(options),
        "again": options.again,
        "total_budget": options.total_budget,
        "already_spent": options.already_spent,
    }


def _text(report: dict, labels: transaction.Labels) -> list[str]:
    """Return the report of a release as lines of text."""
    from private_ensembles.release.pool import FIRST, describe_order

    lines, facts = [] if labels.note is None else [labels.note], report["asked"]
    protection = Protection(facts["shards"], facts["unit"], facts["reach"])
    usual = facts["wanted"] == facts["queries"] and facts["answered"] == describe_order(FIRST)
    order = "" if usual else f"; {facts['answered']}"
    ballots = " (some may be absent)" if facts.get("absent") else ""
    if "most_ones" in facts:
        ballots += f" (each votes 1 on {facts['most_ones']} at most)"
    epsilon = format_upper_bound(report["epsilon"])
    lines += [
        f"{report['mechanism']} ({report['parameters']}): {facts['wanted']} labels wanted of "
        f"{facts['queries']} queries, {facts['teachers']} teachers{ballots}, "
        f"{facts['classes']} classes",
        f"cost of all labels: epsilon = {epsilon} at delta = {report['delta']:g}, "
        f"for {protection.description}",
        f"labels: {report['files']['labels']}{order}",
    ]
    if labels.total is None:
        lines.append("A REHEARSAL: the noise can be computed from the seed; publish nothing of it")
    else:
        lines.append(f"with all releases on the ledger of this folder: at most {labels.total}")
        if "statement" in report["files"]:
            lines.append(f"to hand over: {report['files']['statement']}")
    if labels.remaining_budget is not None:
        lines.append(
            f"of the total budget, epsilon = {write_lower_bound(labels.remaining_budget)} is left"
        )
    if labels.joint is not None:
        page = docs_address("docs/own-votes.md#which-number-holds-when")
        lines.append(
            f"by the account of all their labels together: at most {labels.joint}, if their number "
            f"was decided before anybody saw a label ({page})"
        )
    return lines
