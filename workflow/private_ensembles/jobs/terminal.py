"""What Snakemake prints while it runs, in one line a job; its log file keeps the rest.

Snakemake prints eight lines about every job, and twenty more about one that fails, around the one
line in which the job itself says why. Here its terminal handler leaves these out, and a handler of
ours says when each job started, how much of the run was done, and which job failed. Other warnings
and errors stay as they are.
"""

import logging
import re
import time

# Events that a line of ours replaces; all as strings, which Snakemake's events are.
_OURS = ("job_info", "job_finished", "progress")
# What Snakemake says besides: of its scheduler; of a job whose exit status tells that it has said
# why (a killed one has not); of files that a job would have replaced, had there been any.
_CHATTER = re.compile(
    r"Select jobs to execute|Execute \d+ jobs|Shutting down, this might take some time"
    r"|RuleException:\nCalledProcessError in .*returned non-zero exit status (1|129|130|143)\."
    r"|Cannot restore .*: no backup found\.$"
    r"|WorkflowError:\nAt least one job did not complete successfully\.$",
    re.DOTALL,
)


class JobLines(logging.Handler):
    """Prints one line for every job that starts, with how much is done, or fails."""

    def __init__(self, stream):
        super().__init__()
        self._stream, self._share = stream, 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Note progress; print a job."""
        event = getattr(record, "event", None)
        if event == "progress":
            self._share = record.done / max(1, record.total)
        elif event == "job_info" and record.rule_msg:
            self._print(record, f"{self._share:4.0%}  {record.rule_msg}")
        elif _failed_here(record):
            self._print(record, f"FAILED {record.rule_name}, log: {', '.join(record.log)}")

    def _print(self, record: logging.LogRecord, text: str) -> None:
        now = time.strftime("%H:%M:%S", time.localtime(record.created))
        print(f"{now} {text}", file=self._stream, flush=True)


def shorten(logger: logging.Logger) -> None:
    """Give what Snakemake's logger prints these lines; its log file, and a plugin's, keep all."""
    for handler in list(logger.handlers):
        if isinstance(handler, logging.StreamHandler) and not isinstance(
            handler, logging.FileHandler
        ):
            ours = JobLines(handler.stream)
            ours.filters = list(handler.filters)  # what --quiet asks for
            handler.addFilter(_not_ours)
            logger.addHandler(ours)


def _not_ours(record: logging.LogRecord) -> bool:
    if getattr(record, "event", None) in _OURS or _failed_here(record):
        return False
    return not _CHATTER.match(str(record.msg))


def _failed_here(record: logging.LogRecord) -> bool:
    """Tell whether a job failed that has a log and ran here; a cluster's has more to say."""
    if getattr(record, "event", None) != "job_error":
        return False
    return bool(getattr(record, "log", ())) and not getattr(record, "aux", {})
