"""What docs/ holds of a run on the papers' data, as the comparison with print takes it."""

import pandas as pd
import yaml

from private_ensembles.papers.compare.comparison import compare, compare_relations
from private_ensembles.papers.compare.printed import FOLDER, read_published
from private_ensembles.run.check import check


def settings_in_docs(root):
    """The settings of the run, by paper."""
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    checked = check(config)
    config["data"] = "paper"
    return {
        "darrm": checked.darrm.claims(),
        "pate": checked.pate.parameters(["mnist", "adult", "glyph"]),
        "dpbag": checked.dpbag.claims(),
        "nzc": checked.nzc.printed_sizes(["mnist"]),
    }


def tables_in_docs(root):
    """The tables, by paper and name; what is counted in files is in no table of docs/."""
    run = settings_in_docs(root)
    tables = {
        name: {path.stem: pd.read_csv(path) for path in (root / "docs" / name).glob("*.csv")}
        for name in run
    }
    tables["darrm"]["sizes"] = pd.DataFrame(
        {"dataset": ["mnist", "fashion-mnist"], "n_train": [11272, 12000], "n_test": [1866, 2000]}
    )
    adult = {"dataset": "adult", "features": 108, "samples": 48842, "ones": 11687}
    adult["ones_share"] = 11687 / 48842
    tables["dpbag"]["sizes"] = pd.DataFrame([adult])
    tables["nzc"]["sizes"] = pd.DataFrame([{"dataset": "mnist"} | run["nzc"]["mnist"]])
    return tables


def comparison_in_docs(root):
    """What ``docs/fidelity.csv`` has to be, from the tables beside it."""
    arguments = read_published(FOLDER.glob("*.csv")), tables_in_docs(root), settings_in_docs(root)
    parts = [one(*arguments, data="paper") for one in (compare, compare_relations)]
    return pd.concat(parts, ignore_index=True)
