"""Solve and certify every gamma family at all m of one K, epsilon and Delta."""

from private_ensembles.jobs import io
from private_ensembles.papers.darrm.simulations import noiseless_allowances, sweep

with io.job(snakemake) as job:
    rows = []
    swept = sweep(
        **job.params.point,
        allowances=job.track(job.params.m, "allowances m"),
        prior=job.params.prior,
        solver=job.params.solver,
        threads=job.threads,
    )
    for row in swept:
        rows.append(row)
        job.log.info("m = %(m)s, %(family)s: error %(expected_error).6g", row)
    noiseless = list(noiseless_allowances(**job.params.point))
    provenance = io.provenance("numpy", "scipy", "highspy", "gurobipy")
    content = {"rows": rows, "noiseless": noiseless, "provenance": provenance}
    io.write_json(job.output[0], content)
