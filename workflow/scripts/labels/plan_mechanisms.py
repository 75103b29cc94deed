"""Rank mechanisms by expected right labels on the stated profile, and audit each exactly."""

from private_ensembles.base import files
from private_ensembles.labels.planner import plan_scaling, planning
from private_ensembles.report.planner_figure import draw_plan

with files.job(snakemake) as job:
    settings = job.params.settings
    meter = job.meter(len(settings["epsilons"]), "budgets")
    plans = planning.plan_budgets(
        settings, settings["epsilons"], job.params.seed, meter, noise=job.params.noise
    )
    meter.finish()
    table = planning.tabulate_plans(plans)
    files.write_csv(job.output.table, table)
    task, _ = plans[0]
    counts, labels = planning.profile_votes(task, job.params.seed)
    files.write_csv(job.output.labels, plan_scaling.tabulate_fewer_labels(plans, counts, labels))
    files.write_csv(job.output.audit, planning.audit_table(settings, noise=job.params.noise))
    ensemble = f"{settings['teachers']} teachers, {settings['n_classes']} classes"
    draw_plan(table, job.output.png, job.output.pdf, ensemble=ensemble)
