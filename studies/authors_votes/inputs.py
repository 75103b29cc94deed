"""The authors' votes that are at hand, and what accounting for them depends on."""

from pathlib import Path

from private_ensembles.run.configuration import Configuration
from studies.configuration import AuthorsVotes


def find_vote_files(settings: Configuration, study: AuthorsVotes | None) -> dict[str, str]:
    """Return, by task, the files that are there; none unless the run is on the papers' data."""
    if study is None or settings.data != "paper":
        return {}
    paths = {task: Path(study.folder) / file for task, file in study.files.items()}
    tasks = settings.pate.enabled_tasks()
    return {task: str(path) for task, path in paths.items() if task in tasks and path.is_file()}


def accounting_settings(settings: Configuration, task: str) -> dict:
    """Return what the accounting for a task's votes depends on."""
    pate_task = settings.pate.tasks[task]
    return {
        **pate_task.pick("K", "delta", "confident", "printed"),
        **settings.pate.pick("orders"),
        "n_classes": settings.classes(pate_task.dataset),
    }
