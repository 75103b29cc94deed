"""Draw accuracy and distances against the number of teachers: NZC's Figures 2a-c."""

import pandas as pd

from private_ensembles.figures.nzc import draw_ensembles
from private_ensembles.jobs import io
from private_ensembles.papers.nzc.figures import figure2
from private_ensembles.votes.cache import read_votes

with io.job(snakemake) as job:
    parts = []
    for task, settings in job.params.tasks.items():
        caches = {size: read_votes(job.params.votes[task][size]) for size in settings["sizes"]}
        pool = slice(settings["pool"])
        counts = {size: cache.histogram()[pool] for size, cache in caches.items()}
        labels = caches[settings["sizes"][0]].labels[pool]
        parts.append(figure2(counts, labels, job.params.distances, task=task))
    data = pd.concat(parts, ignore_index=True)
    io.write_csv(job.output.data, data)
    draw_ensembles(data, job.output.png, job.output.pdf)
