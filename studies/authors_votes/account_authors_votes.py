"""Account for the votes of the paper's own ensembles, those that are at hand."""

from private_ensembles.base import files
from private_ensembles.release.files.votes_reader import read_own_votes
from studies.authors_votes.accounting import account_votes

with files.job(snakemake) as job:
    settings = job.params.settings
    votes = {
        task: read_own_votes(
            path, n_classes=settings[task]["n_classes"], kind="counts", public=True
        )
        for task, path in job.params.files.items()
    }
    files.write_csv(job.output[0], account_votes(votes, settings))
