"""Which test calls which function of the package, and how long it takes.

python -m benchmarks.calls calls.jsonl                    all but those of the workflow and browser
python -m benchmarks.calls calls.jsonl tests/audit/test_bounds.py     these once more

Each test is one line of JSON; a later line of the same test counts in place of an earlier one. The
examples of docstrings are tests, too. What a fixture or a cache has computed for an earlier test
counts as called by every test that uses it. What runs in another process is not seen.
"""

import argparse
import functools
import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "workflow/private_ensembles"
# A browser does not start in as little memory as `mutants` grants, and the benchmark of teachers
# measures in processes of its own: both would kill changes that they cannot see.
EVERYTHING = (
    "tests",
    PACKAGE,
    "--ignore=tests/workflow",
    "--ignore-glob=tests/page/test_browser*",
    "--ignore=tests/benchmarks/test_teachers.py",
)
IN_ONE_PROCESS = ("-n0", "--doctest-modules", "-q", "--no-header", "-p", "no:cacheprovider")
LOADING = "loading"  # as the name of a test: what runs when tests are collected


class Calls:
    """A plugin of pytest that writes each test's name, seconds and called functions."""

    def __init__(self, package: Path, results: Path):
        self._package, self._results = f"{package}{os.sep}", results
        self._code: dict = {}  # by identity, and kept so that no other code gets the same one
        self._now: set[int] = set()
        self._of_fixture: dict = defaultdict(set)
        self._seconds = 0.0

    @contextmanager
    def apart(self) -> Iterator[set[int]]:
        """Collect calls in a set of their own, which the surrounding one gets at the end."""
        before, self._now = self._now, set()
        inside = self._now
        try:
            yield inside
        finally:
            self._now = before
            before |= inside

    def start(self) -> None:
        """Watch every call from here on; caches made from here on know what filled them."""
        functools.lru_cache = self._remembering(functools.lru_cache)
        sys.settrace(self._called)
        threading.settrace(self._called)

    def _called(self, frame, event, _) -> None:
        code = frame.f_code
        identity = id(code)
        self._code[identity] = code
        self._now.add(identity)

    def _remembering(self, original: Callable) -> Callable:
        """Return an `lru_cache` by which a call that finds its value counts as computing it."""

        def lru_cache(maxsize=128, typed=False):
            if callable(maxsize):
                return lru_cache()(maxsize)

            def decorate(function):
                @original(maxsize=maxsize, typed=typed)
                def kept(*arguments, **named):
                    with self.apart() as inside:
                        value = function(*arguments, **named)
                    return value, inside

                @functools.wraps(function)
                def call(*arguments, **named):
                    value, inside = kept(*arguments, **named)
                    self._now |= inside
                    return value

                call.cache_clear, call.cache_info = kept.cache_clear, kept.cache_info
                return call

            return decorate

        return lru_cache

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self):
        with self.apart() as inside:
            result = yield
        self._write(LOADING, 0, inside)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        with self.apart() as inside:
            try:
                return (yield)
            finally:
                self._of_fixture[fixturedef] |= inside

    def pytest_runtest_logreport(self, report):
        self._seconds += report.duration

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self._seconds = 0.0
        with self.apart() as inside:
            result = yield
        for of_name in item._fixtureinfo.name2fixturedefs.values():
            for fixture in of_name:
                inside |= self._of_fixture[fixture]
        self._write(item.nodeid, self._seconds, inside)
        return result

    def _write(self, test: str, seconds: float, identities: set[int]) -> None:
        codes = [self._code[identity] for identity in identities]
        names = {
            f"{code.co_filename.removeprefix(self._package)}:{code.co_qualname}"
            for code in codes
            if code.co_filename.startswith(self._package)
        }
        line = {"test": test, "seconds": round(seconds, 3), "calls": sorted(names)}
        with self._results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def known(results: Path) -> dict[str, dict]:
    """Return the last line of each test, by its name; of what was loaded, all lines together."""
    found, loaded = {}, set()
    for line in results.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        found[one["test"]] = one
        if one["test"] == LOADING:
            loaded |= set(one["calls"])
            one["calls"] = sorted(loaded)
    return found


def record(root: Path, results: Path, arguments: list[str]) -> int:
    """Run the tests of a repository that the arguments name, and record them; pytest's status."""
    calls = Calls(root / PACKAGE, results.resolve())
    os.chdir(root)
    calls.start()
    try:
        return pytest.main([*IN_ONE_PROCESS, *arguments], plugins=[calls])
    finally:
        sys.settrace(None)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="file of the results, a line each")
    parser.add_argument("tests", nargs="*", default=EVERYTHING)
    options, further = parser.parse_known_args()
    import torch  # noqa: F401  before calls are watched: a library's caches are not ours

    return record(ROOT, options.results, [*options.tests, *further])


if __name__ == "__main__":
    sys.exit(main())
