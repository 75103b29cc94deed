"""Build the page that shows every table and figure beside the published numbers."""

from pathlib import Path

from private_ensembles.base import files
from private_ensembles.report import index

with files.job(snakemake) as job:
    page = index.build(
        fidelity=job.input.fidelity,
        tables=job.input.tables,
        figures=job.input.figures,
        data=job.params.data,
        ledger=job.input.ledger,
        config=job.config,
    )
    Path(job.output.page).write_text(page, encoding="utf-8")
