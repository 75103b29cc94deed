"""Account for the votes of the paper's own ensembles, those that are at hand."""

from private_ensembles.base import files
from studies.authors_votes.accounting import account_votes, read_authors_votes

with files.job(snakemake) as job:
    settings = job.params.settings
    votes = {
        task: read_authors_votes(settings[task], **file) for task, file in job.params.files.items()
    }
    files.write_csv(job.output[0], account_votes(votes, settings))
