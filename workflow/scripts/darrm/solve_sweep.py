"""Solve and certify every gamma family at all m of one K, epsilon and Delta."""

from private_ensembles.base import files
from private_ensembles.papers.darrm.simulations import low_noise_allowances, sweep_gamma_families

with files.job(snakemake) as job:
    rows = []
    swept = sweep_gamma_families(
        **job.params.point,
        allowances=job.track(job.params.m, "allowances m"),
        prior=job.params.prior,
        solver=job.params.solver,
        threads=job.threads,
    )
    for row in swept:
        rows.append(row)
        job.log.info("m = %(m)s, %(family)s: error %(expected_error).6g", row)
    noiseless = list(low_noise_allowances(**job.params.point))
    provenance = files.provenance("numpy", "scipy", "highspy", "gurobipy")
    content = {"rows": rows, "noiseless": noiseless, "provenance": provenance}
    files.write_json(job.output[0], content)
