"""Release the labels of one batch of a session, or show those that it has got before."""

from private_ensembles.jobs import io
from private_ensembles.release import session_export
from private_ensembles.release.pool import pool_of
from private_ensembles.release.session import Session
from private_ensembles.votes.foreign import read_own_votes

with io.job(snakemake, confidential=True) as job:
    key = job.params.batch
    with Session.open(job.params.session) as session:
        task = session.plan.task
        stated = {"n_classes": task.ensemble.classes, "absent": task.ensemble.absent}
        stated["teachers"] = task.ensemble.teachers if task.ensemble.absent else None
        votes = read_own_votes(job.input.votes, **stated, **job.params.file)
        job.progress("%d queries of %d that remain", votes.n_queries, session.remaining_queries)
        session.release(votes.histogram(), key=key, again=bool(job.config["again"]))
        if session.plan.seed is not None:  # whoever has the seed can take a rehearsal's noise away
            job.output.labels.parent.chmod(0o700)
        asked = pool_of(votes, class_names=job.params.file["class_names"])
        text = asked.text(session.batch(key).labels or [])
        job.output.labels.write_text(text, encoding="utf-8")
        io.write_json(job.output.status, session_export.status(session))
