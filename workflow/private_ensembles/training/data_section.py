"""The section `datasets`: the data sets, where their files come from, and what rules need."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, RootModel

from private_ensembles.base import settings
from private_ensembles.base.settings import LEFT_OUT, describe_key
from private_ensembles.training.data.formats import FORMATS, ROLES

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


Addresses = Annotated[
    list[Annotated[str, Field(pattern="^(https?|file)://")]],
    Field(min_length=1, description="Public addresses, in the order in which they are tried."),
]


class File(settings.Section):
    """A file to download."""

    role: Literal[ROLES] = describe_key("What the file holds; each format has its own roles.")
    sha256: str = Field(pattern="^[0-9a-f]{64}$", description="Checksum.")
    urls: Addresses


FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.[A-Za-z0-9]+$")]


class Dataset(settings.Section):
    """One data set."""

    format: Literal[tuple(FORMATS)] = describe_key(
        " ".join(
            ["How to read it.", *(f"{name}: {form.description}." for name, form in FORMATS.items())]
        )
    )
    files_of: str = describe_key(
        "The data set whose files are read, before those of its own.", LEFT_OUT
    )
    classes: settings.Several[Annotated[int, *settings.integer(ge=0, le=255)]] = describe_key(
        "The classes of IDX files that are kept, which become labels 0, 1, ..., or those of "
        "released labels.",
        LEFT_OUT,
    )
    n_train: settings.Records = describe_key(
        "Training records of the classes, or labels that a student had."
    )
    n_test: settings.Records = describe_key(
        "Test records of the classes, or labels that were released."
    )
    stand_in: bool = describe_key(
        "Whether it only takes the place of a paper's data set; false if left out.", False
    )
    optional: bool = describe_key(
        "Whether to skip the data set if its files are neither in data/raw nor in a "
        "data_mirror that is a folder; false if left out.",
        False,
    )
    files: dict[FileName, File] = describe_key("The files to download, by name.", LEFT_OUT)

    def mistakes(self) -> Iterator[settings.Mistake]:
        fixed = FORMATS[self.format].classes is not None
        if fixed and self.classes is not None:
            yield "classes", self.classes, f"left out if format is {self.format}"
        if not fixed and self.classes is None:
            yield "classes", None, f"at least two class numbers, since format is {self.format}"
        for name in self.files or {}:
            if name.endswith(".part"):
                yield f"files.{name}", name, "another name, as unfinished downloads end so"

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        fixed_classes = FORMATS[self.format].classes
        return len(self.classes) if fixed_classes is None else fixed_classes

    @property
    def content(self) -> str:
        """What its records are: "a table", "images" or "labels"."""
        return FORMATS[self.format].content


class Datasets(RootModel[settings.Named[Dataset]]):
    """The data sets, by name."""

    model_config = ConfigDict(strict=True)

    def __getitem__(self, name: str) -> Dataset:
        return self.root[name]

    def __contains__(self, name: str) -> bool:
        return name in self.root

    def __iter__(self):
        return iter(self.root)

    def conflicts(self) -> Iterator[settings.Mistake]:
        """Yield what is wrong between one data set and the files of another."""
        # A data set that lends files has all of its own, so that nothing is looked up in a circle.
        lenders = [name for name, data in self.root.items() if data.files and not data.files_of]
        for name in self:
            path, form, lender = f"datasets.{name}", self[name].format, self[name].files_of
            if lender is not None and lender not in lenders:
                allowed = f"one of the data sets that have all files: {', '.join(lenders)}"
                yield f"{path}.files_of", lender, allowed
            roles = sorted(file.role for _, _, file in self._files(name))
            if roles != sorted(FORMATS[form].roles):
                wanted = ", ".join(FORMATS[form].roles)
                allowed = f"one file for each role {wanted}" if wanted else "left out"
                yield f"{path}.files", roles, f"{allowed}, since format is {form}"

    def select_names(
        self, content: str, *, stand_in: bool, n_classes: int | None = None
    ) -> list[str]:
        """Return the names of the data sets with this content that are stand-ins or are not.

        Args:
            content: "a table", "images" or "labels".
            stand_in: Whether to return the stand-ins or the others.
            n_classes: How many classes they must have; None: any number.
        """
        return [
            name
            for name, data in self.root.items()
            if (data.content, data.stand_in) == (content, stand_in)
            and n_classes in (None, data.n_classes)
        ]

    def file_pattern(self) -> str:
        """Return a regular expression for the names of all files that may be downloaded."""
        names = {name for data in self.root.values() for name in data.files or ()}
        return "|".join(map(re.escape, sorted(names))) or "none"

    def raw_file(self, dataset: str, file: str) -> dict:
        """Return the role, sha256 and urls of a file to download.

        Raises:
            ValueError: The data set has no such file.
        """
        files = self[dataset].files or {}
        if file not in files:
            names = ", ".join(files) or "none, nothing is downloaded"
            raise ValueError(f"file = {file!r}: must be one of the files of {dataset}: {names}")
        return files[file].to_dict()

    def raw_files(self, dataset: str) -> dict[str, str]:
        """Return the paths of a data set's downloaded files by role; empty if none are needed."""
        files = self._files(dataset)
        return {file.role: f"data/raw/{owner}/{name}" for owner, name, file in files}

    def checksums(self, dataset: str) -> dict[str, str]:
        """Return the sha256 of a data set's downloaded files by role."""
        return {file.role: file.sha256 for _, _, file in self._files(dataset)}

    def preparation_settings(self, dataset: str) -> dict:
        """Return a data set's format, n_train, n_test and, for IDX files, classes."""
        return self[dataset].pick("format", "classes", "n_train", "n_test")

    def is_available(self, dataset: str, mirror: str | None = None, folder=".") -> bool:
        """Return whether a data set takes part; an optional one needs its files at hand.

        Files are at hand in data/raw below `folder` or in the mirror, which must be a folder: what
        an address serves is not known before a job asks. (With `optional: false` a job asks.)
        """
        if not self[dataset].optional:
            return True
        folders = [Path(folder, "data", "raw")]
        if mirror and not ADDRESS.match(mirror):
            folders.append(Path(mirror))
        return all(
            any((raw_folder / owner / name).is_file() for raw_folder in folders)
            for owner, name, _ in self._files(dataset)
        )

    def _files(self, name: str) -> list[tuple[str, str, File]]:
        """Return each of a data set's files: the owner of its folder, its name and its settings."""
        owners = [owner for owner in (self[name].files_of, name) if owner in self]
        return [
            (owner, file_name, file)
            for owner in owners
            for file_name, file in (self[owner].files or {}).items()
        ]
