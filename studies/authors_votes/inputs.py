"""The authors' votes that are at hand, and what accounting for them depends on."""

from collections.abc import Sequence
from pathlib import Path

from private_ensembles.run.configuration import Configuration
from private_ensembles.training.data.download import KnownFile
from private_ensembles.training.data_section import ADDRESS
from studies.configuration import AuthorsVotes


def find_vote_files(settings: Configuration, study: AuthorsVotes | None) -> dict[str, dict]:
    """Return the files that are at hand, by task; none unless the run is on the papers' data.

    Each is what `accounting.read_authors_votes` takes of a file.
    """
    if study is None or settings.data != "paper":
        return {}
    folder, found = Path(study.folder), {}
    for task in settings.pate.enabled_tasks():
        counts, labels = study.files.get(task), study.labels.get(task)
        if counts is not None and (folder / counts).is_file():
            found[task] = {"path": str(folder / counts), "kind": "counts"}
        elif labels is not None and _is_at_hand(settings.data_mirror, folder, labels.file):
            file = {"path": str(folder / labels.file), "kind": "votes"}
            found[task] = file | {"git_blob": labels.git_blob}
    return found


def _is_at_hand(mirror: str | None, folder: Path, file: str) -> bool:
    """Tell whether a download is there, or in a mirror that is a folder."""
    in_mirror = mirror and not ADDRESS.match(mirror) and Path(mirror, folder.name, file).is_file()
    return (folder / file).is_file() or bool(in_mirror)


def describe_downloads(study: AuthorsVotes) -> dict[str, dict]:
    """Return git_blob and urls of what can be downloaded, by path."""
    return {
        f"{study.folder}/{labels.file}": labels.pick("git_blob", "urls")
        for labels in study.labels.values()
    }


def known_file(path: str, git_blob: str, urls: Sequence[str]) -> KnownFile:
    """Return what is known of a download; in a mirror its folder has the same name."""
    return KnownFile(Path(path).parent.name, Path(path).name, git_blob=git_blob, urls=urls)


def accounting_settings(settings: Configuration, task: str) -> dict:
    """Return what the accounting for a task's votes depends on."""
    pate_task = settings.pate.tasks[task]
    return {
        **pate_task.pick("K", "delta", "confident", "printed"),
        **settings.pate.pick("orders"),
        "n_classes": settings.classes(pate_task.dataset),
    }
