"""Run a benchmark and show, or write, its results.

python benchmarks/run.py gamma                        show the results
python benchmarks/run.py gamma --write-docs           write docs/benchmarks/gamma.csv and the page
python benchmarks/run.py gamma --output FOLDER        or write both elsewhere
python benchmarks/run.py gamma --quick                in seconds, small sizes only
python benchmarks/run.py core_calls --warn            name what takes longer than docs/ says
python benchmarks/run.py page                         write the page again from the files there

A benchmark with a figure draws it beside its numbers.
The page, README.md of the folder, has a section for each benchmark whose numbers are there.
"""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_CBWR", "AUTO")  # as jobs of the workflow have it
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow")]
DOCS = ROOT / "docs" / "benchmarks"

# The page has them in this order.
BENCHMARKS = (
    "right_labels",
    "core_calls",
    "noise",
    "waiting",
    "own_files",
    "plan_grid",
    "absent",
    "gamma",
    "gamma_points",
    "gamma_corners",
    "many_labels",
    "sessions",
    "tokens",
    "smooth_sensitivity",
    "dpbag",
    "teachers",
    "arithmetic",
    "embedded",
    "paper_run",
    "auditors",
    "libraries",
    "accountants",
)
OPENING = """# Benchmarks

For whoever wants to know how fast a part of this project is, how much memory it takes, and how it
compares. A table shows what decides, the worst included; the file below it has all numbers and
versions. `python benchmarks/run.py NAME --write-docs` measures it anew, with the file's name.
Load: how many processes were at work in the minute before. Unless a section says otherwise,
seconds are processor time on one thread, which a busy machine changes less than the clock's.
"""


def write_page(folder: Path) -> None:
    """Write README.md of a folder from the numbers in it."""
    import pandas as pd

    sections = [OPENING]
    for name in BENCHMARKS:
        numbers = folder / f"{name}.csv"
        if numbers.is_file():
            benchmark = import_module(f"benchmarks.{name}")
            sections.append(benchmark.section(pd.read_csv(numbers)))
    (folder / "README.md").write_text("\n".join(sections), encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=(*BENCHMARKS, "page"))
    parser.add_argument("--output", type=Path, help="folder for NAME.csv and README.md")
    parser.add_argument("--write-docs", action="store_true", help="--output docs/benchmarks")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--warn", action="store_true", help="core_calls: compare with docs/")
    parser.add_argument("--only", choices=("cpu", "cuda"), help="teachers: on this device alone")
    parser.add_argument("--model", help="teachers: this one alone")
    options = parser.parse_args(arguments)
    folder = DOCS if options.write_docs else options.output
    if options.name == "page":
        write_page(folder or DOCS)
        return
    benchmark = import_module(f"benchmarks.{options.name}")
    teacher_options = {"only": options.only, "model": options.model}
    teacher_options = {name: value for name, value in teacher_options.items() if value}
    data = benchmark.measure(quick=options.quick, **teacher_options)
    print(benchmark.section(data))
    if options.warn:
        import pandas as pd

        stored = pd.read_csv(DOCS / f"{options.name}.csv")
        for line in benchmark.warnings_of(data, stored):
            print(f"::warning::{line}")  # as GitHub shows warnings; elsewhere a line like others
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        data.to_csv(folder / f"{options.name}.csv", index=False)
        if hasattr(benchmark, "draw"):
            benchmark.draw(data, folder / f"{options.name}.png")
        write_page(folder)


if __name__ == "__main__":
    main()
