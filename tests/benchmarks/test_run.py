"""The runner: what it writes, and that the page in docs is written from the numbers there."""

from benchmarks import run


def test_a_run_writes_its_numbers_and_a_page_of_all_that_are_there(tmp_path, capsys):
    (tmp_path / "embedded.csv").write_text((run.DOCS / "embedded.csv").read_text("utf-8"), "utf-8")
    run.main(["right_labels", "--quick", "--output", str(tmp_path)])
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert (tmp_path / "right_labels.csv").is_file()
    assert capsys.readouterr().out.strip() in page
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## Right labels for a budget",
        "## The run on embedded data",
    ]


def test_the_page_in_docs_says_what_the_numbers_beside_it_say(tmp_path):
    for numbers in run.DOCS.glob("*.csv"):
        (tmp_path / numbers.name).write_bytes(numbers.read_bytes())
    run.write_page(tmp_path)
    written, kept = ((folder / "README.md").read_text("utf-8") for folder in (tmp_path, run.DOCS))
    assert written == kept
