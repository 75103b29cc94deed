"""What adversaries attack, from the settings of PATE and DaRRM, and the files that they read."""

from private_ensembles.base.numbers import delta_of, instance
from private_ensembles.papers.darrm.targets import gamma
from private_ensembles.papers.pate.targets import task_votes
from private_ensembles.run import names_of_files
from private_ensembles.run.configuration import Configuration
from studies.configuration import Adversaries


def attacked(settings: Configuration, asked: Adversaries | None) -> dict:
    """Return what the adversaries depend on; empty if nothing is attacked.

    They need an ensemble of PATE's and one of DaRRM's, so the run must cover both papers.
    """
    if asked is None or asked.data not in ("any", settings.data):
        return {}
    if not {"pate", "darrm"} <= set(settings.papers):
        return {}
    tasks = [name for name in asked.tasks if name in settings.pate.running()]
    if not tasks:
        return {}
    task, darrm = settings.pate.tasks[tasks[0]], settings.darrm
    private = darrm.label_datasets()[0]
    cost = darrm.dataset_settings(private)
    return {
        "plain": {
            "name": tasks[0],
            **task.pick("K", "delta", "confident"),
            "training": task.teachers.plain(),
            "training_seed": settings.pate.training_seed,
        },
        "private": {
            "name": private,
            "K": darrm.K,
            "m": asked.m,
            "epsilon": cost["epsilon"],
            "Delta": cost["Delta"],
            "delta_gamma": delta_of(asked.m, cost["Delta"]),
            "training": darrm.training(private, "private"),
            "training_seed": darrm.training_seeds[0],
        },
        "settings": asked.pick("queries", "records", "retrainings", "draws", "confidence"),
    }


def read(settings: Configuration, told: dict) -> dict[str, str]:
    """Return two data sets, two ensembles' votes and a noise function, by name.

    told: of `attacked`.
    """
    task, private = told["plain"]["name"], told["private"]
    name = instance(kind="private", K=private["K"], seed=private["training_seed"])
    point = {key: private[key] for key in ("K", "m", "epsilon", "Delta")}
    return {
        "plain_dataset": names_of_files.dataset(settings.pate.tasks[task].dataset),
        "plain_votes": task_votes(settings.pate, task),
        "private_dataset": names_of_files.dataset(private["name"]),
        "private_votes": f"results/votes/{private['name']}/{name}.npz",
        "gamma": gamma(settings.darrm, **point),
    }
