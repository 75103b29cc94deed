"""Release labels for somebody's own votes within a budget, and say what that costs."""

from functools import partial
from pathlib import Path

from private_ensembles.figures.own_votes import draw_own
from private_ensembles.jobs import io
from private_ensembles.mechanisms.task import state_protection
from private_ensembles.page import own_page
from private_ensembles.release import expectation, pool, releasing, showing
from private_ensembles.release import own_votes as accounts
from private_ensembles.votes.foreign import read_own_votes

place = releasing.Place(Path(snakemake.params.labels_file).parent)
with io.job(snakemake, confidential=True, lock=place.lock) as job:
    settings = job.params.settings
    seed = job.params.seed
    request = releasing.Request(Path(job.input.votes), job.config)
    releasing.permission(request, place)
    protection = state_protection(**job.params.protection, secure=request.secure)
    votes = read_own_votes(job.input.votes, **job.params.file)
    source = None if request.secure else seed
    named, first = (job.params.file[name] for name in ("class_names", "first_class"))
    asked = pool.pool_of(votes, job.params.answer, named, source, first_class=first)
    votes = asked.votes
    job.progress(
        "%d queries, %d teachers, %d classes", votes.n_queries, votes.n_teachers, votes.n_classes
    )
    meter = job.meter(len(settings["mechanisms"]), "mechanisms planned")
    budget, anyway = job.params.budget, bool(job.config["anyway"])
    plan = accounts.plan_for(votes, settings, budget, protection, seed, meter, job.expect)
    meter.finish()
    say = partial(job.progress, "%s")
    expectation.tell(
        plan.expectation, secure=request.secure, anyway=anyway, allow="--config anyway=yes", say=say
    )
    table = accounts.public_table(plan)
    io.write_csv(job.output.table, table)
    curves = accounts.curves_table(plan, seed)
    io.write_csv(job.output.curves, curves)
    meter = job.meter(len(plan.applying), "mechanisms accounted for")
    io.write_csv(job.output.private, accounts.private_table(plan, votes, meter))
    meter.finish()
    draw_own(table, curves, settings["profile"], job.output.png, job.output.pdf)
    others = {"mechanisms.csv": partial(io.write_csv, rows=accounts.public_rows(plan))}
    facts = accounts.public_facts(plan) | {"answered": pool.words(job.params.answer)}
    files = {"figure": job.output.png, "labels_file": job.params.labels_file}

    def tell(labels):
        public = (table, curves, labels.table(), facts, settings["profile"])
        statement = showing.paths_of(labels).get("statement.html")
        return own_page.build(*public, **files, total=labels.total, statement=statement)

    # Last: what fails before the charge, the page included, costs nothing.
    labels = accounts.serve(plan, asked, seed, request, place, tell=tell, anyway=anyway)
    if labels.total is not None:
        showing.show(labels, others)
    job.output.labels.write_text(labels.text, encoding="utf-8")
    job.output.page.write_text(labels.told, encoding="utf-8")
