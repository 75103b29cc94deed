"""What Snakemake itself costs: its start, its work around each job, and its DAG for a large grid.

    python benchmarks/overhead.py [--write docs/benchmarks/overhead.md]

Runs the workflow on embedded data in a temporary folder, one job at a time, so that whatever is not
spent in a job's script is Snakemake's. Takes about two minutes.
"""

import argparse
import csv
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GRID = 5000
EMPTY = 10
# What a job costs whose script does nothing: the interpreter, and what Snakemake puts before it.
SNAKEFILE = f"""
rule all:
    input: expand("{{n}}.txt", n=range({EMPTY}))

rule empty:
    output: "{{n}}.txt"
    benchmark: "results/benchmarks/empty/{{n}}.tsv"
    script: "empty.py"
"""
SCRIPT = "open(snakemake.output[0], 'w').close()\n"


def job_seconds(folder: Path) -> dict[str, list[float]]:
    """Return the wall seconds of every job's script by rule, from the benchmark files of a run."""
    seconds = defaultdict(list)
    benchmarks = Path(folder) / "results" / "benchmarks"
    for path in sorted(benchmarks.rglob("*.tsv")):
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        seconds[path.relative_to(benchmarks).parts[0]].append(sum(float(r["s"]) for r in rows))
    if not seconds:
        raise ValueError(f"folder = {folder}: must hold benchmark files in results/benchmarks")
    return dict(seconds)


def share(wall: float, seconds: dict[str, list[float]], empty: float = 0.0) -> float:
    """Return the part of a run's wall time (s) that no job's script used; jobs ran one by one.

    empty: seconds of a script that does nothing, which are Snakemake's in every job.

    Raises ValueError where the jobs took longer than the run, which then was no run of one core.
    """
    scripts = sum(map(sum, seconds.values()))
    if not 0 < scripts <= wall:
        raise ValueError(f"wall = {wall}: must be at least the {scripts:.1f} s of the jobs")
    return 1 - (scripts - empty * sum(map(len, seconds.values()))) / wall


def grid_configuration(points: int) -> str:
    """Return a configuration (YAML) whose Figure 2 needs that many points of gamma's grid."""
    m = ", ".join(map(str, range(1, points + 1)))
    return f"darrm:\n  figure2:\n    K: {points + 1 - points % 2}\n    m: [{m}]\n"


def empty_job(folder: Path) -> tuple[float, float]:
    """Return the seconds of an empty script, and of all that Snakemake does for such a job."""
    (folder / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    (folder / "empty.py").write_text(SCRIPT, encoding="utf-8")
    where = ("--snakefile", str(folder / "Snakefile"), "--cores", "1")
    start, _ = run(folder, *where, "-n", "-q")
    wall, _ = run(folder, *where)
    each = job_seconds(folder)["empty"]
    return sum(each) / EMPTY, (wall - start) / EMPTY


def run(folder: Path, *arguments: str, root: Path = ROOT) -> tuple[float, float]:
    """Run Snakemake in `root` and return its wall and CPU time (s), children included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-m", "snakemake", "--directory", str(folder), *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def page(
    start: float,
    wall: float,
    empty: tuple[float, float],
    grid: tuple[float, float],
    seconds: dict[str, list[float]],
) -> str:
    """Write the measurements as Markdown."""
    jobs = sum(map(len, seconds.values()))
    scripts = sum(map(sum, seconds.values()))
    lines = [
        "# What Snakemake itself costs",
        "",
        "Made by `python benchmarks/overhead.py --write docs/benchmarks/overhead.md` on "
        f"{os.cpu_count()} cores ({platform.machine()}, Python {platform.python_version()}, "
        f"Snakemake {version('snakemake')}), load {os.getloadavg()[1]:.1f} while it ran. "
        "How long a run on two cores takes: [embedded.md](embedded.md).",
        "",
        "| | |",
        "| --- | --- |",
        f"| run on embedded data, one job at a time | {wall:.1f} s |",
        f"| of which in the scripts of its {jobs} jobs | {scripts:.1f} s |",
        f"| Snakemake's share: the rest, and {empty[0]:.2f} s to start each script | "
        f"{share(wall, seconds, empty[0]):.0%} (target: under a third) |",
        f"| start and DAG (dry run) | {start:.1f} s |",
        f"| a job whose script does nothing | {empty[1]:.2f} s |",
        f"| dry run of {GRID:,} more points of γ's grid | {grid[0]:.1f} s, of CPU {grid[1]:.1f} s "
        "(target: under 20 s) |",
        "",
        "| rule | jobs | s per job | s |",
        "| --- | --: | --: | --: |",
    ]
    for rule, each in sorted(seconds.items(), key=lambda item: -sum(item[1])):
        lines.append(f"| {rule} | {len(each)} | {sum(each) / len(each):.2f} | {sum(each):.1f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="file for the results (Markdown)")
    write = parser.parse_args().write
    with tempfile.TemporaryDirectory() as folder:
        start, _ = run(Path(folder), "-n", "-q")
        wall, _ = run(Path(folder), "--cores", "1")
        nothing = Path(folder) / "empty"
        nothing.mkdir()
        empty = empty_job(nothing)
        configuration = Path(folder) / "grid.yaml"
        configuration.write_text(grid_configuration(GRID), encoding="utf-8")
        grid = run(Path(folder), "-n", "-q", "--configfile", str(configuration))
        text = page(start, wall, empty, grid, job_seconds(Path(folder)))
    print(text)
    if write:
        write.parent.mkdir(parents=True, exist_ok=True)
        write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
