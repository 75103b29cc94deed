"""Every benchmark that can be named has what the runner asks of it."""

from importlib import import_module
from inspect import signature

import pytest

from benchmarks import run


@pytest.mark.parametrize("name", run.BENCHMARKS)
def test_every_benchmark_can_measure_and_write_its_page(name):
    benchmark = import_module(f"benchmarks.{name}")
    assert {"quick", "full"} <= set(signature(benchmark.measure).parameters)
    assert callable(benchmark.page)


def test_an_unknown_benchmark_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["run.py", "no_such_benchmark"])
    with pytest.raises(SystemExit):
        run.main()
    assert "invalid choice" in capsys.readouterr().err
