"""Release labels for somebody's own votes within a budget, and say what that costs."""

from private_ensembles.experiments import own_votes as own_accounting
from private_ensembles.experiments import releases
from private_ensembles.jobs import io
from private_ensembles.report import own_page
from private_ensembles.report.own_figure import draw_own
from private_ensembles.votes.foreign import read_own_votes

with io.job(snakemake, confidential=True) as job:
    settings, budget = job.params.settings, job.params.budget
    releases.permission(job.config)
    votes = read_own_votes(job.input.votes, **job.params.file)
    size = votes.n_queries, votes.n_teachers, votes.n_classes
    job.progress("%d queries, %d teachers, %d classes", *size)
    meter = job.meter(len(settings["mechanisms"]), "mechanisms planned")
    plan = own_accounting.plan_for(votes, settings, budget, job.params.seed, meter)
    meter.finish()
    table = own_accounting.public_table(plan)
    io.write_csv(job.output.table, table)
    meter = job.meter(sum(one.refusal is None for one in plan.plans), "mechanisms accounted for")
    io.write_csv(job.output.private, own_accounting.private_table(plan, votes, meter))
    meter.finish()
    draw_own(table, settings["profile"], job.output.png, job.output.pdf)
    # Last: what fails before it has cost nothing.
    labels = own_accounting.labels_table(own_accounting.release(plan, votes, job.params.seed))
    io.write_csv(job.output.labels, labels)
    drawn = releases.release_of(table[table["chosen"]].iloc[0], job.output.labels)
    page = own_page.build(
        table,
        labels,
        own_accounting.public_facts(plan),
        settings["profile"],
        figure=job.output.png,
        labels_file=job.params.labels_file,
        total=releases.together([*releases.read(), drawn]),
    )
    job.output.page.write_text(page, encoding="utf-8")
    if plan.task.secure:
        releases.append(drawn)
