"""Somebody's function: found by its file's name, told by its arguments, and all it raises named."""

import numpy as np
import pytest

from private_ensembles.command.user_functions import find_kind, guard_errors, load


@pytest.fixture
def file(tmp_path):
    (tmp_path / "beside_it.py").write_text("HALF = 0.5\n")
    path = tmp_path / "somebody_s.py"
    path.write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "import numpy as np\n"
        "from beside_it import HALF\n"
        "@dataclass\nclass Noise:\n    share: float\n"
        "def even(counts):\n    return np.full(counts.shape, HALF)\n"
        "def wrong(counts):\n    return 1 / 0\n"
        "number = 3\n"
    )
    return path


def test_a_function_is_found_and_may_use_what_lies_beside_its_file(file):
    assert load(f"{file}:even")(np.zeros((1, 2))).tolist() == [[0.5, 0.5]]


def test_whatever_it_raises_is_one_line(file, tmp_path):
    with pytest.raises(ValueError, match=r"somebody_s.py:wrong: ZeroDivisionError: division"):
        load(f"{file}:wrong")(None)
    broken = tmp_path / "broken.py"
    broken.write_text("def f(:\n")
    with pytest.raises(ValueError, match=r"broken.py: SyntaxError") as error:
        load(f"{broken}:f")
    assert "\n" not in str(error.value)


def test_what_is_no_function_there_is_named(file):
    with pytest.raises(ValueError, match=r"has no function 'number'; it has .*even, wrong"):
        load(f"{file}:number")
    with pytest.raises(ValueError, match=r"must be FILE\.py:FUNCTION"):
        load("module.function")
    with pytest.raises(OSError, match="no_such"):
        load("no_such.py:f")


def test_arguments_say_what_a_function_is(file):
    assert find_kind(load(f"{file}:even")) == "probabilities"
    assert find_kind(lambda counts, generator: counts) == "sampler"
    assert find_kind(lambda counts, scale=2.0: counts) == "probabilities"
    assert find_kind(lambda counts, generator, scale=2.0: counts) == "sampler"
    assert find_kind(lambda *anything: anything, "sampler") == "sampler"
    for function in (lambda: 0, lambda a, b, c: 0, lambda *anything: 0):
        with pytest.raises(ValueError, match="must take counts"):
            find_kind(function)


def test_a_guard_keeps_what_is_right():
    assert guard_errors(lambda x: x + 1, "f")(1) == 2


def test_the_end_of_the_program_is_an_error(tmp_path):
    path = tmp_path / "leaves.py"
    path.write_text("import sys\ndef f(counts):\n    sys.exit(0)\n")
    with pytest.raises(ValueError, match=r"leaves.py:f: ends the program \(sys.exit, 0\)"):
        load(f"{path}:f")(None)
