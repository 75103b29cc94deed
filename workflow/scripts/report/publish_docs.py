"""Copy tables and figures into docs/, with a page per paper that says how they were made."""

import shutil

import pandas as pd
import yaml

from private_ensembles.base import files
from private_ensembles.papers.compare.comparison import NUMBER, select_kind
from private_ensembles.report.markdown import docs_page
from private_ensembles.report.page import ASSETS
from private_ensembles.report.printed_numbers import lay_out_tables
from private_ensembles.report.sections import read_sections

with files.job(snakemake) as job:
    shutil.copyfile(job.input.fidelity, job.output.fidelity)
    configuration = yaml.safe_dump(job.params.configuration, sort_keys=False)
    job.output.configuration.write_text(configuration, encoding="utf-8")
    for kind in ("tables", "figures"):
        sources = getattr(job.input, kind)
        copies = getattr(job.output, kind)
        for source, copy in zip(sources, copies, strict=True):
            shutil.copyfile(source, copy)
    fidelity = pd.read_csv(job.input.fidelity, dtype=str, keep_default_na=False)
    compared = select_kind(fidelity, NUMBER)
    facts = files.provenance("torch", "opacus", "dp-accounting", "gurobipy", "highspy")
    sections = {section.paper: section for section in read_sections(ASSETS)}
    for paper, page in zip(job.params.papers, job.output.pages, strict=True):
        text = docs_page(
            section=sections[paper],
            tables=[path for path in job.input.tables if f"results/{paper}/" in str(path)],
            figures=[path for path in job.input.figures if f"results/{paper}/" in str(path)],
            command="snakemake publish_docs --cores all --configfile docs/configuration.yaml",
            facts=facts,
            printed=lay_out_tables(compared, paper),
        )
        page.write_text(text, encoding="utf-8")
