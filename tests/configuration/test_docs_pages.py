"""The pages that a reader has beside the results: those of docs/ and the guides at the root."""

from private_ensembles.configuration.docs_pages import pages_of_docs


def test_pages_are_those_that_readers_have_by_their_paths_from_the_root(tmp_path):
    for name in ("README.md", "docs/b.md", "docs/a.md", "docs/nzc/README.md", "config/README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in ("docs/a.csv", "docs/nzc/deep/c.md", "config/other.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert pages_of_docs(tmp_path) == [
        "README.md",
        "docs/a.md",
        "docs/b.md",
        "docs/nzc/README.md",
        "config/README.md",
    ]


def test_an_imported_workflow_may_have_come_without_them(tmp_path):
    assert pages_of_docs(tmp_path) == []
