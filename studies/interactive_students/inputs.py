"""What students between two rounds take from PATE's settings."""

from collections.abc import Mapping

from private_ensembles.papers.pate.targets import task_votes
from private_ensembles.run import names_of_files
from private_ensembles.run.configuration import Configuration
from studies.configuration import InteractiveStudents


def tasks(
    settings: Configuration, asked: Mapping[str, InteractiveStudents] | None
) -> dict[str, dict]:
    """Return, by task that is run and has students, what its two rounds depend on."""
    pate, found = settings.pate, {}
    for name, chosen in (asked or {}).items():
        if name not in pate.running() or not pate.tasks[name].student:
            continue
        own, student = chosen.plain(), pate.student(name)
        student["parameters"] |= own.pop("student_parameters")
        found[name] = {
            **pate.tasks[name].pick("pool", "delta", "confident"),
            "answer_cap": pate.answer_cap,
            **pate.pick("orders"),
            **own,
            "student": student,
        }
    return found


def read(settings: Configuration, task: str) -> dict[str, str]:
    """Return the files that the students of a task read, by name."""
    return {
        "dataset": names_of_files.dataset(settings.pate.tasks[task].dataset),
        "votes": task_votes(settings.pate, task),
        "labels": f"results/pate/labels/task={task}.npz",
    }
