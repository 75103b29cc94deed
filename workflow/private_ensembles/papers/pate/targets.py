"""What a run makes of PATE: which tables and figures, and the names of its files."""

from private_ensembles.base.parameter_names import join_parameters
from private_ensembles.papers.pate.section import Pate


def student_tasks(pate: Pate) -> list[str]:
    """Return the tasks that train students."""
    return [task for task in pate.running_tasks() if pate.tasks[task].student]


def figure1_task(pate: Pate) -> str | None:
    """Return the task that Figure 1 shows: the first of its list that is run; None without one."""
    tasks = pate.running_tasks()
    return next((task for task in pate.figure1 or [] if task in tasks), None)


def tables(pate: Pate) -> list[str]:
    """Return the names of the tables that are made."""
    items = ["printed_arithmetic", "small_print"]
    if pate.running_tasks():
        items = ["table1", "table2", *items]
    if pate.figure5:
        items.append("equal_answers")
    return items


def figures(pate: Pate) -> list[str]:
    """Return the names of the figures that are made."""
    items = [name for name in ("figure4", "figure5") if getattr(pate, name)]
    return ["figure1", *items] if figure1_task(pate) else items


def other_files(pate: Pate) -> list[str]:
    """Return the files that say what labels cost, one for every task."""
    return [f"results/pate/privacy/task={task}.csv" for task in pate.running_tasks()]


def claims(pate: Pate, covered: bool) -> dict:
    """Return the parameters that the printed numbers rest on.

    They are returned even if the run does not cover the paper: which data are at hand tells why a
    number was not run.
    """
    return pate.parameters(pate.running_tasks())


# Names of files -----------------------------------------------------------------------------------


def task_vote_file(pate: Pate, task: str) -> str:
    """Return the file of the votes of a task's ensemble on all test images or records."""
    return f"results/votes/{pate.tasks[task].dataset}/{join_parameters(**pate.ensemble(task))}.npz"


def vote_files(pate: Pate) -> dict[str, str]:
    """Return the files of votes of every task, by its name."""
    return {task: task_vote_file(pate, task) for task in pate.running_tasks()}


def synthetic_vote_files(pate: Pate, figure: str) -> list[str]:
    """Return the files of synthetic votes that a figure shows, one for each ensemble."""
    seed = pate.training_seed
    names = (
        join_parameters(kind="synthetic", K=K, seed=seed) for K in pate.figure_teachers(figure)
    )
    return [f"results/votes/glyph/{name}.npz" for name in names]


def student_files(pate: Pate, task: str, suffix: str = "csv") -> list[str]:
    """Return the summaries (or "history.csv": histories) of all students of one task."""
    names = (
        join_parameters(task=task, aggregator=aggregator, seed=seed)
        for aggregator in pate.aggregators(task)
        for seed in pate.seeds(task)
    )
    return [f"results/pate/students/{name}.{suffix}" for name in names]


def figure1_files(pate: Pate, task: str | None) -> dict:
    """Return the files that Figure 1 shows of one task; none without a task."""
    if task is None:
        return {}
    return {
        "votes": task_vote_file(pate, task),
        "labels": f"results/pate/labels/task={task}.npz",
        "histories": student_files(pate, task, "history.csv"),
    }


def baseline_files(pate: Pate, task: str) -> list[str]:
    """Return the summaries of the non-private baselines of one task."""
    names = (join_parameters(task=task, seed=seed) for seed in pate.seeds(task))
    return [f"results/pate/baselines/{name}.csv" for name in names]
