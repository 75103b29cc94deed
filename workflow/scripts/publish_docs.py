"""Copy tables and figures into docs/, with a page that shows them and says how they were made."""

import shutil

from private_ensembles import io
from private_ensembles.report.markdown import docs_page

with io.job(snakemake) as job:
    for kind in ("tables", "figures"):
        sources, copies = getattr(job.input, kind), getattr(job.output, kind)
        for source, copy in zip(sources, copies, strict=True):
            shutil.copyfile(source, copy)
    page = docs_page(
        tables=job.input.tables,
        figures=job.input.figures,
        command=f"snakemake publish_docs --config data={job.params.data} seed={job.params.seed}",
        facts=io.provenance("torch", "opacus", "dp-accounting", "gurobipy", "highspy"),
    )
    job.output.page.write_text(page, encoding="utf-8")
