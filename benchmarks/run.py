"""Run a benchmark and show, or write, its results.

python benchmarks/run.py gamma                        show the tables
python benchmarks/run.py gamma --write-docs           and write docs/benchmarks/gamma.{md,csv}
python benchmarks/run.py gamma --output FOLDER        or write them elsewhere
python benchmarks/run.py gamma --quick                in seconds, small sizes only
python benchmarks/run.py gamma_points --against COMMIT    old code and new in turns, in one run
python benchmarks/run.py teachers ...                 likewise: see BENCHMARKS below
"""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow")]

BENCHMARKS = (
    "gamma",
    "gamma_points",
    "smooth_sensitivity",
    "accounting",
    "many_labels",
    "best_label",
    "dpbag",
    "dpbag_noise",
    "teachers",
    "teacher_epochs",
    "students",
    "trainings",
    "embedded",
    "auditors",
    "libraries",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=BENCHMARKS)
    parser.add_argument("--output", type=Path, help="folder for NAME.md and NAME.csv")
    parser.add_argument("--write-docs", action="store_true", help="--output docs/benchmarks")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--full", action="store_true", help="everything with every solver")
    parser.add_argument("--against", metavar="COMMIT", help="gamma_points, trainings, embedded")
    parser.add_argument("--minutes", type=float, help="gamma_points: begin no point after so many")
    parser.add_argument(
        "--resume", action="store_true", help="gamma_points: keep what earlier runs measured"
    )
    parser.add_argument("--only", choices=("cpu", "cuda"), help="teachers: on this device alone")
    parser.add_argument("--model", help="teachers, dpbag_noise: this one alone")
    options = parser.parse_args()
    benchmark = import_module(f"benchmarks.{options.name}")
    some = {
        name: getattr(options, name) for name in ("against", "minutes", "resume", "only", "model")
    }
    some = {name: value for name, value in some.items() if value}
    data = benchmark.measure(quick=options.quick, full=options.full, **some)
    page = benchmark.page(data)
    print(page)
    folder = ROOT / "docs" / "benchmarks" if options.write_docs else options.output
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        data.to_csv(folder / f"{options.name}.csv", index=False)
        (folder / f"{options.name}.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
