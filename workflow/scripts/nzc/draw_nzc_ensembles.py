"""Draw accuracy and distances against the number of teachers: NZC's Figures 2a-c."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.labels.votes import read_votes
from private_ensembles.papers.nzc.figure_data import figure2
from private_ensembles.papers.nzc.figures import draw_ensembles

with files.job(snakemake) as job:
    parts = []
    for task, settings in job.params.tasks.items():
        votes_by_size = {
            size: read_votes(job.params.votes[task][size]) for size in settings["sizes"]
        }
        pool = slice(settings["pool"])
        counts = {size: votes.histogram()[pool] for size, votes in votes_by_size.items()}
        labels = votes_by_size[settings["sizes"][0]].labels[pool]
        parts.append(figure2(counts, labels, job.params.distances, task=task))
    data = pd.concat(parts, ignore_index=True)
    files.write_csv(job.output.data, data)
    draw_ensembles(data, job.output.png, job.output.pdf)
