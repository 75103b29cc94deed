"""The benchmark of the run on embedded data: its arithmetic, and that old and new take turns."""

from contextlib import contextmanager

import pytest

from benchmarks import embedded, process

DAG = """digraph snakemake_dag {
    0[label = "all", color = "x"];
    1[label = "draw\\nK: 1", color = "x"];
    2[label = "solve\\nK: 1", color = "x"];
    3[label = "solve\\nK: 2", color = "x"];
    2 -> 1
    3 -> 0
    1 -> 0
}"""


def test_longest_chain_takes_a_job_for_the_longest_of_its_rule():
    assert embedded.longest_chain(DAG, {"draw": 1.5, "solve": 4.0}) == 5.5
    assert embedded.longest_chain(DAG, {"solve": 4.0}) == 4.0


def test_old_code_and_new_take_turns(monkeypatch, root, tmp_path):
    seen = []

    @contextmanager
    def checkout(commit):
        seen.append(commit)
        yield tmp_path / "workflow"

    def measure_run(tree, arguments):
        seen.append(tree)
        some = 2.0 if tree == root else 3.0
        return [
            {"rule": "solve", "jobs": 2, "seconds": some, "longest": 1.0, "wall": 9.0 - some}
            | {"chain": 1.0}
        ]

    monkeypatch.setattr(process, "checkout", checkout)
    monkeypatch.setattr(embedded, "measure_run", measure_run)
    data = embedded.measure(against="HEAD~1")
    assert seen == ["HEAD~1", *[tmp_path, root] * embedded.ROUNDS]
    page = embedded.page(data)
    assert "| old | 6 to 6 | 2 | 3 to 3 | 1 to 1 |" in page
    assert "| new | 7 to 7 | 2 | 2 to 2 | 1 to 1 |" in page
    assert "| solve | 3.0 | 2.0 |" in page


@pytest.mark.slow
def test_a_tiny_run_is_measured(root):
    data = embedded.measure(quick=True)
    assert (data["wall"] > 0).all()
    assert data["chain"].iloc[0] <= data["longest"].sum()
    assert "all jobs together" in embedded.page(data)
