"""Release labels batch by batch within one budget; docs/own-votes.md has the rules."""

from __future__ import annotations

import argparse
from dataclasses import asdict, astuple
from pathlib import Path

from private_ensembles.base import checks
from private_ensembles.command import planner_options, votes_options
from private_ensembles.command.numbers import parse_integer, parse_real
from private_ensembles.command.output import (
    emit,
    format_upper_bound,
    print_help,
    say,
    warn_of_duration,
)
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Wanted,
    private_teacher_budget,
)

# `status` prints so many batches, the last ones.
_SHOWN = 20
EXAMPLES = (
    "private-ensembles session create ward.session --teachers 40 --classes 7 --labels 200"
    " --epsilon 8 --delta 1e-6 --shards disjoint --unit patient",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for each step of a session, and the arguments of each.

    The first line of a function that adds a step's arguments is what the help says of the step.
    """
    parser.set_defaults(act=print_help)
    steps = parser.add_subparsers(metavar="STEP")
    for add_step in (_create, _release, _status, _export, _extend):
        name, summary = add_step.__name__.lstrip("_"), (add_step.__doc__ or "").partition("\n")[0]
        step = steps.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        step.add_argument("session", metavar="SESSION", type=Path, help="its file")
        add_step(step)
        step.add_argument("--json", action="store_true", help="print JSON, for programs")
        step.set_defaults(help_text=step.format_help, work=step.description)


def run(options: argparse.Namespace) -> int:
    """Take the step that was asked for, or print the help if none was; return the exit status."""
    return options.act(options)


def _create(parser: argparse.ArgumentParser) -> None:
    """Plan a session and make its file."""
    planner_options.add_ensemble(parser)
    planner_options.add_budget(parser)
    planner_options.add_protection(parser)
    wanted = parser.add_argument_group("wanted", "which labels")
    wanted.add_argument(
        "--labels",
        type=parse_integer,
        required=True,
        metavar="N",
        help="how many may be released, ever",
    )
    wanted.add_argument(
        "--queries",
        type=parse_integer,
        metavar="N",
        help="how many are asked at most, if a threshold may leave some without a label; default: "
        "as many as --labels",
    )
    planner_options.add_profile(parser)
    votes_options.add_reading(parser, "each batch, and the file of --profile-from,")
    planned = parser.add_argument_group("session")
    seed = "of a rehearsal's noise; secure noise has none"
    planner_options.add_noise(planned, seed=seed)
    planner_options.add_anyway(planned)
    parser.set_defaults(act=create)


def _release(parser: argparse.ArgumentParser) -> None:
    """Release the labels of one batch of queries."""
    parser.add_argument("votes", metavar="VOTES", help=votes_options.FILE)
    parser.add_argument(
        "--key",
        required=True,
        help="the batch's name, such as 2026-11: a batch that was released is not drawn again",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="charge a batch anew whose labels were lost with the process that drew them",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="where the labels are written; default SESSION.KEY.csv",
    )
    _add_head(parser)
    votes_options.add_reading(parser, "VOTES, unless the session has stated it,")
    # Unless the batch states its first class, it is that of the session.
    parser.set_defaults(act=release, first_class=None)


def _status(parser: argparse.ArgumentParser) -> None:
    """Say what was spent and what is left, and check the file."""
    parser.add_argument("--curve", action="store_true", help="also print the cost at other deltas")
    parser.add_argument(
        "--caps",
        action="store_true",
        help="also print how many labels would have been right with other caps",
    )
    _add_head(parser)
    parser.set_defaults(act=status)


def _export(parser: argparse.ArgumentParser) -> None:
    """Write all labels and what they cost into a folder that may be published."""
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="where the files are written"
    )
    _add_head(parser)
    parser.set_defaults(act=export)


def _extend(parser: argparse.ArgumentParser) -> None:
    """Allow more labels at the same noise; the session then costs what the larger cap does."""
    parser.add_argument(
        "--labels",
        type=parse_integer,
        required=True,
        metavar="N",
        help="how many may be released in all",
    )
    parser.add_argument(
        "--queries",
        type=parse_integer,
        metavar="N",
        help="how many may be asked in all; default: more in the same proportion",
    )
    parser.add_argument(
        "--epsilon",
        type=parse_real,
        metavar="X",
        help="allow it, if the session then costs no more than this; left out: only say what it "
        "would cost",
    )
    _add_head(parser)
    parser.set_defaults(act=extend)


def _add_head(parser: argparse.ArgumentParser) -> None:
    """Add the option by which an older copy of the file is refused."""
    parser.add_argument(
        "--head",
        help="a head that an earlier step printed, and that was kept elsewhere: an older copy of "
        "the file is refused",
    )


def create(options: argparse.Namespace) -> int:
    """Plan a session, make its file, and print it with what other caps would give.

    Returns:
        The exit status, 0.
    """
    from private_ensembles.labels.planner import planning, ranking
    from private_ensembles.release import (
        expectation,
        pool,
        session_export,
        session_plan,
    )
    from private_ensembles.release.ledger_file import check_new, files_of
    from private_ensembles.release.session import Session

    inputs = {"profile_from": options.profile_from, "class_names": options.class_names}
    checks.check_separate_files(files_of(options.session).values(), **inputs)
    checks.check_integer(labels=options.labels, at_least=1)
    queries = options.labels if options.queries is None else options.queries
    protection = planner_options.protection_of(options)
    options.classes = votes_options.count_classes(options)
    sizes = {"teachers": options.teachers, "n_classes": options.classes}
    settings = planner_options.build_planner_settings(
        options, queries=queries, labels=options.labels, **sizes
    )
    budget, secure = Budget(options.epsilon, options.delta), options.noise == "secure"
    private = private_teacher_budget(options.teacher_epsilon, options.teacher_delta)
    stated = {"absent": options.absent, "reach": protection.reach}
    task = planning.build_task(settings, *astuple(budget), secure=secure, **stated)
    warn_of_duration(ranking.estimate_seconds(task))
    check_new(options.session)
    names = pool.names_of(
        options.classes, options.class_names, options.first_class, options.id_column
    )
    plan = session_plan.plan_session(
        Ensemble(options.teachers, options.classes, options.absent, private),
        budget,
        Wanted(options.labels, queries),
        protection,
        mechanisms=options.mechanism,
        profile=settings["profile"],
        rehearsal=None if secure else Rehearsal(options.seed),
    )
    expected = session_plan.expect_session_labels(plan)
    expectation.announce_and_check(
        expected, secure=secure, anyway=options.anyway, allow="--anyway", say=say
    )
    session = Session.begin(options.session, plan, names)
    with session:
        report = session_export.status(session)
        caps = session_plan.compare_caps(session.plan)
    text = votes_options.profile_text(options, settings["profile"]) + _text(report, options.session)
    report |= {"caps": caps, "expectation": expected.report()}
    emit(report, [*text, *_caps_text(caps)], as_json=options.json)
    return 0


def release(options: argparse.Namespace) -> int:
    """Release a batch, or show again what was released, and write its labels.

    Returns:
        The exit status, 0.

    Raises:
        ValueError: The key or the votes are refused.
        OSError: The labels are charged but cannot be written; the message says how to write them.
    """
    from private_ensembles.base.files import describe
    from private_ensembles.release import session_export
    from private_ensembles.release.ledger_file import files_of
    from private_ensembles.release.release_files import list_written_paths
    from private_ensembles.release.session import Session

    if options.out is None and "/" in options.key:
        raise ValueError(f"key = {options.key!r}: names no file: say with --out where labels go")
    default = options.session.parent / f"{options.session.name}.{options.key}.csv"
    out = default if options.out is None else options.out
    inputs = {"votes": options.votes, "class_names": options.class_names}
    checks.check_separate_files(list_written_paths(out), **files_of(options.session), **inputs)
    with Session.open(options.session, head=options.head) as session:
        task = session.plan.task
        stated = {"absent": task.ensemble.absent, "teachers": task.ensemble.teachers}
        names = session.names.require_unchanged(
            options.class_names, options.first_class, options.id_column
        )
        vars(options).update(asdict(names))
        votes = votes_options.read_votes(options, options.votes, task.ensemble.classes, **stated)
        before, counts = session.state.batches, votes.histogram()
        session.release(counts, key=options.key, ids=votes.ids, again=options.again)
        batch = session.batch(options.key)
        try:
            session_export.put_batch(session, out, batch)
        except OSError as error:
            remedy = "the labels are charged, and the same command writes them"
            raise OSError(f"{describe(error)}: {remedy}") from None
        drawn = session.state.batches > before
        report = session_export.status(session) | {"file": str(out), "drawn": drawn}
        report |= {"key": batch.key, "answers": batch.answers}
    note = "" if drawn else " (released before: they cost nothing more)"
    text = [f"{batch.answers} labels of {batch.queries} queries: {out}{note}"]
    emit(report, [*text, *_text(report, options.session)], as_json=options.json)
    return 0


def status(options: argparse.Namespace) -> int:
    """Check the file, print what it holds, and return the exit status 0."""
    from private_ensembles.release import session_export, session_plan
    from private_ensembles.release.record import Record
    from private_ensembles.release.session import Session

    if (record := Record.read_verified(options.session, options.head)) is not None:
        if options.curve or options.caps:
            raise ValueError(f"{options.session}: of releases: has neither --curve nor --caps")
        report, rows = session_export.status_of_releases(record), session_export.batch_rows(record)
        text = _text_of_releases(report, options.session, rows)
        emit(report | {"releases": rows}, text, as_json=options.json)
        return 0
    with Session.open(options.session, head=options.head, write=False) as session:
        session.verify(options.head)
        rows = session_export.batch_rows(session)
        report = session_export.status(session, curve=options.curve)
        caps = session_plan.compare_caps(session.plan) if options.caps else []
    text = [*_text(report, options.session), *_batch_lines(rows), *_caps_text(caps)]
    for row in report.get("curve", []):
        spent, total = format_upper_bound(row["spent"]), format_upper_bound(row["total"])
        text.append(
            f"  at delta = {format_upper_bound(row['delta'])}: so far {spent}, in all {total}"
        )
    emit(report | {"caps": caps}, text, as_json=options.json)
    return 0


def export(options: argparse.Namespace) -> int:
    """Write what may be published, print the files' names, and return the exit status 0."""
    from private_ensembles.release import session_export
    from private_ensembles.release.record import Record
    from private_ensembles.release.session import Session

    if (record := Record.read_verified(options.session, options.head)) is not None:
        files = session_export.export(record, options.out)
    else:
        with Session.open(options.session, head=options.head, write=False) as session:
            files = session_export.export(session, options.out)
    report = {"files": {name: str(path) for name, path in files.items()}}
    emit(report, [str(path) for path in files.values()], as_json=options.json)
    return 0


def extend(options: argparse.Namespace) -> int:
    """Print what a larger cap costs, take it if that is allowed, and return the exit status 0."""
    from private_ensembles.release.session import Session

    with Session.open(options.session, head=options.head) as session:
        cost = session.cost_of(options.labels, options.queries)
        if options.epsilon is not None:
            session.extend(options.labels, epsilon=options.epsilon, queries=options.queries)
        head = session.head
    done = options.epsilon is not None
    report = {"labels": options.labels, "epsilon": cost.epsilon, "delta": cost.delta}
    report |= {"extended": done, "head": head}
    epsilon, delta = format_upper_bound(cost.epsilon), format_upper_bound(cost.delta)
    costs = (
        f"{options.labels} labels cost at most {epsilon} at delta = {delta}, "
        "if nobody decided on it by labels that were seen"
    )
    text = [costs, f"head: {head}"] if done else [f"{costs}; allow it with --epsilon"]
    emit(report, text, as_json=options.json)
    return 0


def _text(report: dict, file: Path) -> list[str]:
    """Return the status of a session as lines of text."""
    plan, spent = report["plan"], report["spent"]
    epsilon, delta = format_upper_bound(spent["epsilon"]), format_upper_bound(spent["delta"])
    total = format_upper_bound(report["total"]["epsilon"])
    absent = " (some may be absent)" if plan.get("absent") else ""
    lines = [
        f"{file}: {plan['mechanism']} ({plan['parameters']}), {plan['n_teachers']} teachers"
        f"{absent}, {plan['n_classes']} classes, {plan['adjacency']}, {_describe_protection(plan)}",
        f"labels: {report['labels']} charged in {_count_batches(report['batches'])}, "
        f"{report['remaining']} remain",
        f"spent so far: epsilon = {epsilon} at delta = {delta}; in all at most {total}",
        f"head: {report['head']}",
    ]
    if report["lost"]:
        lost = _count_batches(report["lost"])
        lines.insert(2, f"charged and lost, because the process ended: {lost}")
    if plan["noise"] != "secure":
        lines.append("A REHEARSAL: the noise can be computed from the seed; publish nothing of it")
    return lines


def _text_of_releases(report: dict, file: Path, rows: list[dict]) -> list[str]:
    """Return the status of a file of single releases as lines of text."""
    from private_ensembles.release.record import Total

    lines = [f"{file}: {report['labels']} labels charged in {_count_releases(len(rows))}"]
    if report["already_spent"] is not None:
        lines.append(f"spent before: at most {Total(**report['already_spent'])}")
    if report["total"] is not None:
        lines.append(f"all together: at most {Total(**report['total'])}")
    if report["if_planned_together"] is not None:
        joint = Total(**report["if_planned_together"])
        lines.append(f"by the account of all their labels, if planned so from the start: {joint}")
    return [*lines, f"head: {report['head']}", *_batch_lines(rows)]


def _batch_lines(rows: list[dict]) -> list[str]:
    """Return the last batches as lines of a table.

    The rows are those of `session_export.batch_rows`, of whose epsilon an upper bound is shown.
    """
    heads = ["batch", "time", "queries", "labels", "epsilon"]
    shown = [
        [
            row["batch"],
            row["time"],
            row["queries"],
            row["labels"],
            format_upper_bound(row["epsilon"]),
        ]
        + ([] if row["labels_sha256"] else ["lost"])
        for row in rows[-_SHOWN:]
    ]
    table = [list(map(str, cells)) for cells in ([heads] if rows else []) + shown]
    widths = [max(map(len, column)) for column in zip(*(cells[:5] for cells in table), strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, [*widths, 0], strict=False))
        for cells in table
    ]
    hidden = len(rows) - _SHOWN
    return [line.rstrip() for line in lines] + ([f"and {hidden} before"] if hidden > 0 else [])


def _describe_protection(plan: dict) -> str:
    """Return in words who is protected, as it was stated."""
    return f"protects {Protection(plan['shards'], plan['unit'], plan['reach']).description}"


def _count_batches(number: int) -> str:
    return f"{number} batch{'es' * (number != 1)}"


def _count_releases(number: int) -> str:
    return f"{number} release{'s' * (number != 1)}"


def _caps_text(caps: list[dict]) -> list[str]:
    """Return what other caps would give as lines of text."""
    return [
        f"a cap of {row['cap']} labels: {row['correct']:.0f} expected right ({row['parameters']})"
        for row in caps
    ]
