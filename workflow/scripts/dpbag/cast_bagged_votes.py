"""Train the teachers of a few partitions and let them vote on the public queries."""

from private_ensembles.base import files
from private_ensembles.labels.release_marks import FUNCTION_OF_VOTES
from private_ensembles.papers.dpbag.experiment import cast_votes, queries_needed, split_thirds
from private_ensembles.papers.dpbag.votes import write_votes
from private_ensembles.training.data.tabular import read_records

with files.job(snakemake) as job:
    options = job.params
    records = read_records(job.input.dataset)
    meter = job.meter(len(options.partitions) * options.n, "teachers")
    thirds = split_thirds(records, options.scaling, options.seed, options.repeat)
    votes = cast_votes(
        thirds,
        options.model,
        options.training,
        n=options.n,
        partitions=options.partitions,
        n_queries=queries_needed(options.budget, options.n, len(thirds.queries[1])),
        seed=options.seed,
        path=("dpbag", records.name, options.repeat),
        progress=lambda done, total: meter.advance(options.n),
    )
    meter.finish()
    votes.provenance.update(dataset=records.provenance, release=FUNCTION_OF_VOTES)
    write_votes(job.output[0], votes)
