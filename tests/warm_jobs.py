"""Jobs with their libraries loaded: a process that forks for each script that Snakemake runs.

Half of a small job goes into imports of NumPy, pandas, Matplotlib, PyTorch and the like. One
process loads them once, and nothing of this package; where Snakemake would start Python with a
script, it starts `python -I -S` with this file, which asks that process for a fork and stands for
it: with its folder, environment, streams and exit status. The tiny runs that most tests read,
killed runs, Slurm's jobs and one run of what no tiny run has (`fresh`) start Python as users do.
"""

import json
import os
import socket
import sys

# What else it needs is imported late: `python -I -S` starts in a hundredth of a second.
STREAMS = (0, 1, 2)


class WarmJobs:
    """The process that forks for jobs; call `close` at the end."""

    def __init__(self, environment):
        """environment: all its variables; a job has those with which Snakemake would start it."""
        import subprocess
        import tempfile

        self._folder = tempfile.TemporaryDirectory()
        address = f"{self._folder.name}/jobs"
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(address)
            listening.listen()
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, "serve", str(listening.fileno())],
                env=environment,
                stdin=subprocess.PIPE,
                pass_fds=[listening.fileno()],
            )
        # What starts a script, whose name comes last.
        self.command = [sys.executable, "-I", "-S", __file__, address]

    def close(self):
        """End the process, by ending its input."""
        self._process.communicate(timeout=60)
        self._folder.cleanup()


def _ask(address: str, script: str) -> int:
    """Have a script run in a fork of the process at an address; return its exit status.

    Where a signal has killed it, the same one kills this process.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        request = json.dumps([script, os.getcwd(), dict(os.environ)]).encode()
        socket.send_fds(connection, [len(request).to_bytes(4, "big")], STREAMS)
        connection.sendall(request)
        status = int(connection.makefile().read() or 1)
    if status < 0:
        os.kill(os.getpid(), -status)
    return status


def _serve(listening: socket.socket):
    """Load the libraries, and fork for every script that is asked for, until stdin ends."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    import gc
    import select

    gc.disable()
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
    gc.freeze()
    gc.enable()
    while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
        connection, _ = listening.accept()
        while _reaped():
            pass
        if os.fork() == 0:  # which waits for the job
            listening.close()
            _supervise(connection)
        connection.close()


def _reaped() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] > 0
    except ChildProcessError:
        return False


def _supervise(connection):
    size, streams, *_ = socket.recv_fds(connection, 4, len(STREAMS))
    request = connection.makefile("rb").read(int.from_bytes(size, "big"))
    job = os.fork()
    if job == 0:
        connection.close()
        for ours, theirs in zip(STREAMS, streams, strict=True):
            os.dup2(theirs, ours)
            os.close(theirs)
        _run(*json.loads(request))
    status = os.waitstatus_to_exitcode(os.waitpid(job, 0)[1])
    connection.sendall(str(status).encode())
    os._exit(0)


def _run(script, folder, environment):
    """Run a script in this process, which ends with it, as Python does."""
    import atexit
    import runpy
    import traceback

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = [script]
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.path.insert(0, os.path.dirname(script))
    code = 1
    try:
        runpy.run_path(script, run_name="__main__")
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
        _serve(socket.socket(fileno=int(sys.argv[2])))
    sys.exit(_ask(*sys.argv[1:]))
