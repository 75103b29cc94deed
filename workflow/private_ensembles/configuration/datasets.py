"""The configuration's data sets: what no single key can show, and the slices that rules need."""

import re
from collections.abc import Iterator
from pathlib import Path

# The roles of the files that each format needs; those without files ship with scikit-learn.
ROLES = {
    "idx": ("train_images", "train_labels", "test_images", "test_labels"),
    "idx_pool": ("images", "labels"),
    "mat": ("train", "test"),
    "adult": ("train", "test"),
    "breast_cancer": (),
    "digits": (),
    "digits_parity": (),
}
# Numbers of classes of the formats that do not choose among classes.
CLASSES = {"mat": 10, "adult": 2, "breast_cancer": 2, "digits": 10, "digits_parity": 2}
TABLES = ("adult", "breast_cancer")


def mistakes(datasets: dict) -> Iterator[tuple]:
    """Yield (path, value, allowed) for what the schema lets pass and must not be."""
    for name, settings in datasets.items():
        path, form = f"datasets.{name}", settings["format"]
        if form in CLASSES and "classes" in settings:
            yield f"{path}.classes", settings["classes"], f"left out where format is {form}"
        if form not in CLASSES and "classes" not in settings:
            yield f"{path}.classes", None, f"at least two class numbers, since format is {form}"
        if "files_of" in settings:
            if "files" in settings:
                yield f"{path}.files", list(settings["files"]), "left out beside files_of"
            owners = [other for other in datasets if "files" in datasets[other]]
            if settings["files_of"] not in owners:
                allowed = f"one of the data sets that have files: {', '.join(owners)}"
                yield f"{path}.files_of", settings["files_of"], allowed
        roles = sorted(file["role"] for file in _files(datasets, name).values())
        if roles != sorted(ROLES[form]):
            wanted = ", ".join(ROLES[form])
            allowed = f"one file for each role {wanted}" if wanted else "left out"
            yield f"{path}.files", roles, f"{allowed}, since format is {form}"


def has_two_classes_of_images(settings: dict) -> bool:
    """Tell whether DaRRM's ensembles can be trained on a data set of these settings."""
    form = settings["format"]
    return form not in TABLES and CLASSES.get(form, len(settings.get("classes", ()))) == 2


def is_stand_in(config: dict, dataset: str) -> bool:
    """Tell whether a data set only stands in for one of a paper's."""
    return config["datasets"][dataset].get("stand_in", False)


def file_pattern(config: dict) -> str:
    """Return the regular expression of the names of all files that may be downloaded."""
    names = {name for each in config["datasets"].values() for name in each.get("files", ())}
    return "|".join(map(re.escape, sorted(names))) or "none"


def raw_file(config: dict, dataset: str, file: str) -> dict:
    """Return role, sha256 and urls of a file to download. Raises ValueError if there is none."""
    files = config["datasets"][dataset].get("files", {})
    if file not in files:
        known = ", ".join(files) or "none, nothing is downloaded"
        raise ValueError(f"file = {file!r}: must be one of the files of {dataset}: {known}")
    return files[file]


def raw_files(config: dict, dataset: str) -> dict[str, str]:
    """Return the paths of a data set's downloaded files by role; empty where none are needed."""
    owner = _owner(config["datasets"], dataset)
    return {
        file["role"]: f"data/raw/{owner}/{name}"
        for name, file in _files(config["datasets"], dataset).items()
    }


def checksums(config: dict, dataset: str) -> dict[str, str]:
    """Return the sha256 of a data set's downloaded files by role."""
    return {file["role"]: file["sha256"] for file in _files(config["datasets"], dataset).values()}


def preparation(config: dict, dataset: str) -> dict:
    """Return format, n_train, n_test and, for IDX, classes of a data set."""
    settings = config["datasets"][dataset]
    return {
        key: settings[key] for key in ("format", "classes", "n_train", "n_test") if key in settings
    }


def available(config: dict, dataset: str, folder=".") -> bool:
    """Tell whether a data set takes part; an optional one does only if its files are at hand.

    At hand means in data/raw below `folder` or in the mirror, which must be a folder: what an
    address serves is not known before a job asks. (With `optional: false` it is asked.)
    """
    if not config["datasets"][dataset].get("optional", False):
        return True
    owner = _owner(config["datasets"], dataset)
    places = [Path(folder, "data", "raw", owner)]
    if (mirror := config["data_mirror"]) and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", mirror):
        places.append(Path(mirror, owner))
    names = _files(config["datasets"], dataset)
    return all(any((place / name).is_file() for place in places) for name in names)


def _owner(datasets: dict, name: str) -> str:
    return datasets[name].get("files_of", name)


def _files(datasets: dict, name: str) -> dict:
    return datasets.get(_owner(datasets, name), {}).get("files", {})
