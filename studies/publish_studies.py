"""Copy the studies' tables and figures into docs/, with a page that says how they were made."""

import shutil
from pathlib import Path

import studies
from private_ensembles.base import files
from private_ensembles.report.markdown import docs_page
from private_ensembles.report.sections import read_sections

with files.job(snakemake) as job:
    for kind in ("tables", "figures"):
        pairs = zip(getattr(job.input, kind), getattr(job.output, kind), strict=True)
        for source, copy in pairs:
            shutil.copyfile(source, copy)
    (section,) = read_sections(Path(studies.__file__).parent)
    text = docs_page(
        section=section,
        tables=job.input.tables,
        figures=job.input.figures,
        command="snakemake -s studies/Snakefile publish_docs --cores all "
        "--configfile docs/configuration.yaml",
        facts=files.provenance("torch", "opacus", "dp-accounting", "gurobipy", "highspy"),
    )
    job.output.page.write_text(text, encoding="utf-8")
