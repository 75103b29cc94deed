"""What the page says about the run: changed configuration, origins, times."""

import json

import yaml

from private_ensembles.report import run_facts


def test_what_is_not_as_in_the_configuration_of_the_workflow_is_a_row(root):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    assert run_facts.facts(root / "nowhere", config).changed == ""
    changed = run_facts.facts(root / "nowhere", config | {"seed": "<7>", "more": None}).changed
    for words in ("&lt;7&gt;", "(absent)", "null"):
        assert words in changed


def test_origins_count_the_results_of_each_revision(tmp_path):
    for number, revision in enumerate(("abc", "abc", "def")):
        path = tmp_path / "provenance" / "darrm" / f"{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"revision": revision, "versions": {"numpy": "2"}}))
    (tmp_path / "provenance" / "broken.json").write_text("{")
    found = run_facts.origins(tmp_path)
    assert found == {"revision": {"abc": 2, "def": 1}, "numpy": {"2": 3}}
    facts = run_facts.facts(tmp_path, None)
    assert facts.origins == {"revision": "abc (2 results), def (1 results)", "numpy": "2"}


def test_times_are_summed_by_rule_and_memory_is_the_log_s(tmp_path):
    folder = tmp_path / "results" / "benchmarks" / "some_rule"
    folder.mkdir(parents=True)
    for name, seconds, memory in (("a", "1.5", "100.2"), ("b", "2.0", "-"), ("c", "NA", "NA")):
        (folder / f"{name}.tsv").write_text(f"s\tmax_rss\n{seconds}\t{memory}\n")
    log = tmp_path / "logs" / "some_rule" / "a.log"
    log.parent.mkdir(parents=True)
    log.write_text("x INFO some_rule finished, peak memory 321 MiB\n")
    (row,) = run_facts.timings(tmp_path / "results").to_dict("records")
    assert row == {
        "rule": "some_rule",
        "jobs": 3,
        "seconds": 3.5,
        "longest": 2.0,
        "peak_mib": 321,
    }


def test_a_folder_without_records_and_benchmarks_has_nothing_to_tell(tmp_path):
    assert run_facts.origins(tmp_path) == {}
    assert run_facts.timings(tmp_path).empty
    facts = run_facts.facts(tmp_path, None)
    assert (facts.changed, facts.origins, facts.jobs) == (None, {}, 0)
