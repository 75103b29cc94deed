"""Account for what labels of bagged teachers cost each record, and how many a budget buys."""

from private_ensembles.base import files
from private_ensembles.papers.dpbag.experiment import account_labels, add_facts
from private_ensembles.papers.dpbag.votes import join_partitions, read_votes

with files.job(snakemake) as job:
    votes = join_partitions([read_votes(path) for path in job.input])
    rows, arrays = account_labels(votes, job.params.budget, job.params.k)
    files.write_csv(job.output.counts, add_facts(rows, **job.params.facts))
    # The costs are not for release, because they carry no noise. `ones` are votes for 1, and
    # `running` is what the record that costs most has spent.
    files.write_npz(job.output.costs, **arrays)
