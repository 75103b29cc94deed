"""One list says which files of votes are read, and all that speaks of endings is made from it."""

import importlib
import re
import subprocess
import sys

from private_ensembles.command import votes_options
from private_ensembles.release.files import formats
from private_ensembles.release.section import Own


def test_every_reader_is_there_and_its_ending_is_found():
    for ending, reader in formats.READERS.items():
        module, _, function = reader.rpartition(".")
        assert callable(getattr(importlib.import_module(f"private_ensembles.{module}"), function))
        assert re.search(formats.ending_pattern(), f"votes{ending}")
        assert ending in votes_options.FILE
        assert ending.removeprefix(".") in str(Own.model_fields["votes"])
    assert not re.search(formats.ending_pattern(), "votes.csv.gz")


def test_the_page_names_every_ending(root):
    page = (root / "docs" / "own-votes.md").read_text(encoding="utf-8")
    told = page.partition("### What is accepted")[2] or page.partition("What is accepted")[2]
    assert [ending for ending in formats.READERS if f"`{ending}`" not in told] == []


def test_the_list_loads_no_reader(root):
    code = "import sys; import private_ensembles.release.files.formats; "
    code += "print([name for name in sys.modules if name in ('numpy', 'pandas')])"
    loaded = subprocess.check_output(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(root / "workflow")}, text=True
    )
    assert loaded.strip() == "[]"
