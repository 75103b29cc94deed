"""Release labels for somebody's own votes within a budget, and say what that costs."""

from pathlib import Path

from private_ensembles.base import files
from private_ensembles.labels.task import protection_from_options
from private_ensembles.release import expectation, own_keys, own_votes, pool, transaction
from private_ensembles.release.release_files import paths_of, write_release
from private_ensembles.report import own_figure, own_page

output_folder = transaction.OutputFolder(Path(snakemake.params.labels_file).parent)
with files.job(snakemake, confidential=True, lock=output_folder.lock) as job:
    settings, seed = job.params.planner, job.params.seed
    request = transaction.Request(Path(job.input.votes), own_keys.request_of(job.config))
    transaction.check_permission(request, output_folder)
    protection = protection_from_options(**job.params.protection, secure=request.secure)
    ensemble, wanted, reading = job.params.ensemble, job.params.wanted, job.params.reading
    file_facts = reading | {"teachers": ensemble["teachers"], "n_classes": ensemble["classes"]}
    file_facts |= {"absent": ensemble["absent"], "most_ones": wanted["most_ones"]}
    order_seed = None if request.secure else seed
    asked = pool.read_pool(job.input.votes, file_facts, wanted["answer"], order_seed)
    votes = asked.votes
    job.report_progress(
        "%d queries, %d teachers, %d classes", votes.n_queries, votes.n_teachers, votes.n_classes
    )
    meter = job.meter(len(settings["mechanisms"]), "mechanisms planned")
    budget = job.params.budget | {"labels_wanted": wanted["labels"], "noise": job.params.noise}
    anyway = job.config["own"]["release"]["anyway"]
    plan = own_votes.plan_for(
        votes, settings, budget, protection, seed, meter, job.announce_duration
    )
    meter.finish()
    allow, say = "--config anyway=yes", job.report_progress
    expectation.announce_and_check(
        plan.expectation, secure=request.secure, anyway=anyway, allow=allow, say=say
    )
    table, curves = own_votes.public_table(plan), own_votes.labels_and_budgets_table(plan, seed)
    files.write_csv(job.output.table, table)
    files.write_csv(job.output.curves, curves)
    meter = job.meter(len(plan.applicable_plans), "mechanisms accounted for")
    files.write_csv(job.output.private, own_votes.private_table(plan, votes, meter))
    meter.finish()
    own_figure.draw_own(table, curves, settings["profile"], job.output.png, job.output.pdf)
    rows = own_votes.public_rows(plan)
    facts = own_votes.public_facts(plan) | {"answered": pool.describe_order(wanted["answer"])}
    paths = {"figure": job.output.png, "labels_file": job.params.labels_file}

    def summarize(labels):
        public = (table, curves, labels.table(), facts, settings["profile"])
        statement = paths_of(labels).get("statement.html")
        return own_page.build(*public, **paths, total=labels.total, statement=statement)

    # The charge comes last: what fails before it, the page included, costs nothing.
    labels = own_votes.charge_and_release(
        plan, asked, seed, request, output_folder, summarize=summarize, anyway=anyway
    )
    if labels.total is not None:
        write_release(labels, {"mechanisms.csv": lambda to: files.write_csv(to, rows)}, job=True)
    job.output.labels.write_text(labels.text, encoding="utf-8")
    job.output.page.write_text(labels.summary, encoding="utf-8")
