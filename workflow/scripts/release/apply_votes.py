"""Release labels for somebody's own votes within a budget, and say what that costs."""

from functools import partial
from pathlib import Path

from private_ensembles.base import files as io
from private_ensembles.labels.task import protection_from_options
from private_ensembles.release import (
    expectation,
    own_keys,
    pool,
    release_files,
    transaction,
)
from private_ensembles.release import own_votes as accounts
from private_ensembles.release.files.votes_reader import read_own_votes
from private_ensembles.report import own_page
from private_ensembles.report.own_figure import draw_own

place = transaction.OutputFolder(Path(snakemake.params.labels_file).parent)
with io.job(snakemake, confidential=True, lock=place.lock) as job:
    settings, seed = job.params.planner, job.params.seed
    request = transaction.Request(Path(job.input.votes), own_keys.request_of(job.config))
    transaction.check_permission(request, place)
    protection = protection_from_options(**job.params.protection, secure=request.secure)
    ensemble, wanted, reading = job.params.ensemble, job.params.wanted, job.params.reading
    stated = {"teachers": ensemble["teachers"], "n_classes": ensemble["classes"]}
    stated |= {"absent": ensemble["absent"], "most_ones": wanted["most_ones"]}
    votes = read_own_votes(job.input.votes, **reading, **stated)
    source, first = None if request.secure else seed, reading["first_class"]
    asked = pool.pool_of(votes, wanted["answer"], reading["class_names"], source, first_class=first)
    votes = asked.votes
    job.report_progress(
        "%d queries, %d teachers, %d classes", votes.n_queries, votes.n_teachers, votes.n_classes
    )
    meter = job.meter(len(settings["mechanisms"]), "mechanisms planned")
    budget = job.params.budget | {"labels_wanted": wanted["labels"], "noise": job.params.noise}
    anyway = job.config["own"]["release"]["anyway"]
    plan = accounts.plan_for(
        votes, settings, budget, protection, seed, meter, job.announce_duration
    )
    meter.finish()
    say = partial(job.report_progress, "%s")
    allow, secure = "--config anyway=yes", request.secure
    expectation.announce_and_check(
        plan.expectation, secure=secure, anyway=anyway, allow=allow, say=say
    )
    table, curves = accounts.public_table(plan), accounts.curves_table(plan, seed)
    io.write_csv(job.output.table, table)
    io.write_csv(job.output.curves, curves)
    meter = job.meter(len(plan.applicable_plans), "mechanisms accounted for")
    io.write_csv(job.output.private, accounts.private_table(plan, votes, meter))
    meter.finish()
    draw_own(table, curves, settings["profile"], job.output.png, job.output.pdf)
    others = {"mechanisms.csv": partial(io.write_csv, rows=accounts.public_rows(plan))}
    facts = accounts.public_facts(plan) | {"answered": pool.describe_order(wanted["answer"])}
    files = {"figure": job.output.png, "labels_file": job.params.labels_file}

    def summarize(labels):
        public = (table, curves, labels.table(), facts, settings["profile"])
        statement = release_files.paths_of(labels).get("statement.html")
        return own_page.build(*public, **files, total=labels.total, statement=statement)

    # Last: what fails before the charge, the page included, costs nothing.
    labels = accounts.charge_and_release(
        plan, asked, seed, request, place, summarize=summarize, anyway=anyway
    )
    if labels.total is not None:
        release_files.write_release(labels, others)
    job.output.labels.write_text(labels.text, encoding="utf-8")
    job.output.page.write_text(labels.summary, encoding="utf-8")
