"""What a run makes of NZC: which tables and figures, and the names of its files."""

from private_ensembles.base.parameter_names import join_parameters
from private_ensembles.papers.nzc.section import Nzc


def tables(nzc: Nzc) -> list[str]:
    """Return the names of the tables that are made."""
    return ["table1", "table2", "figure2", "leads"] if nzc.running_tasks() else ["leads"]


def figures(nzc: Nzc) -> list[str]:
    """Return the names of the figures that are made."""
    return ["figure2"] if nzc.running_tasks() else []


def sizes(nzc: Nzc) -> list[dict]:
    """Return the sizes that section 5.1 prints, a row for each task."""
    return [
        {"dataset": task, **row} for task, row in nzc.printed_sizes(nzc.running_tasks()).items()
    ]


def claims(nzc: Nzc, covered: bool) -> dict:
    """Return the parameters that the printed numbers rest on; none if the paper is not covered."""
    return nzc.printed_sizes(nzc.running_tasks()) if covered else {}


# Names of files -----------------------------------------------------------------------------------


def task_vote_files(nzc: Nzc, task: str) -> dict[int, str]:
    """Return the files of votes of a task's ensembles, by number of teachers."""
    folder = f"results/votes/{nzc.pate_task(task).dataset}"
    names = {K: join_parameters(**nzc.ensemble(K)) for K in nzc.sizes(task)}
    return {K: f"{folder}/{name}.npz" for K, name in names.items()}


def vote_files(nzc: Nzc) -> dict[str, dict[int, str]]:
    """Return the files of votes of every ensemble, by task and number of teachers."""
    return {task: task_vote_files(nzc, task) for task in nzc.running_tasks()}


def label_vote_files(nzc: Nzc, task: str) -> dict[str, str]:
    """Return the files of votes of the two ensembles of Table 1, `many` and `few` teachers."""
    by_size = task_vote_files(nzc, task)
    return {"many": by_size[nzc.pate_task(task).K], "few": by_size[nzc.tasks[task].few]}


def student_files(nzc: Nzc, task: str) -> list[str]:
    """Return the files with the summaries of all students of one task."""
    names = (join_parameters(task=task, seed=seed) for seed in nzc.seeds(task))
    return [f"results/nzc/students/{name}.csv" for name in names]
