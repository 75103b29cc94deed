"""Release the labels of one batch of a session, or show those that it has got before."""

from dataclasses import asdict

from private_ensembles.base import files
from private_ensembles.release import session_export
from private_ensembles.release.files.votes_reader import read_own_votes
from private_ensembles.release.session import Session

with files.job(snakemake, confidential=True) as job:
    key = job.params.session["batch"]
    with Session.open(job.params.session["file"]) as session:
        task = session.plan.task
        stated = {"n_classes": task.ensemble.classes, "absent": task.ensemble.absent}
        stated["teachers"] = task.ensemble.teachers
        said = dict(job.params.reading)
        named = {name: said.pop(name) for name in ("class_names", "first_class", "id_column")}
        named["first_class"] = named["first_class"] or None  # 0 is the default
        names = session.names.require_unchanged(**named)
        votes = read_own_votes(job.input.votes, **stated, **said, **asdict(names))
        job.report_progress(
            "%d queries of %d that remain", votes.n_queries, session.remaining_queries
        )
        again = job.config["own"]["release"]["again"]
        session.release(votes.histogram(), key=key, ids=votes.ids, again=again)
        if session.plan.seed is not None:  # whoever has the seed can take a rehearsal's noise away
            job.output.labels.parent.chmod(0o700)
        text = session.labels_text(session.batch(key))
        job.output.labels.write_text(text, encoding="utf-8")
        files.write_json(job.output.status, session_export.status(session))
