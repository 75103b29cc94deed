"""Draw the votes of an ensemble that does not exist from a stated profile of its consensus."""

from private_ensembles.base import files
from private_ensembles.base.streams import generator
from private_ensembles.labels.profile import ConsensusProfile, synthetic_counts
from private_ensembles.labels.votes import Votes, write_votes

with files.job(snakemake) as job:
    K = job.params.K
    name = job.params.name
    seed = job.params.seed
    repeat = job.params.vote_seed
    settings = dict(job.params.settings)
    n_queries = settings.pop("n_queries")
    profile = ConsensusProfile(**settings)
    # K is not in the path, so that ensembles of all sizes are asked the same queries.
    source = generator(seed, "synthetic votes", name, repeat)
    counts, labels = synthetic_counts(profile, K, n_queries, source)
    facts = files.provenance(
        "numpy",
        synthetic=True,
        profile={"name": name, **settings},
        kind="synthetic",
        K=K,
        seed=seed,
        vote_seed=repeat,
        queries=n_queries,
        release="synthetic: drawn from the profile, says nothing about any real data",
    )
    write_votes(job.output[0], Votes(profile.n_classes, labels, counts=counts, provenance=facts))
    right = counts.argmax(axis=1) == labels
    job.log.info("plurality is right on %.4f of the queries", right.mean())
