"""Draw the search for GNMax's noise over Rényi orders (Figure 10)."""

from private_ensembles.base import files
from private_ensembles.papers.darrm.figure_data import sigma_search
from private_ensembles.papers.darrm.figures import draw_sigma_search

with files.job(snakemake) as job:
    datasets = [
        {"name": name, "epsilon": cost["epsilon_query"], "delta": cost["delta_query"]}
        for name, cost in job.params.datasets.items()
    ]
    data = sigma_search(datasets, **job.params.search)
    files.write_csv(job.output.data, data)
    draw_sigma_search(data, job.output.png, job.output.pdf)
