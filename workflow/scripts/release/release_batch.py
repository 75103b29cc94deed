"""Release the labels of one batch of a session, or show the labels that it got before."""

from dataclasses import asdict

from private_ensembles.base import files
from private_ensembles.release import session_export
from private_ensembles.release.files.votes_reader import read_own_votes
from private_ensembles.release.session import Session

with files.job(snakemake, confidential=True) as job:
    key = job.params.session["batch"]
    with Session.open(job.params.session["file"]) as session:
        task = session.plan.task
        ensemble = {"n_classes": task.ensemble.classes, "absent": task.ensemble.absent}
        ensemble["teachers"] = task.ensemble.teachers
        reading = dict(job.params.reading)
        requested = {key: reading.pop(key) for key in ("class_names", "first_class", "id_column")}
        requested["first_class"] = requested["first_class"] or None  # 0 is the default
        names = session.names.require_unchanged(**requested)
        votes = read_own_votes(job.input.votes, **ensemble, **reading, **asdict(names))
        job.report_progress(
            "%d queries of %d that remain", votes.n_queries, session.remaining_queries
        )
        again = job.config["own"]["release"]["again"]
        session.release(votes.histogram(), key=key, ids=votes.ids, again=again)
        if session.plan.seed is not None:
            # Whoever has the seed can take a rehearsal's noise away, so nobody else may read it.
            job.output.labels.parent.chmod(0o700)
        text = session.labels_text(session.batch(key))
        job.output.labels.write_text(text, encoding="utf-8")
        files.write_json(job.output.status, session_export.status(session))
