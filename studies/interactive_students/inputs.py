"""The settings of PATE that students between two rounds need."""

from collections.abc import Mapping

from private_ensembles.papers.pate.targets import task_vote_file
from private_ensembles.run import file_names
from private_ensembles.run.configuration import Configuration
from studies.configuration import InteractiveStudents


def task_settings(
    settings: Configuration, study: Mapping[str, InteractiveStudents] | None
) -> dict[str, dict]:
    """Return, by task that is run and has students, what its two rounds depend on."""
    pate, settings_by_task = settings.pate, {}
    for name, task_study in (study or {}).items():
        if name not in pate.running_tasks() or not pate.tasks[name].student:
            continue
        study_settings, student = task_study.to_dict(), pate.student(name)
        student["parameters"] |= study_settings.pop("student_parameters")
        settings_by_task[name] = {
            **pate.tasks[name].pick("pool", "delta", "confident"),
            "answer_cap": pate.answer_cap,
            **pate.pick("orders"),
            **study_settings,
            "student": student,
        }
    return settings_by_task


def input_files(settings: Configuration, task: str) -> dict[str, str]:
    """Return the files that the students of a task read, by name."""
    return {
        "dataset": file_names.dataset(settings.pate.tasks[task].dataset),
        "votes": task_vote_file(settings.pate, task),
        "labels": f"results/pate/labels/task={task}.npz",
    }
