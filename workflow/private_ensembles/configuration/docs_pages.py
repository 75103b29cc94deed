"""Which pages of the repository a reader has beside the results.

By itself, so that the page that is built from them hangs on no model of the configuration.
"""

from pathlib import Path


def pages_of_docs(repository: str | Path) -> list[str]:
    """Return the pages that a reader has beside the results, by their paths from the root.

    An imported workflow may have come without them.
    """
    patterns = ("*.md", "docs/*.md", "docs/*/*.md", "config/README.md", "results/README.md")
    root = Path(repository)
    found = [path for pattern in patterns for path in sorted(root.glob(pattern))]
    return [path.relative_to(root).as_posix() for path in found]
