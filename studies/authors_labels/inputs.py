"""Which tasks of PATE have labels that the authors released, and who learns from them."""

from collections.abc import Mapping

from private_ensembles.base.numbers import instance
from private_ensembles.run.configuration import Configuration


def at_hand(settings: Configuration, asked: Mapping[str, str] | None) -> dict[str, str]:
    """Return, by task that is run, the data set of its authors' labels, if that is at hand.

    Labels of other queries than the pool's, or of other classes, are left out.
    """
    datasets, found = settings.datasets, {}
    for task, name in (asked or {}).items():
        if task not in settings.pate.running() or not settings.available(name):
            continue
        chosen = settings.pate.tasks[task]
        same_classes = datasets[name].n_classes == datasets[chosen.dataset].n_classes
        if chosen.student and same_classes and datasets[name].n_test <= chosen.pool:
            found[task] = name
    return found


def students(settings: Configuration, task: str) -> list[str]:
    """Return the summaries of a task's students of these labels, one for each seed."""
    names = (instance(task=task, seed=seed) for seed in settings.pate.seeds(task))
    return [f"results/studies/authors_labels/{name}.csv" for name in names]
