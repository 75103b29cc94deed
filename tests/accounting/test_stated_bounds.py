"""Whatever is marked as a bound is one, in floating point: against sixty digits.

`@upper_bound` and `@lower_bound` (base/stated_bounds.py) mark what states a bound on a privacy cost
or a probability. Each marked object has a sampler in `bound_samplers.py`, or a test elsewhere that
says `@pytest.mark.keeps("accounting.zero_concentrated:least_rho")`.
"""

import ast
import functools
import importlib
import inspect
import re
import sys
import zlib
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import private_ensembles
from private_ensembles.base.stated_bounds import stated_bounds
from tests.accounting.bound_samplers import DIGITS, SAMPLERS

PACKAGE = private_ensembles.__name__
HOUSE = Path(private_ensembles.__file__).parent
TESTS = Path(__file__).parents[1]
# A bound is worth little if it is far away.
CLOSE = mpf(10) ** -6
# Rooms that work out what something costs. A docstring whose summary says one of these things in
# them is that of a bound, and is to be marked.
ACCOUNTS = (
    "accounting/**/*.py",
    "audit/*.py",
    "base/rounding.py",
    "labels/**/*.py",
    "papers/*/mathematics/*.py",
    "training/teachers/*.py",
)
SAYS_BOUND = re.compile(r"rounded (up|down)\b|\b(upper|lower) bounds?\b", re.IGNORECASE)


def name_of(bound):
    """module:name of a marked object, without the package."""
    return f"{bound.__module__.removeprefix(f'{PACKAGE}.')}:{bound.__qualname__}"


def functions_and_classes(module):
    """What a module defines itself, and what its classes do: properties by their functions."""
    for value in vars(module).values():
        if getattr(value, "__module__", None) == module.__name__:
            yield value
            members = vars(value).values() if inspect.isclass(value) else ()
            for member in members:
                yield getattr(member, "fget", None) or getattr(member, "func", member)


@functools.cache
def marked():
    """All marked objects of the package, by name."""
    found = {}
    for path in sorted(HOUSE.rglob("*.py")):
        name = ".".join((PACKAGE, *path.relative_to(HOUSE).with_suffix("").parts))
        if "_bound\n" in path.read_text() and not name.endswith("base.stated_bounds"):
            for each in functions_and_classes(importlib.import_module(name)):
                if stated_bounds(each):
                    found[name_of(each)] = each
    return found


def definitions(node, prefix=""):
    """Functions and classes of a module, and those of its classes, by qualified name."""
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield prefix + child.name, child
        if isinstance(child, ast.ClassDef):
            yield from definitions(child, f"{prefix}{child.name}.")


@functools.cache
def kept_elsewhere():
    """Bounds that some test of the default lane says to keep, with where it stands."""
    kept = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text()
        if "mark.keeps(" not in text or path == Path(__file__):
            continue
        for name, node in definitions(ast.parse(text)):
            marks = [mark for mark in node.decorator_list if isinstance(mark, ast.Call)]
            for mark in marks:
                if ast.unparse(mark.func) == "pytest.mark.keeps":
                    where = f"{path.relative_to(TESTS.parent)}::{name}"
                    slow = "pytest.mark.slow" in map(ast.unparse, node.decorator_list)
                    assert name.startswith("test_"), where
                    assert not slow, f"{where}: is left out by default"
                    kept |= {ast.literal_eval(bound): where for bound in mark.args}
    return kept


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: name_of(sampler.bounds[0]))
def test_the_bound_holds_against_sixty_digits(sampler):
    name, broken = name_of(sampler.bounds[0]), []
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    called, others = set(), {_code(bound): name_of(bound) for bound in sampler.bounds[1:]}

    def note(frame, event, _):
        if event == "call" and frame.f_code in others:
            called.add(frame.f_code)

    with mpmath.workdps(DIGITS):
        for _ in range(sampler.draws):
            if len(called) < len(others):
                sys.setprofile(note)
            try:
                pairs = list(sampler.draw(rng, sampler.bounds[0]))
            finally:
                sys.setprofile(None)
            for larger, smaller, *close in pairs:
                larger, smaller = mpf(larger), mpf(smaller)
                size = max(abs(smaller), abs(larger))
                if larger < smaller:
                    broken.append(float((smaller - larger) / size))
                elif close != [False]:
                    assert larger - smaller <= CLOSE * size
    assert not broken, f"{len(broken)} pairs, by up to {max(broken):.2g} of the value"
    missed = [other for code, other in others.items() if code not in called]
    assert not missed, f"its sampler calls none of {missed}"


def _code(bound):
    """What runs if a function or a class is called."""
    return inspect.unwrap(bound.__init__ if inspect.isclass(bound) else bound).__code__


def test_every_marked_bound_is_held_against_its_exact_value():
    sampled = {name_of(bound): bound for sampler in SAMPLERS for bound in sampler.bounds}
    checked = sampled.keys() | kept_elsewhere().keys()
    unchecked = sorted(marked().keys() - checked)
    assert not unchecked, f"no @samples and no @pytest.mark.keeps for {unchecked}"
    unmarked = sorted(checked - marked().keys())
    assert not unmarked, f"@samples or @pytest.mark.keeps of what is not marked: {unmarked}"


def test_what_says_that_it_is_a_bound_is_marked():
    unmarked = []
    for path in sorted(path for pattern in ACCOUNTS for path in HOUSE.glob(pattern)):
        module = ".".join(path.relative_to(HOUSE).with_suffix("").parts)
        tree = ast.parse(path.read_text())
        # What only declares an interface states nothing itself.
        protocols = {
            name
            for name, node in definitions(tree)
            if isinstance(node, ast.ClassDef) and "Protocol" in map(ast.unparse, node.bases)
        }
        for name, node in definitions(tree):
            marks = set(map(ast.unparse, node.decorator_list))
            summary = (ast.get_docstring(node) or "").partition("\n\n")[0]
            if (
                SAYS_BOUND.search(" ".join(summary.split()))
                and not re.search(r"\b_", name)
                and name.partition(".")[0] not in protocols
                and not marks & {"upper_bound", "lower_bound", "abstractmethod", "overload"}
            ):
                unmarked.append(f"{module}:{name}")
    assert not unmarked, f"say that they are bounds: mark {unmarked} (base/stated_bounds.py)"
