"""A user's own function, found by the name of its file: FILE.py:FUNCTION."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

KINDS = ("auto", "probabilities", "sampler")


def load(name: str) -> Callable:
    """Return the function FUNCTION of FILE.py.

    The file runs as `python FILE.py` would run it, and can import modules beside it. What it raises
    becomes one line.

    Args:
        name: FILE.py:FUNCTION.

    Raises:
        ValueError: The name has another form, the file has no such function, or running it fails.
        OSError: There is no such file.
    """
    path, colon, function = name.rpartition(":")
    if not colon or not path.endswith(".py") or not function.isidentifier():
        raise ValueError(f"mechanism = {name!r}: must be FILE.py:FUNCTION")
    with open(path, encoding="utf-8"):
        pass  # this gives a clear error if there is no such file
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    # The module gets a name of its own, so that no module of the library is taken for it.
    spec = importlib.util.spec_from_file_location(f"audited_{Path(path).stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module here
    guard_errors(spec.loader.exec_module, path)(module)
    loaded = getattr(module, function, None)
    if not callable(loaded):
        names = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise ValueError(
            f"{path}: has no function {function!r}; it has {', '.join(names) or 'none'}"
        )
    return guard_errors(loaded, name)


def find_kind(function: Callable, kind: str = "auto") -> str:
    """Return what a function is by its arguments: `probabilities` or `sampler`.

    A function of one argument, the counts, returns probabilities of the labels. A function of two,
    the counts and a generator, draws labels.

    Args:
        function: The function of the user.
        kind: One of `KINDS`; anything but ``auto`` is returned as it is.

    Raises:
        ValueError: The function takes another number of arguments, or its arguments are unknown.

    >>> find_kind(lambda counts: counts), find_kind(lambda counts, generator: counts)
    ('probabilities', 'sampler')
    """
    if kind != "auto":
        return kind
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ValueError("arguments unknown: say --kind probabilities or --kind sampler") from None
    required = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(required) not in (1, 2):
        raise ValueError(
            f"{len(required)} arguments: must take counts (probabilities), or counts and a "
            "generator (a sampler)"
        )
    return KINDS[len(required)]


def guard_errors(function: Callable, name: str) -> Callable:
    """Return the function with whatever it raises turned into a ValueError of one line.

    A function that ends the program (sys.exit) raises one, too, because nothing has been audited
    then. What the function prints goes to standard error.

    Args:
        function: The function of the user.
        name: What the error calls it.
    """

    def call(*arguments):
        try:
            with _redirect_stdout_to_stderr():
                return function(*arguments)
        except SystemExit as leave:
            raise ValueError(f"{name}: ends the program (sys.exit, {leave.code!r})") from leave
        except Exception as error:
            text = " ".join(str(error).split())
            raise ValueError(f"{name}: {type(error).__name__}: {text}".rstrip(": ")) from error

    call.__wrapped__ = function  # inspect.signature looks through it
    return call


@contextlib.contextmanager
def _redirect_stdout_to_stderr() -> Iterator[None]:
    """Send to standard error what the block, or a program that it starts, prints.

    Standard output is for the audit alone, which a program may read.
    """
    with contextlib.ExitStack() as undo:
        with contextlib.suppress(OSError, ValueError, AttributeError):  # standard output is closed
            output = sys.stdout.fileno()
            before = os.dup(output)
            undo.callback(os.close, before)
            closed = sys.stderr is None  # the shell has closed it
            error = os.open(os.devnull, os.O_WRONLY) if closed else os.dup(sys.stderr.fileno())
            undo.callback(os.close, error)
            os.dup2(error, output)
            undo.callback(os.dup2, before, output)
        undo.enter_context(contextlib.redirect_stdout(sys.stderr))
        yield
