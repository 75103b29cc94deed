"""Every file of the repository has a licence in the first table of ATTRIBUTION.md."""

import re
import subprocess
from fnmatch import fnmatchcase

import pytest

pytestmark = pytest.mark.docs


def test_every_tracked_file_is_of_a_class_with_a_licence(root):
    done = subprocess.run(
        ["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("no repository of git")
    first = (root / "ATTRIBUTION.md").read_text(encoding="utf-8").split("\n\n")[1]
    cells = [line.split("|")[1] for line in first.splitlines()[2:]]
    patterns = [pattern for cell in cells for pattern in re.findall(r"`([^`]+)`", cell)]

    def fits(path, pattern):
        # A star stands for a name, not for folders.
        same_depth = path.count("/") == pattern.count("/")
        return (pattern.endswith("/") and path.startswith(pattern)) or (
            same_depth and fnmatchcase(path, pattern)
        )

    files = done.stdout.splitlines()
    assert [path for path in files if not any(fits(path, one) for one in patterns)] == []
    # And the table names nothing that is no longer there, but for the commands in its words.
    unused = {one for one in patterns if not any(fits(path, one) for path in files)}
    assert unused == {"publish_docs"}
