"""The first sentence of the page: counted from findings, and about no more than the run covers."""

import pytest

from private_ensembles.page.findings import Finding, read_findings
from private_ensembles.page.headline import sentence


def found(*kinds, paper="p"):
    return [Finding(f"{paper}{i}", "t", "t", "d", kind) for i, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ((), ""),
        (("", ""), ""),
        (("broken",), " One claim is broken."),
        (("theorem", "theorem", ""), " Two theorems fail."),
        (
            ("noise", "broken", "noise", "theorem"),
            " One claim is broken, one theorem fails and two papers need less noise than "
            "published.",
        ),
    ],
)
def test_what_came_out_is_counted(kinds, told):
    assert sentence(found(*kinds), 4) == (
        f"Four papers on private teacher ensembles, recomputed.{told}"
    )


def test_noise_is_counted_by_paper_and_many_papers_are_a_number():
    twice = found("noise") + found("noise")
    assert sentence(twice, 1) == (
        "One paper on private teacher ensembles, recomputed. "
        "One paper needs less noise than published."
    )
    assert sentence([], 12).startswith("12 papers")


def test_the_published_tables_give_the_sentence_of_the_paper_s_run(published_results):
    findings = read_findings(published_results)
    assert sentence(findings, 4) == (
        "Four papers on private teacher ensembles, recomputed. One claim is broken, one theorem "
        "fails and two papers need less noise than published."
    )
