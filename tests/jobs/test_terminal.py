"""One line a job in the terminal; everything in the log file; errors untouched."""

import io
import logging

import pytest

from private_ensembles.jobs import terminal


@pytest.fixture
def printed(tmp_path):
    """A logger as Snakemake's, and what its terminal and its log file got."""
    logger = logging.Logger("test", logging.INFO)
    shown, file = io.StringIO(), tmp_path / "log"
    logger.addHandler(logging.StreamHandler(shown))
    logger.addHandler(logging.FileHandler(file))
    return logger, shown, file


def run(logger, message="Training"):
    """What Snakemake logs of two jobs of four."""
    for done in (1, 2):
        logger.info("Select jobs to execute...")
        logger.info("Execute 1 jobs...")
        logger.info("job", extra={"event": "job_info", "rule_msg": message})
        logger.info("Finished jobid", extra={"event": "job_finished"})
        logger.info("steps", extra={"event": "progress", "done": done, "total": 4})


def test_a_job_has_one_line_with_the_share_done(printed):
    logger, shown, file = printed
    terminal.shorten(logger)
    run(logger)
    lines = shown.getvalue().splitlines()
    assert [line[8:] for line in lines] == ["   0%  Training", "  25%  Training"]
    assert len(file.read_text().splitlines()) == 10


def test_errors_and_other_words_stay(printed):
    logger, shown, _ = printed
    terminal.shorten(logger)
    logger.error("Error in rule x", extra={"event": "job_error"})
    logger.error("Execute failed")
    logger.info("Job stats")
    run(logger, message=None)  # a rule that only stands for others
    assert shown.getvalue().splitlines() == ["Error in rule x", "Execute failed", "Job stats"]


FAILED = {
    "event": "job_error",
    "rule_name": "apply_votes",
    "log": ["logs/apply_votes/own.log"],
    "aux": {},
}
ENDED = "RuleException:\nCalledProcessError in file \"apply.smk\", line 107:\nCommand 'python' {}."


def fail(logger, *, how="returned non-zero exit status 1", **more):
    """What Snakemake logs of a job that failed."""
    logger.error(ENDED.format(how))
    logger.error("Error in rule apply_votes, jobid: 1", extra=FAILED | more)
    logger.warning("Cannot restore results/own/release/labels.csv: no backup found.")
    logger.info("Shutting down, this might take some time.")
    logger.error("Exiting because a job execution failed. Look above for error messages")
    logger.error("WorkflowError:\nAt least one job did not complete successfully.")


def test_a_failed_job_has_one_line_beside_the_one_in_which_it_says_why(printed):
    logger, shown, file = printed
    terminal.shorten(logger)
    fail(logger)
    first, second = shown.getvalue().splitlines()
    assert first[8:] == " FAILED apply_votes, log: logs/apply_votes/own.log"
    assert second.startswith("Exiting because a job execution failed")
    assert "Cannot restore" in file.read_text()


def test_what_only_snakemake_knows_of_a_failed_job_stays(printed):
    logger, shown, _ = printed
    terminal.shorten(logger)
    fail(logger, how="died with <Signals.SIGKILL: 9>", aux={"external_jobid": 7})
    assert "died with <Signals.SIGKILL: 9>" in shown.getvalue()
    assert "Error in rule apply_votes, jobid: 1" in shown.getvalue()
    assert "FAILED" not in shown.getvalue()


def test_what_is_not_asked_for_stays_out(printed):
    logger, shown, _ = printed
    logger.handlers[0].addFilter(lambda record: getattr(record, "event", "") != "job_info")
    terminal.shorten(logger)
    run(logger)
    assert shown.getvalue() == ""
