"""Rank mechanisms by expected right labels on the stated profile, and audit each exactly."""

from private_ensembles.figures.planner import draw_plan
from private_ensembles.jobs import io
from private_ensembles.planner import scaled_plans, study

with io.job(snakemake) as job:
    settings = job.params.settings
    meter = job.meter(len(settings["epsilons"]), "budgets")
    plans = study.plans(
        settings, settings["epsilons"], job.params.seed, meter, noise=job.params.noise
    )
    meter.finish()
    table = study.table_of(plans)
    io.write_csv(job.output.table, table)
    task, _ = plans[0]
    counts, labels = study.profile_votes(task, job.params.seed)
    io.write_csv(job.output.labels, scaled_plans.fewer_labels(plans, counts, labels))
    io.write_csv(job.output.audit, study.audit_table(settings, noise=job.params.noise))
    ensemble = f"{settings['teachers']} teachers, {settings['n_classes']} classes"
    draw_plan(table, job.output.png, job.output.pdf, ensemble=ensemble)
