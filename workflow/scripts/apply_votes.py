"""Release labels for somebody's own votes within a budget, and say what that costs."""

from private_ensembles.configuration import files
from private_ensembles.experiments import own_votes as accounts
from private_ensembles.experiments import releases
from private_ensembles.jobs import io
from private_ensembles.report import own_page
from private_ensembles.report.own_figure import draw_own
from private_ensembles.votes.foreign import read_own_votes

with io.job(snakemake, confidential=True) as job:
    settings, labels_file = job.params.settings, job.params.labels_file
    record = files.releases(labels_file)
    releases.permission(job.config, record)
    votes = read_own_votes(job.input.votes, **job.params.file)
    size = votes.n_queries, votes.n_teachers, votes.n_classes
    job.progress("%d queries, %d teachers, %d classes", *size)
    meter = job.meter(len(settings["mechanisms"]), "mechanisms planned")
    plan = accounts.plan_for(votes, settings, job.params.budget, job.params.seed, meter, job.expect)
    meter.finish()
    table = accounts.public_table(plan)
    io.write_csv(job.output.table, table)
    curves = accounts.curves_table(plan, job.params.seed)
    io.write_csv(job.output.curves, curves)
    meter = job.meter(sum(one.refusal is None for one in plan.plans), "mechanisms accounted for")
    io.write_csv(job.output.private, accounts.private_table(plan, votes, meter))
    meter.finish()
    draw_own(table, curves, settings["profile"], job.output.png, job.output.pdf)
    # Last: what fails before it has cost nothing.
    labels = accounts.labels_table(accounts.release(plan, votes, job.params.seed))
    io.write_csv(job.output.labels, labels)
    drawn = releases.release_of(table[table["chosen"]].iloc[0], job.output.labels)
    total = releases.together([*releases.read(record), drawn])
    shown = {"figure": job.output.png, "labels_file": labels_file, "total": total}
    facts = accounts.public_facts(plan)
    page = own_page.build(table, curves, labels, facts, settings["profile"], **shown)
    job.output.page.write_text(page, encoding="utf-8")
    if plan.task.secure:
        releases.append(drawn, record)
