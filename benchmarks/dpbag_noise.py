"""DPBag's students with less noise on their labels than their budget asks for: a lead, no release.

Takes the votes and label counts of a run on UCI Adult (``results/dpbag`` where you stand), draws
the same labels with noise that is a factor smaller, and trains the same students. What comes out is
held against the printed numbers. `PENALISED` are teachers as scikit-learn's default of 2019 trained
them, for the most shards alone, which are trained here. Such labels keep no budget: they tell what
the printed students look like, not how one may be trained.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import machine
from private_ensembles.configuration.naming import instance, parameters_of
from private_ensembles.datasets.tabular import read_records
from private_ensembles.papers.dpbag.experiment import account, queries_needed, split_thirds
from private_ensembles.papers.dpbag.intercept import cast_votes
from private_ensembles.papers.dpbag.students import run
from private_ensembles.papers.dpbag.tables import METRICS, error_of_difference
from private_ensembles.published.declarations import paper
from private_ensembles.published.printed import FOLDER, read_published
from private_ensembles.published.relations.dpbag import printed_numbers
from private_ensembles.published.relations.evidence import Evidence

RESULTS = Path("results")
PENALISED = "logistic_with_a_penalised_intercept"
TABLES = {"logistic": "table5", PENALISED: "table5", "boosted_trees": "table7"}
FACTORS = (1.0, 0.9, 0.75, 0.6, 0.45, 0.3)
DRAWS = 2
ALL = "all"
PLACE = ["method", "n", "k", "epsilon"]
# As in config.yaml.
SEED, SCALING, NOISE, DELTA = 0, "data", 2, 1e-3
BUDGET = {"epsilon": [1, 3, 5], "delta": DELTA, "delta_of_counts": DELTA, "order_max": 80}
BUDGET["noise"] = NOISE
SHARDS, SIZES, SPLITS = 250, [10, 50, 100], range(5)
TRAINING = {
    "logistic": {"C": 1, "tolerance": 1e-6},
    "boosted_trees": {"rounds": 100, "learning_rate": 0.1, "leaves": 31, "records_per_leaf": 20},
}


def measure(*, quick: bool = False, full: bool = False, model: str | None = None) -> pd.DataFrame:
    """Return the comparison of every model, factor, method and metric (`against_print`).

    quick: two factors and one draw. model: this one alone. Raises ValueError if no run is there.
    """
    factors, draws = ((1.0, 0.45), 1) if quick else (FACTORS, DRAWS)
    rows = []
    for name in TABLES if model is None else [model]:
        accounts = penalised_accounts() if name == PENALISED else accounts_of(name)
        printed = printed_students(name)
        for factor in factors:
            students = students_with(factor, name, accounts, draws)
            table = against_print(students, printed)
            rows.append(table.assign(model=name, factor=factor, splits=len(accounts)))
    data = pd.concat(rows, ignore_index=True)
    machine.attach(data, machine.describe("numpy", "scipy", "scikit-learn", "lightgbm"))
    return data


def accounts_of(model: str) -> dict[int, dict[int, tuple[list[dict], Mapping]]]:
    """Return split -> n -> label counts at `DELTA` and votes, as `run` takes them.

    Splits that lack some number of shards are left out. Raises ValueError for fewer than two.
    """
    accounts: dict[int, dict[int, tuple[list[dict], Mapping]]] = {}
    for path in sorted((RESULTS / "dpbag" / "privacy" / "adult").glob(f"model={model},*.csv")):
        point = parameters_of(path)
        counts = pd.read_csv(path)
        counts = counts[counts["delta"] == DELTA].to_dict("records")
        votes = RESULTS / "dpbag" / "costs" / "adult" / f"{instance(**point)}.npz"
        with np.load(votes, allow_pickle=False) as file:
            arrays = {name: file[name] for name in ("k", "ones")}
        accounts.setdefault(point["seed"], {})[point["n"]] = counts, arrays
    shards = {n for of_split in accounts.values() for n in of_split}
    whole = {split: of_n for split, of_n in accounts.items() if set(of_n) == shards}
    if len(whole) < 2:
        raise ValueError(f"{RESULTS}: must hold at least two splits of {model} in results/dpbag")
    return whole


def penalised_accounts() -> dict[int, dict[int, tuple[list[dict], Mapping]]]:
    """Return what `accounts_of` does of teachers whose intercept is penalised, n = `SHARDS`.

    The shards are those of the run. The label counts are by the stated accounting.
    """
    records = read_records(RESULTS / "datasets" / "adult.npz")
    accounts = {}
    for split in SPLITS:
        thirds = split_thirds(records, SCALING, SEED, split)
        votes = cast_votes(
            thirds,
            n=SHARDS,
            partitions=range(max(SIZES)),
            n_queries=queries_needed(BUDGET, SHARDS, len(thirds.queries[1])),
            C=TRAINING["logistic"]["C"],
            seed=SEED,
            path=("dpbag", records.name, split),
        )
        counts, arrays = account(votes, BUDGET, SIZES)
        accounts[split] = {SHARDS: (counts, arrays)}
    return accounts


def students_with(factor: float, model: str, accounts: Mapping, draws: int) -> pd.DataFrame:
    """Train students on labels whose noise is `factor` times that of their budget.

    The noise is the same draw for every factor, only smaller.
    """
    records = read_records(RESULTS / "datasets" / "adult.npz")
    tables, student = [], "logistic" if model == PENALISED else model
    for split, of_split in accounts.items():
        thirds = split_thirds(records, SCALING, SEED, split)
        settings = {"noise": NOISE / factor, "draws": draws}
        path = ("dpbag", records.name, split, student)
        rows = run(thirds, student, TRAINING[student], settings, of_split, SEED, path)
        tables.append(pd.DataFrame(rows).assign(seed=split))
    return pd.concat(tables, ignore_index=True)


def printed_students(model: str) -> dict[str, pd.Series]:
    """Return, by metric, the printed numbers of private students by method, n, k and epsilon."""
    published = read_published([FOLDER / f"dpbag_{TABLES[model]}.csv"])
    numbers, _ = printed_numbers(Evidence(paper("dpbag"), published, {}, {}), TABLES[model])
    private = {
        metric: values[values.index.get_level_values("method") != "npb"]
        for metric, values in numbers.items()
    }
    if model != PENALISED:
        return private
    return {
        metric: values[values.index.get_level_values("n") == SHARDS]
        for metric, values in private.items()
    }


def against_print(students: pd.DataFrame, printed: Mapping[str, pd.Series]) -> pd.DataFrame:
    """Return a row for each method, scope and metric: means, how far apart, and chi-square.

    scope: ``all`` rows of the method in the table, or those of one n and epsilon. difference: ours
    less print, averaged over the rows; errors: the same in standard errors of that mean
    (`error_of_difference`). chi_square: the sum over rows of the squared difference, in standard
    errors of a row; numbers: how many rows there are. That error is the root of the mean square of
    those of all rows of the metric and epsilon: one row's own is estimated from few splits. Rows
    share their splits, so the sum has no chi-square distribution.
    """
    rows = []
    for metric in METRICS:
        wide = students.pivot(index=["seed", "draw"], columns=PLACE, values=metric)
        gaps = wide[list(printed[metric].index)].mean() - printed[metric]
        variances = wide[gaps.index].apply(lambda row: _error(row) ** 2)
        units = variances.groupby("epsilon").transform("mean")
        for (method, scope), places in _scopes(gaps.index).items():
            pooled = wide[places].mean(axis=1)
            difference = float(gaps[places].mean())
            rows.append(
                {
                    "method": method,
                    "scope": scope,
                    "metric": metric,
                    "ours": float(pooled.mean()),
                    "printed": float(printed[metric][places].mean()),
                    "difference": difference,
                    "errors": difference / _error(pooled),
                    "chi_square": float((gaps[places] ** 2 / units[places]).sum()),
                    "numbers": len(places),
                }
            )
    return pd.DataFrame(rows)


def _scopes(places: pd.MultiIndex) -> dict[tuple[str, str], list[tuple]]:
    """Return the places by method and scope, all of a method first."""
    scopes: dict[tuple[str, str], list[tuple]] = {}
    for place in places:
        scopes.setdefault((place[0], ALL), []).append(place)
    for method, n, k, epsilon in places:
        scope = f"n = {n}, ε = {epsilon:g}"
        scopes.setdefault((method, scope), []).append((method, n, k, epsilon))
    return scopes


def _error(values: pd.Series) -> float:
    return error_of_difference(values.groupby("seed")).size


def page(data: pd.DataFrame) -> str:
    """Return the results as a page in Markdown."""
    facts = machine.attached(data)
    lines = [
        "# Benchmark: DPBag's students with less noise on their labels",
        "",
        "Made by `python benchmarks/run.py dpbag_noise --write-docs` in the folder of a run of "
        "`config/published.yaml`; numbers behind it: [dpbag_noise.csv](dpbag_noise.csv). Labels "
        "with less noise keep no budget. This shows what the printed students look like, and is "
        "no cause ([dpbag.md](../dpbag.md), finding 4).",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
    ]
    whole = data[data["scope"] == ALL]
    for (model, method), rows in whole.groupby(["model", "method"], sort=False):
        numbers, splits = (rows[name].iloc[0] for name in ("numbers", "splits"))
        lines += [
            "",
            f"## {_words(model)}, {_words(method)}: {numbers} rows, {splits} splits",
            "",
            "Ours less print, averaged over the rows, in points (standard errors of that mean), "
            "and χ² of the rows.",
            "",
            "| noise | accuracy | AUROC | AUPRC | χ² of all three |",
            "| ---: | ---: | ---: | ---: | ---: |",
        ]
        lines += [
            f"| {factor:g} | {_three(mine)} | {mine['chi_square'].sum():.0f} of {3 * numbers} |"
            for factor, mine in rows.groupby("factor", sort=False)
        ]
    for (model, method), rows in data[data["scope"] != ALL].groupby(
        ["model", "method"], sort=False
    ):
        lines += [
            "",
            f"## {_words(model)}, {_words(method)}: which noise is nearest to print",
            "",
            "Of the factors above the one with the least χ², and how far ours are from print with "
            "it.",
            "",
            "| rows | noise | accuracy | AUROC | AUPRC | χ² | χ² without the factor |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
        for scope, mine in rows.groupby("scope", sort=False):
            squares = mine.groupby("factor", sort=False)["chi_square"].sum()
            best = squares.idxmin()
            lines.append(
                f"| {scope} | {best:g} | {_three(mine[mine['factor'] == best])} | "
                f"{squares[best]:.0f} of {3 * mine['numbers'].iloc[0]} | {squares.iloc[0]:.0f} |"
            )
    return "\n".join([*lines, ""])


def _words(name: str) -> str:
    return name.replace("_", " ")


def _three(rows: pd.DataFrame) -> str:
    """Return the differences of the three metrics as cells, in points, with their errors."""
    return " | ".join(
        f"{100 * row['difference']:+.2f} ({row['errors']:+.1f})"
        for row in rows.set_index("metric").loc[list(METRICS)].to_dict("records")
    )
