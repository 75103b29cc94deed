"""Progress: rates and remaining time for those who watch, one line for the log."""

import pytest

from private_ensembles.base import files
from private_ensembles.base import progress as watch


class Clock:
    """Every look at it takes `step` seconds."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


@pytest.mark.parametrize(
    ("step", "total", "line"),
    [
        (2.5, 10, "2 of 10 queries, 24 a minute, 20 s left"),
        (6, 600, "1 of 600 queries, 10 a minute, 60 min left"),
        (6, 6000, "1 of 6000 queries, 10 a minute, 10.0 h left"),
        (6, None, "1 queries, 10 a minute"),
    ],
)
def test_the_first_line_comes_after_five_seconds_with_rate_and_rest(step, total, line):
    said, logged = [], []
    items = range(total or 3)
    tracked = watch.track(
        iter(items), "queries", total=total, say=said.append, log=logged.append, clock=Clock(step)
    )
    assert list(tracked) == list(items)
    assert said[0] == line
    assert len(logged) == 1
    assert logged[0].startswith(f"{len(items)} queries in ")


def test_fast_rates_are_by_the_second():
    said = []
    meter = watch.Meter(10_000, "labels", say=said.append, log=print, clock=Clock(5))
    meter.advance(5000)
    assert said == ["5000 of 10000 labels, 1e+03 a second, 5 s left"]


def test_a_resumed_training_tells_its_own_speed_and_what_else_there_is_to_say():
    said, logged = [], []
    clock = Clock(2)
    meter = watch.Meter(20, "steps", say=said.append, log=logged.append, done=10, clock=clock)
    for _ in range(10):
        meter.advance(images=300, note="loss 0.5")
    assert [line.split(",")[0] for line in said] == [f"{n} of 20 steps" for n in (13, 16, 19)]
    assert said[1] == "16 of 20 steps, loss 0.5, 150 images/s, 8 s left"
    meter.finish()
    assert logged == ["10 steps in 22.0 s, 136 images/s"]


def test_work_of_a_few_seconds_is_told_once_when_it_is_done():
    said = []
    meter = watch.Meter(30, "epochs", say=said.append, log=said.append, clock=Clock(0.1))
    for _ in range(30):
        meter.advance()
    meter.finish()
    assert [line.split(",")[0] for line in said] == ["30 epochs in 3.1 s"]


def test_lines_are_a_tenth_apart_or_a_minute():
    said = []
    meter = watch.Meter(100, "epochs", say=said.append, log=said.append, clock=Clock(5))
    for _ in range(100):
        meter.advance()
    assert [int(line.split(" ")[0]) for line in said] == [1, *range(10, 101, 10)]
    said.clear()
    meter = watch.Meter(10_000, "steps", say=said.append, log=said.append, clock=Clock(7))
    for _ in range(30):
        meter.advance()
    assert [int(line.split(" ")[0]) for line in said] == [1, 10, 19, 28]


def test_a_job_s_progress_is_quiet_where_nobody_watches(fake_snakemake, tmp_path, capsys):
    with files.job(fake_snakemake()) as job:
        assert list(job.track([1, 2], "queries")) == [1, 2]
        meter = job.meter(3, "teachers")
        meter.advance(3)
        meter.finish()
        job.output[0].write_text("1")
    assert capsys.readouterr().err == ""
    log = (tmp_path / "job.log").read_text()
    assert "2 queries in " in log
    assert "3 teachers in " in log


def test_a_job_s_progress_is_seen_in_a_terminal(fake_snakemake, monkeypatch, capsys):
    monkeypatch.setattr(watch, "is_terminal", lambda: True)
    monkeypatch.setattr(watch, "_EVERY", 0.0)
    with files.job(fake_snakemake()) as job:
        list(job.track([1], "queries"))
        job.output[0].write_text("1")
    assert capsys.readouterr().err.startswith("some_rule: 1 of 1 queries, ")


def test_every_meter_is_finished_for_else_the_log_has_nothing_of_it(root):
    texts = [path.read_text(encoding="utf-8") for path in (root / "workflow/scripts").rglob("*.py")]
    meters = [text.count("job.meter(") for text in texts]
    assert sum(meters) > 5
    assert meters == [text.count("meter.finish()") for text in texts]
