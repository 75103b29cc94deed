"""Names of the files that rules make, from the parameters that they depend on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from private_ensembles.base.numbers import delta_of, instance, parse_instance

if TYPE_CHECKING:  # its models need pydantic, which names of files do not
    from private_ensembles.run.configuration import Configuration

# How `instance` writes the points of a grid, for rules. The prior is two wildcards, because on a
# cluster Snakemake hands wildcards over in a list that a comma would cut.
GAMMA_POINT = "K={K},m={m},epsilon={epsilon},Delta={Delta},delta={delta},prior={prior},{prior_end}"
SIGMA_POINT = "mechanism=gnmax,K={K},epsilon={epsilon},delta={delta}"
SWEEP_POINT = "K={K},epsilon={epsilon},Delta={Delta}"
TEACHERS_COST = "results/darrm/privacy/teachers.csv"


def point(pattern: str) -> Callable[[Mapping], dict]:
    """Return the function that reads a point of a grid from the wildcards of its pattern."""
    return lambda wildcards: parse_instance(pattern.format(**wildcards))


def gamma(settings: Configuration, *, K, m, epsilon, Delta, delta=None, prior=None) -> str:
    """The optimised noise function at one point; delta by default as in DaRRM section 6.1."""
    name = instance(
        K=K,
        m=m,
        epsilon=epsilon,
        Delta=Delta,
        delta=delta_of(m, Delta) if delta is None else delta,
        prior=settings.darrm.prior if prior is None else prior,
    )
    return f"results/darrm/gamma/{name}.json"


def gammas(settings: Configuration, points: Iterable[Mapping]) -> list[str]:
    """The optimised noise functions at several points."""
    return [gamma(settings, **each) for each in points]


def audited_gammas(settings: Configuration) -> dict[str, str]:
    """The optimised noise functions of the ledger, by the name of their budget."""
    names = settings.ledger()["budgets"]
    return dict(zip(names, gammas(settings, settings.gammas()), strict=True))


def sigma(settings: Configuration, dataset: str, m: int) -> str:
    """GNMax's sigma for (m epsilon, m Delta) on one data set, DaRRM appendix D.2.1."""
    cost = settings.darrm.query_cost(dataset, m)
    budget = {"epsilon": cost["epsilon_query"], "delta": cost["delta_query"]}
    name = instance(mechanism="gnmax", K=settings.darrm.K, **budget)
    return f"results/darrm/privacy/{name}.csv"


def sigmas(settings: Configuration, m: int) -> list[str]:
    """GNMax's sigmas at one m on the paper's data sets, of which several may share one."""
    return [sigma(settings, dataset, m) for dataset in settings.darrm.datasets]


def darrm_votes(settings: Configuration, dataset: str) -> dict[str, str]:
    """The votes of private and of plain teachers that DaRRM's labels rest on, by training seed."""
    return {
        f"{each['kind']}_{each['seed']}": f"results/votes/{dataset}/{instance(**each)}.npz"
        for each in settings.darrm.ensembles()
    }


def label_inputs(settings: Configuration, dataset: str, m: int) -> dict[str, str]:
    """What DaRRM's labels on one data set at one m rest on.

    Votes, gamma, sigma, and the proof of what the teachers cost.
    """
    cost = settings.darrm.teacher_cost(dataset)
    return darrm_votes(settings, dataset) | {
        "gamma": gamma(
            settings, K=settings.darrm.K, m=m, epsilon=cost["epsilon"], Delta=cost["Delta"]
        ),
        "sigma": sigma(settings, dataset, m),
        "proof": TEACHERS_COST,
    }


def teachers(slices: list[str], dataset: str, kind: str, K, seed) -> list[str]:
    """The teachers of one ensemble: one file, or one for each slice that a job trains."""
    ensemble = instance(kind=kind, K=int(K), seed=int(seed))
    names = [f"{ensemble},slice={name}" for name in slices] or [ensemble]
    return [f"results/teachers/{dataset}/{name}.pt" for name in names]


def labels(settings: Configuration, m: int) -> list[str]:
    """DaRRM's released labels and their accuracy at one m, of every data set of this run."""
    names = (instance(dataset=dataset, m=m) for dataset in settings.darrm.label_datasets())
    return [f"results/darrm/labels/{name}.csv" for name in names]


def sweeps(settings: Configuration) -> list[str]:
    """Every point of the sweeps: all m of one K, epsilon and Delta in one job."""
    grid = settings.darrm.sweeps
    return [
        f"results/darrm/sweeps/{instance(K=K, epsilon=epsilon, Delta=Delta)}.json"
        for K in grid.K
        for epsilon in grid.epsilon
        for Delta in grid.Delta
    ]


def dataset(name: str) -> str:
    """A data set as it is prepared."""
    return f"results/datasets/{name}.npz"


def pate_votes(settings: Configuration, task: str) -> str:
    """The votes of a task's ensemble on all test images or records."""
    name = instance(**settings.pate.ensemble(task))
    return f"results/votes/{settings.pate.tasks[task].dataset}/{name}.npz"


def synthetic_votes(settings: Configuration, figure: str) -> list[str]:
    """The synthetic votes that one of PATE's figures shows, one file for each ensemble."""
    seed = settings.pate.training_seed
    names = (
        instance(kind="synthetic", K=K, seed=seed) for K in settings.pate.figure_teachers(figure)
    )
    return [f"results/votes/glyph/{name}.npz" for name in names]


def students(settings: Configuration, task: str, suffix: str = "csv") -> list[str]:
    """Summaries (or "history.csv": histories) of all students of one of PATE's tasks."""
    names = (
        instance(task=task, aggregator=aggregator, seed=seed)
        for aggregator in settings.pate.aggregators(task)
        for seed in settings.pate.seeds(task)
    )
    return [f"results/pate/students/{name}.{suffix}" for name in names]


def students_figure(settings: Configuration, task: str | None) -> dict:
    """What PATE's Figure 1 shows of one task; nothing without a task."""
    if task is None:
        return {}
    return {
        "votes": pate_votes(settings, task),
        "labels": f"results/pate/labels/task={task}.npz",
        "histories": students(settings, task, "history.csv"),
    }


def baselines(settings: Configuration, task: str) -> list[str]:
    """Summaries of the non-private baselines of one of PATE's tasks."""
    names = (instance(task=task, seed=seed) for seed in settings.pate.seeds(task))
    return [f"results/pate/baselines/{name}.csv" for name in names]


def nzc_votes(settings: Configuration, task: str) -> dict[int, str]:
    """The votes of each of a task's ensembles, by number of teachers."""
    folder = f"results/votes/{settings.nzc.pate_task(task).dataset}"
    names = {K: instance(**settings.nzc.ensemble(K)) for K in settings.nzc.sizes(task)}
    return {K: f"{folder}/{name}.npz" for K, name in names.items()}


def nzc_label_votes(settings: Configuration, task: str) -> dict[str, str]:
    """The votes of the two ensembles of NZC's Table 1, `many` and `few` teachers."""
    votes = nzc_votes(settings, task)
    few = settings.nzc.tasks[task].few
    return {"many": votes[settings.nzc.pate_task(task).K], "few": votes[few]}


def nzc_students(settings: Configuration, task: str) -> list[str]:
    """Summaries of all students of one of NZC's tasks."""
    names = (instance(task=task, seed=seed) for seed in settings.nzc.seeds(task))
    return [f"results/nzc/students/{name}.csv" for name in names]


def bagged(settings: Configuration, kind: str, model: str, dataset: str, seed) -> list[str]:
    """Counts ("privacy", CSV) or costs ("costs", npz) of one split's labels, for every n shards."""
    suffix = {"privacy": "csv", "costs": "npz"}[kind]
    names = (instance(model=model, n=n, seed=int(seed)) for n in settings.dpbag.grid(model)["n"])
    return [f"results/dpbag/{kind}/{dataset}/{name}.{suffix}" for name in names]


def bagged_votes(settings: Configuration, model: str, dataset: str, n, seed) -> list[str]:
    """The votes of all partitions of one split into n shards, in the order of the partitions."""
    point = {"model": model, "n": int(n), "seed": int(seed)}
    firsts = settings.dpbag.first_partitions(model)
    return [
        f"results/dpbag/votes/{dataset}/{instance(**point, first=first)}.npz" for first in firsts
    ]


def bagged_students(settings: Configuration, model: str) -> list[str]:
    """What the students of every split of one model achieve."""
    names = (instance(model=model, seed=seed) for seed in settings.dpbag.grid(model)["seeds"])
    return [f"results/dpbag/students/{settings.dpbag.used.dataset}/{name}.csv" for name in names]


def stated(settings: Configuration) -> list[str]:
    """The files that say what classes of own votes are called, and which queries are answered."""
    named = settings.own.reading.class_names, settings.own.wanted.answer
    return [text for text in named if text and os.path.isfile(text)]


def own_votes(settings: Configuration) -> dict[str, str]:
    """What is made of somebody's own votes, by what it is: a release, which may be shown.

    With noise from a seed it is a rehearsal, which every name says. `private` is never shown.
    """
    folder, mark = ("release", "") if settings.noise == "secure" else ("rehearsal", "rehearsal_")
    names = {
        "page": "index.html",
        "table": "mechanisms.csv",
        "curves": "curves.csv",
        "labels": "labels.csv",
        "png": "mechanisms.png",
        "pdf": "mechanisms.pdf",
    }
    shown = {what: f"results/own/{folder}/{mark}{name}" for what, name in names.items()}
    return shown | {"private": f"results/own/private/{mark}votes.csv"}


def session_batch(settings: Configuration) -> dict[str, str]:
    """What is made of one batch of a session: its labels, and what the session has spent."""
    folder = f"results/own/session/{settings.own.session.batch or 'none'}"
    return {"labels": f"{folder}/labels.csv", "status": f"{folder}/session.json"}


def docs(results: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Where publish_docs copies results to: results/pate/tables/x.csv to docs/pate/x.csv."""
    copies: dict[str, list[str]] = {kind: [] for kind in results}
    for kind, paths in results.items():
        for path in paths:
            _, *folders, name = path.split("/")
            copies[kind].append("/".join(["docs", *folders[:1], name]))
    return copies
