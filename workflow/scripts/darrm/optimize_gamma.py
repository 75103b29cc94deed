"""Optimise the noise function gamma at one grid point and certify it."""

from private_ensembles.base import files
from private_ensembles.papers.darrm.mathematics.certificate_file import make_gamma_record
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma

with files.job(snakemake) as job:
    optimised = optimize_gamma(**job.params.point, solver=job.params.solver, threads=job.threads)
    solution = make_gamma_record(optimised)
    certificate = solution["certificate"]
    if not certificate["holds"]:
        raise RuntimeError(f"no certified gamma at {job.params.point}")
    provenance = files.provenance("numpy", "scipy", "highspy", "gurobipy")
    files.write_json(job.output[0], solution | {"provenance": provenance})
    job.log.info("utility %(utility).10f, at most %(utility_upper_bound).10f", solution)
    job.log.info("slack %(slack).3e by %(method)s", certificate)
