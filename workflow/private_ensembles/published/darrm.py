"""DaRRM's printed numbers: with which parameters each of them is claimed."""

from collections.abc import Iterable, Mapping

from private_ensembles.published.comparison import ACCURACY_ITEMS, PRIVACY_ITEMS
from private_ensembles.published.parameters import differences

Key = tuple[str, ...]
PAPER = "darrm"
# Section 6.2 and appendix D; batch size and learning rate, which the paper does not print, as in
# DESIGN, section 7. Numbers of draws and of trainings are not here: they make ours more precise.
_TRAINING = {"model": "darrm_cnn", "batch_size": 32, "epochs": 5, "learning_rate": 0.03}
_COSTS = {
    "mnist": {"epsilon": 0.0892, "Delta": 1e-4, "n_train": 11272},
    "fashion-mnist": {"epsilon": 0.0852, "Delta": 1e-4, "n_train": 12000},
}
PARAMETERS: dict[str, object] = {
    "K": 11,
    "prior": "uniform:0.5,1",
    "delta_prime": 1e-4,
    "sigma_search": {"order_max": 500, "order_step": 0.5},
    "tables": {
        "table1": 3, "table6": 1, "table8": 5, "table10": 7,
        "table2": 3, "table5": 1, "table7": 5, "table9": 7,
        "table4": 3,
    },
    "figure6": {"K": 35, "epsilon": 0.1, "Delta": 1e-5, "delta_prime": 0.1},
    "datasets": {
        name: cost
        | {
            "classes": [5, 8],
            "private_teachers": _TRAINING | {"noise_multiplier": 12, "max_grad_norm": 1},
            "plain_teachers": _TRAINING | {"momentum": 0},
        }
        for name, cost in _COSTS.items()
    },
}  # fmt: skip


def notes(numbers: Iterable[Key], settings: Mapping) -> dict[Key, str]:
    """Say of every number of DaRRM that rests on other parameters than its paper's, on which.

    numbers: keys (`published.KEY`) of what was computed; other papers' are passed over. settings:
    the run's, as `config.darrm_claims` gives them; a key that is not there is not compared.
    """
    found = {
        key: differences(settings, PARAMETERS, _rests_on(key)) for key in numbers if key[0] == PAPER
    }
    return {key: note for key, note in found.items() if note}


def _rests_on(key: Key) -> Iterable[str]:
    """The parameters, or groups of them, that a printed number is computed from."""
    _, item, dataset, row, column = key
    data = f"datasets.{dataset}"
    cost = f"{data}.epsilon", f"{data}.Delta"
    if item in ACCURACY_ITEMS:
        yield from ("K", f"tables.{item}", data)
        # GNMax's labels have no gamma.
        yield from () if column == "gnmax" else ("prior",)
    elif item in PRIVACY_ITEMS:
        yield from (f"tables.{item}", *cost)
        yield from () if row == "per query" else ("delta_prime",)
    elif item == "table4":
        yield from (f"tables.{item}", *cost)
        yield from () if column in ("epsilon", "delta") else ("sigma_search",)
    elif item == "table3":
        yield "figure6"
    elif row == "data":
        yield f"{data}.classes"
    else:  # one private teacher's cost: its shard's size and its training
        yield from ("K", f"{data}.Delta", f"{data}.n_train", f"{data}.classes")
        names = ("noise_multiplier", "batch_size", "epochs")
        yield from (f"{data}.private_teachers.{name}" for name in names)
