"""What a run has changed of the configuration makes that configuration again."""

import pytest
import yaml

from private_ensembles.run.changes import changes, overriding_configuration
from private_ensembles.run.check import check, fill_defaults


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_changes_are_found_at_any_depth_and_make_the_configuration_again(tmp_path):
    default = tmp_path / "config.yaml"
    default.write_text("seed: 0\ndelta: 1e-5\ndata_mirror: null\na: {b: [1, 2], c: {d: 3, e: 4}}\n")
    run = {"seed": 0, "delta": 1e-5, "data_mirror": "/x", "a": {"b": [1], "c": {"d": 3, "e": None}}}
    assert changes(run, default) == {"a.b": ([1, 2], [1]), "a.c.e": (4, None)}
    part = overriding_configuration(run, default)
    assert part == {"a": {"b": [1], "c": {"e": None}}}
    assert changes(fill_defaults(part, read(default)), default) == changes(run, default)


def test_a_section_that_is_left_out_is_null_and_nothing_more(tmp_path):
    default = tmp_path / "config.yaml"
    default.write_text("planner: {many_labels: {K: 250, epsilon: [1, 2]}, queries: 5}\n")
    config = {"planner": {"many_labels": None, "queries": 5}}
    assert overriding_configuration(config, default) == {"planner": {"many_labels": None}}


def test_the_published_configuration_is_valid_and_all_of_it_is_a_change(root):
    """Thirty trainings of DaRRM's teachers, five splits of boosted trees, the papers' data."""
    published = read(root / "config" / "scenarios" / "published.yaml")
    run = fill_defaults(published, read(root / "config.yaml"))
    checked = check(run)
    assert len(checked.darrm.training_seeds) == 30
    assert len(checked.dpbag.active_section.models()["boosted_trees"].seeds) == 5
    assert overriding_configuration(run) == published
    # As a run has it, too: `noise: auto` is settled by then.
    assert overriding_configuration(checked.to_dict()) == published


@pytest.mark.docs
def test_what_is_published_says_that_it_is_of_the_published_configuration(root):
    """Pages give the command; the file that it names was written from the run's configuration."""
    published = read(root / "config" / "scenarios" / "published.yaml")
    assert read(root / "docs" / "configuration.yaml") == published
    for paper in ("darrm", "pate", "dpbag", "nzc"):
        page = (root / "docs" / paper / "README.md").read_text(encoding="utf-8")
        assert "publish_docs --cores all --configfile docs/configuration.yaml" in page
