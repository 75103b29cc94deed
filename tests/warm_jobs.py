"""Python with its libraries loaded: a process that forks for each script and each process of tests.

Half of a small job goes into imports of NumPy, pandas, Matplotlib, PyTorch and the like, and so
does half of what a process of the tests does before its first test. One process loads them once for
all, and nothing of this package. Where Snakemake would start Python with a script, or xdist with
its code, `python -I -S` starts with this file, which asks that process for a fork and stands for
it: with its folder, environment, streams and exit status. The tiny runs that most tests read,
killed runs, Slurm's jobs and one run of what no tiny run has (`fresh`) start Python as users do.
"""

import json
import os
import signal
import socket
import sys

# What else it needs is imported late: `python -I -S` starts in a hundredth of a second.
STREAMS = (0, 1, 2)


class Forks:
    """A process that forks for whoever asks at `address`; call `close` at the end."""

    def __init__(self, file, environment, at_once):
        """file: which starts `serve`. environment: all variables it has until it forks.

        at_once: whether it loads what it is for now, and not when it is asked for the first time.
        """
        import subprocess
        import tempfile

        self._folder = tempfile.TemporaryDirectory()
        self.address = f"{self._folder.name}/forks"
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self.address)
            listening.listen(64)
            # -P as in `python -m`, where no folder but the current one counts.
            self._process = subprocess.Popen(
                [sys.executable, "-P", file, "serve", str(listening.fileno()), *["now"] * at_once],
                env=environment,
                stdin=subprocess.PIPE,
                pass_fds=[listening.fileno()],
            )

    def close(self):
        """End the process, by ending its input."""
        self._process.communicate(timeout=60)
        self._folder.cleanup()


def command(address: str) -> list[str]:
    """Return what stands for Python, and takes a script or `-c` and code."""
    return [sys.executable, "-I", "-S", __file__, address]


def ask(address: str, request, streams=STREAMS) -> int:
    """Have a request served in a fork of the process at an address; return its exit status.

    streams: its input, output and errors. The status is negative where a signal has killed it.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        text = json.dumps(request).encode()
        socket.send_fds(connection, [len(text).to_bytes(4, "big")], streams)
        connection.sendall(text)
        return int(connection.makefile().read() or 1)


def serve(load):
    """Fork for every request until stdin ends, as `Forks` has started this process.

    load: loads, and returns what serves a request in a fork, which ends with it, and what is to be
    done before each fork.
    """
    import contextlib
    import gc
    import select
    import time

    listening = socket.socket(fileno=int(sys.argv[2]))
    with contextlib.suppress(KeyboardInterrupt):
        if "now" not in sys.argv and sys.stdin in select.select([sys.stdin, listening], [], [])[0]:
            return
        gc.disable()
        run, before = load()
        gc.freeze()
        gc.enable()
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            before()
            while _reaped():
                pass
            if os.fork() == 0:  # which waits for the fork that serves
                try:
                    listening.close()
                    _supervise(connection, run)
                finally:  # also where nobody waits for the answer any more
                    os._exit(0)
            connection.close()
    # The time that forks took counts where they are waited for; they are about to end.
    patience = time.monotonic() + 2
    while _reaped() is not None and time.monotonic() < patience:
        time.sleep(0.01)


def _reaped() -> bool | None:
    """Whether a fork has ended; None where there is none."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] > 0
    except ChildProcessError:
        return None


def _supervise(connection, run):
    size, streams, *_ = socket.recv_fds(connection, 4, len(STREAMS))
    request = connection.makefile("rb").read(int.from_bytes(size, "big"))
    child = os.fork()
    if child == 0:
        connection.close()
        for ours, theirs in zip(STREAMS, streams, strict=True):
            os.dup2(theirs, ours)
            os.close(theirs)
        run(json.loads(request))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which ends the fork
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    connection.sendall(str(status).encode())


def _load():
    """Load the libraries."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_pdf
    import matplotlib.pyplot
    import pandas
    import scipy.optimize
    import scipy.special
    import scipy.stats
    import sklearn.datasets
    import snakemake.logging
    import snakemake.script
    import torch

    assert {matplotlib, pandas, scipy, sklearn, snakemake, torch}
    return _run, lambda: None


def _run(request):
    """Run a script, or code, in this process, which ends with it, as Python does."""
    import atexit
    import runpy
    import traceback
    import types

    arguments, folder, environment = request
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    code = 1
    try:
        if "-c" in arguments:
            sys.argv = ["-c"]
            sys.path.insert(0, "")
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(arguments[arguments.index("-c") + 1], vars(main))
        else:
            sys.argv = arguments
            sys.path.insert(0, os.path.dirname(arguments[0]))
            runpy.run_path(arguments[0], run_name="__main__")
        code = 0
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        else:
            code = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(_load)
        sys.exit()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which the fork gets as well
    address, *arguments = sys.argv[1:]
    status = ask(address, [arguments, os.getcwd(), dict(os.environ)])
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)
