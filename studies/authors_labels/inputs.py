"""The tasks of PATE that have labels that the authors released, and who learns from them."""

from collections.abc import Mapping

from private_ensembles.base.parameter_names import join_parameters
from private_ensembles.run.configuration import Configuration


def find_datasets(settings: Configuration, study: Mapping[str, str] | None) -> dict[str, str]:
    """Return, by task that is run, the data set of its authors' labels, if that is at hand.

    Labels of other queries than the pool's, or of other classes, are left out.
    """
    datasets, labels_by_task = settings.datasets, {}
    for task, name in (study or {}).items():
        if task not in settings.pate.running_tasks() or not settings.is_available(name):
            continue
        pate_task = settings.pate.tasks[task]
        same_classes = datasets[name].n_classes == datasets[pate_task.dataset].n_classes
        if pate_task.student and same_classes and datasets[name].n_test <= pate_task.pool:
            labels_by_task[task] = name
    return labels_by_task


def student_files(settings: Configuration, task: str) -> list[str]:
    """Return the summaries of a task's students of these labels, one for each seed."""
    names = (join_parameters(task=task, seed=seed) for seed in settings.pate.seeds(task))
    return [f"results/studies/authors_labels/{name}.csv" for name in names]
