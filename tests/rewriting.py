"""Assertions are rewritten once for all processes: half of what collecting takes.

Each process would rewrite those of every file, where no bytecode is kept from an earlier run. So
before they collect, each takes the next file that nobody has taken and keeps what pytest makes of
it: where Python keeps bytecode, or, where it may write none, in the folder of this run.
"""

import contextlib
import sys
from pathlib import Path

from _pytest.assertion import rewrite


def leave(name: str):
    """Load a library as it is, though it has a plug-in for pytest: nobody reads its assertions.

    Where no bytecode may be written each process would rewrite all of its files.
    """
    for hook in sys.meta_path:
        if isinstance(hook, rewrite.AssertionRewritingHook):
            hook._must_rewrite.discard(name)


def share(config, root: Path):
    """Rewrite a share of the files in `root`, for all processes; a context for collecting them.

    Does nothing where one process runs the tests, or some of them are asked for.
    """
    whole = config.args_source is config.ArgsSource.TESTPATHS
    if not hasattr(config, "workerinput") or not whole:
        return contextlib.nullcontext()
    return _shared(config, root)


@contextlib.contextmanager
def _shared(config, root):
    folder = config._tmp_path_factory.getbasetemp().parent / "assertions"
    folder.mkdir(exist_ok=True)
    place = rewrite.get_cache_dir
    if sys.dont_write_bytecode:
        rewrite.get_cache_dir = lambda path: Path(folder, *path.parent.parts[1:])
    try:
        for number, path in enumerate(sorted(root.rglob("test_*.py"))):
            # Somebody has it already, or will say what is wrong with it.
            with contextlib.suppress(FileExistsError, SyntaxError):
                (folder / str(number)).touch(exist_ok=False)
                _rewrite(path, config)
        yield
    finally:
        rewrite.get_cache_dir = place


def _rewrite(path: Path, config):
    kept = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(path, kept) is None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        source, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, kept)
