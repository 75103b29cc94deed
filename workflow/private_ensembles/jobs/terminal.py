"""What Snakemake prints while it runs, in one line a job; its log file keeps the rest.

Snakemake prints eight lines about every job. Here its terminal handler leaves out what starts and
finishes jobs, and a handler of ours says when each started and how much of the run was done.
Warnings and errors stay as they are.
"""

import logging
import time

# Events that a line of ours replaces; all as strings, which Snakemake's events are.
_OURS = ("job_info", "job_finished", "progress")
_CHATTER = ("Select jobs to execute", "Execute ")


class JobLines(logging.Handler):
    """Prints one line for every job that starts: the time, how much is done, what it does."""

    def __init__(self, stream):
        super().__init__()
        self._stream, self._share = stream, 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Note progress; print a job."""
        event = getattr(record, "event", None)
        if event == "progress":
            self._share = record.done / max(1, record.total)
        elif event == "job_info" and record.rule_msg:
            now = time.strftime("%H:%M:%S", time.localtime(record.created))
            print(f"{now} {self._share:4.0%}  {record.rule_msg}", file=self._stream, flush=True)


def shorten(logger: logging.Logger) -> None:
    """Give Snakemake's logger these lines, unless it is asked for all there is (--verbose)."""
    if logger.level <= logging.DEBUG:
        return
    for handler in list(logger.handlers):
        if handler.name == "DefaultStreamHandler":
            ours = JobLines(handler.stream)
            ours.filters = list(handler.filters)  # what --quiet asks for
            handler.addFilter(_not_ours)
            logger.addHandler(ours)


def _not_ours(record: logging.LogRecord) -> bool:
    if getattr(record, "event", None) in _OURS:
        return False
    return not (record.levelno == logging.INFO and str(record.msg).startswith(_CHATTER))
