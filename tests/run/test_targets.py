"""What a run makes follows from its configuration, and names of files from parameters."""

from pathlib import Path

import pytest
import yaml

from private_ensembles.base.parameter_names import parameters_of
from private_ensembles.base.provenance import is_private
from private_ensembles.papers.nzc import targets as nzc
from private_ensembles.papers.pate import targets as pate
from private_ensembles.run import file_names, targets
from private_ensembles.run.check import check


@pytest.fixture
def config(root, tmp_path, monkeypatch):
    """The configuration as it is shipped; where it is asked, no optional data are at hand."""
    monkeypatch.chdir(tmp_path)
    return yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))


def test_default_run_makes_every_paper_the_audit_the_comparison_and_the_page(config):
    files = targets.default_targets(check(config))
    assert len(set(files)) == len(files)
    assert {
        "results/darrm/tables/table1.csv",
        "results/darrm/figures/figure10.png",
        "results/pate/privacy/task=digits.csv",
        "results/dpbag/tables/conjecture.csv",
        "results/nzc/figures/figure2.png",
        "results/privacy_ledger.csv",
        "results/fidelity.csv",
    } < set(files)
    assert files[-1] == targets.final_file(check(config)) == "results/index.html"


def test_a_paper_that_is_left_out_makes_nothing(config):
    config["papers"] = ["pate"]
    made = [
        *targets.default_targets(check(config)),
        *targets.published_files(check(config))["tables"],
    ]
    assert not [file for file in made if "/darrm/" in file or "/nzc/" in file or "/dpbag/" in file]
    assert targets.tables_in_other_folders(check(config)) == []
    counted = targets.dataset_files_of_printed_sizes(check(config))
    assert not any(counted.values())


def test_own_votes_take_the_papers_place(config):
    config |= {"votes": "votes.npz", "n_classes": 3, "n_teachers": 5, "shards": "disjoint"}
    Path("votes.npz").touch()
    assert (
        targets.default_targets(check(config))
        == [targets.final_file(check(config))]
        == ["results/own/release/index.html"]
    )
    config["noise"] = "reproducible"
    assert targets.final_file(check(config)) == "results/own/rehearsal/rehearsal_index.html"


def test_a_null_leaves_a_table_or_figure_out(config):
    tables, figures = (
        targets.table_names(check(config))["darrm"],
        targets.figure_names(check(config))["darrm"],
    )
    assert {"table4", "table3", "amplification"} < set(tables)
    assert {"figure2", "figure6", "figure9"} < set(figures)
    config["darrm"]["tables"]["table4"] = None
    for name in ("figure6", "figure7", "figure8", "figure9"):
        config["darrm"][name] = None
    assert targets.figure_names(check(config))["darrm"] == [
        "figure2",
        "figure2_region",
        "figure10",
        "objectives",
    ]
    # Table 3 has Figure 6's parameters; the amplification is of Figures 7 and 8.
    assert set(tables) - set(targets.table_names(check(config))["darrm"]) == {
        "table3",
        "table4",
        "amplification",
    }


def test_without_tasks_pate_has_its_printed_arithmetic_alone(config):
    tasks = config["pate"]["tasks"]
    config["pate"]["tasks"] = dict.fromkeys(tasks)
    config["papers"] = ["pate"]
    own = ["printed_arithmetic", "small_print"]
    # Its figures of synthetic votes need no task.
    assert targets.table_names(check(config))["pate"] == [*own, "equal_answers"]
    config["pate"]["figure5"] = None
    assert targets.table_names(check(config))["pate"] == own
    assert pate.figure1_task(check(config).pate) is None
    assert "figure1" not in targets.figure_names(check(config))["pate"]
    assert pate.vote_files(check(config).pate) == {}


def test_figure_1_shows_the_first_of_its_tasks_that_is_run(config):
    section = check(config).pate
    assert pate.figure1_task(section) in pate.student_tasks(section)
    config["data"] = "paper"
    config["pate"]["figure1"] = ["svhn", "adult"]  # SVHN's data are not at hand
    assert pate.figure1_task(check(config).pate) == "adult"


def test_nzc_without_its_tasks_has_its_leads(config):
    assert targets.table_names(check(config))["nzc"] == ["table1", "table2", "figure2", "leads"]
    config["nzc"]["tasks"] = dict.fromkeys(config["nzc"]["tasks"])
    assert targets.table_names(check(config))["nzc"] == ["leads"]
    assert targets.figure_names(check(config))["nzc"] == []
    assert nzc.vote_files(check(config).nzc) == {}


def test_models_that_are_not_trained_fill_no_table_of_dpbag(config):
    config["dpbag"]["embedded"] |= {"logistic": None, "boosted_trees": None}
    assert targets.table_names(check(config))["dpbag"] == ["labels", "conjecture"]
    assert targets.figure_names(check(config))["dpbag"] == []


def test_the_audit_may_be_left_out(config):
    config["audit"] = None
    assert targets.audit_files(check(config)) == {"ledger": [], "totals": [], "figures": []}
    assert (
        "results/privacy_ledger.csv"
        not in targets.default_targets(check(config))
        + targets.published_files(check(config))["tables"]
    )


def test_records_are_counted_on_the_paper_s_data_only(config):
    assert targets.dataset_files_of_printed_sizes(check(config))["dpbag"] == []
    config["data"] = "paper"
    assert targets.dataset_files_of_printed_sizes(check(config))["dpbag"] == [
        "results/datasets/adult.npz"
    ]


def test_every_budget_of_the_ledger_has_its_noise_function(config):
    settings = check(config)
    found = targets.audited_gammas(settings)
    assert list(found) == list(settings.audit.budgets)
    for name, path in found.items():
        assert parameters_of(path)["K"] == settings.audit.budget(name)["K"]


def test_an_ensemble_is_one_file_or_one_for_each_slice():
    one = file_names.teachers([], "svhn", "plain", "5", "0")
    assert one == ["results/teachers/svhn/kind=plain,K=5,seed=0.pt"]
    two = file_names.teachers(["1of2", "2of2"], "svhn", "plain", "5", "0")
    assert [path.rpartition("slice=")[2] for path in two] == ["1of2.pt", "2of2.pt"]


def test_docs_keep_the_paper_and_the_name():
    results = {"tables": ["results/pate/tables/table1.csv", "results/privacy_ledger.csv"]}
    assert file_names.copies_in_docs(results) == {
        "tables": ["docs/pate/table1.csv", "docs/privacy_ledger.csv"]
    }


def test_a_rehearsal_is_told_by_every_name_and_only_one_file_is_private(config):
    release, rehearsal = (
        file_names.own_votes(check(config | {"noise": noise}))
        for noise in ("secure", "reproducible")
    )
    assert {Path(path).parent.name for path in release.values()} == {"release", "private"}
    assert all(Path(path).name.startswith("rehearsal_") for path in rehearsal.values())
    assert [what for what, path in release.items() if is_private(path)] == ["private"]
    assert all(is_private(path) for path in rehearsal.values())
    assert not set(release.values()) & set(rehearsal.values())
