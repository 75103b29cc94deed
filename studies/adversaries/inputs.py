"""What adversaries attack, from the settings of PATE and DaRRM, and the files that they read."""

from private_ensembles.base.parameter_names import join_parameters, m_fold_delta
from private_ensembles.papers.darrm.targets import gamma_file
from private_ensembles.papers.pate.targets import task_vote_file
from private_ensembles.run import file_names
from private_ensembles.run.configuration import Configuration
from studies.configuration import Adversaries


def attack_settings(settings: Configuration, study: Adversaries | None) -> dict:
    """Return what the adversaries depend on; empty if nothing is attacked.

    They need an ensemble of PATE's and one of DaRRM's, so the run must cover both papers.
    """
    if study is None or study.data not in ("any", settings.data):
        return {}
    if not {"pate", "darrm"} <= set(settings.papers):
        return {}
    tasks = [name for name in study.tasks if name in settings.pate.running_tasks()]
    if not tasks:
        return {}
    task, darrm = settings.pate.tasks[tasks[0]], settings.darrm
    private = darrm.label_datasets()[0]
    cost = darrm.dataset_settings(private)
    return {
        "plain": {
            "name": tasks[0],
            **task.pick("K", "delta", "confident"),
            "training": task.teachers.to_dict(),
            "training_seed": settings.pate.training_seed,
        },
        "private": {
            "name": private,
            "K": darrm.K,
            "m": study.m,
            "epsilon": cost["epsilon"],
            "Delta": cost["Delta"],
            "delta_gamma": m_fold_delta(study.m, cost["Delta"]),
            "training": darrm.training(private, "private"),
            "training_seed": darrm.training_seeds[0],
        },
        "settings": study.pick("queries", "records", "retrainings", "draws", "confidence"),
    }


def input_files(settings: Configuration, attack: dict) -> dict[str, str]:
    """Return two data sets, two ensembles' votes and a noise function, by name.

    attack: of `attack_settings`.
    """
    task, private = attack["plain"]["name"], attack["private"]
    name = join_parameters(kind="private", K=private["K"], seed=private["training_seed"])
    point = {key: private[key] for key in ("K", "m", "epsilon", "Delta")}
    return {
        "plain_dataset": file_names.dataset(settings.pate.tasks[task].dataset),
        "plain_votes": task_vote_file(settings.pate, task),
        "private_dataset": file_names.dataset(private["name"]),
        "private_votes": f"results/votes/{private['name']}/{name}.npz",
        "gamma": gamma_file(settings.darrm, **point),
    }
