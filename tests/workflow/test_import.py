"""Another workflow imports this one: a partial configuration, a prefix, rules of its own."""

import json
import re
import subprocess

import pytest
import yaml

from ..ledgers import releases

GAMMA = "results/darrm/gamma/K=5,m=3,epsilon=0.1,Delta=1e-05,delta=1e-05,prior=uniform:0.5,1.json"
OTHER = """
configfile: "mine.yaml"

module private_ensembles:
    snakefile: "{clone}/workflow/Snakefile"
    config: config["ensembles"]
    prefix: "ours"

use rule * from private_ensembles as pe_*

rule optimize_gamma:
    default_target: True
    input: "ours/{gamma}"
    output: "mine.txt"
    params: own=lambda wildcards: str(config)
    shell: "wc -c {{input:q}} > {{output}} && echo {{params.own:q}} >> {{output}}"
"""
# Spaces and letters that are not ASCII: in the folder of the other workflow, and in the clone's.
FOLDER, CLONE = "meine Größen ε", "clône of ours"


@pytest.fixture(scope="module")
def clone(tmp_path_factory, copy_workflow):
    return copy_workflow(tmp_path_factory.mktemp("import") / CLONE)


@pytest.fixture
def other(clone, tmp_path):
    """A folder with a Snakefile that imports the clone."""
    folder = tmp_path / FOLDER
    folder.mkdir()
    (folder / "Snakefile").write_text(OTHER.format(clone=clone, gamma=GAMMA))
    configure(folder, {"papers": ["darrm"], "audit": None, "solver": "highs"})
    return folder


def configure(folder, ours):
    (folder / "mine.yaml").write_text(yaml.safe_dump({"ensembles": ours, "own": 1}))


def test_rules_run_under_their_prefix_beside_rules_of_another_workflow(other, run_snakemake):
    done = run_snakemake(other, "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    solution = json.loads((other / "ours" / GAMMA).read_text())
    assert solution["solver"]["name"] == "highs"  # as the partial configuration says
    assert solution["K"] == 5
    record = other / "ours" / f"{GAMMA}.json".replace("results/", "results/provenance/")
    found = json.loads(record.read_text())
    assert found["file"] == f"ours/{GAMMA}"
    assert found["rule"] == "pe_optimize_gamma"
    assert found["seed"] == 0  # of the defaults
    # What the other workflow calls its configuration is as it was.
    _, own = (other / "mine.txt").read_text().splitlines()
    assert "'own': 1" in own
    assert "planner" not in own
    assert {path.name for path in other.iterdir()} == {
        *("Snakefile", "mine.yaml", "mine.txt", "ours", ".snakemake"),
    }
    again = run_snakemake(other, "--cores", "1", "-n")
    assert "Nothing to be done" in again.stdout + again.stderr


@pytest.mark.slow
def test_the_imported_targets_plan_what_they_do_at_home(other, clone, planned):
    tiny = yaml.safe_load((clone / "config" / "scenarios" / "tiny.yaml").read_text())
    configure(other, tiny)
    ours = planned(other, "--cores", "1", "pe_all")
    theirs = planned(clone, "--cores", "1", "--configfile", "config/scenarios/tiny.yaml")
    assert ours.pop("pe_all") == 1
    assert {name.removeprefix("pe_"): number for name, number in ours.items()} == theirs


@pytest.mark.slow
def test_a_mistake_is_one_line_that_says_whose_it_is(other, run_snakemake):
    configure(other, {"darrm": {"K": 4}})
    done = run_snakemake(other, "--cores", "1", "-n")
    assert done.returncode != 0
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "error: " in line]
    assert len(lines) == 1
    says = "darrm.K = 4: must be an odd integer >= 1"
    assert lines[0].startswith(f"error: config of the module: {says}")


@pytest.mark.slow
def test_own_votes_behind_a_prefix_stay_private_and_on_record(other, run_snakemake):
    (other / "votes.csv").write_text("0,0,1,0,0,2,0\n" * 19 + "0,0,0,0,0,0,0\n")
    planner = {"mechanisms": ["gnmax_analytic", "permute_and_flip"]}
    mine = {
        "votes": "votes.csv",
        "n_classes": 3,
        "n_teachers": 7,
        "shards": "disjoint",
        "epsilon": 9,
    }
    mine |= {"planner": planner}
    configure(other, mine)
    done = run_snakemake(other, "--cores", "1", "pe_all")
    assert done.returncode == 0, done.stdout + done.stderr
    own = other / "ours" / "results" / "own"
    assert (own / "private").stat().st_mode & 0o777 == 0o700
    assert (own / "private" / "votes.csv").stat().st_mode & 0o777 == 0o600
    records = [path.name for path in (other / "ours/results/provenance").rglob("*.json")]
    assert "labels.csv.json" in records
    assert "votes.csv.json" not in records
    assert len(releases(own)) == 1
    assert not (other / "results").exists()
    # A second release must be allowed, although no line at the start says so.
    configure(other, mine | {"epsilon": 8})
    done = run_snakemake(other, "--cores", "1", "pe_all")
    assert done.returncode != 0
    assert "labels of your votes are out already" in done.stdout + done.stderr
    assert len(releases(own)) == 1


@pytest.mark.slow
def test_the_graph_of_rules_is_drawn(clone, run_snakemake):
    done = run_snakemake(clone, "--rulegraph", "--cores", "1", "darrm")
    assert done.returncode == 0, done.stderr
    assert done.stdout.lstrip().startswith("digraph snakemake_dag {")
    assert 'label = "optimize_gamma"' in done.stdout


@pytest.mark.slow
def test_an_archive_holds_what_the_workflow_needs(root, copy_workflow, start_snakemake, tmp_path):
    """`--archive` takes the files that git tracks; unpacked elsewhere, they plan the same."""
    folder = copy_workflow(tmp_path / "copy")
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], check=True)
    # The workflow reads the papers' numbers and captions, and runs its scripts, without naming
    # them as inputs: all of that must be inside, and nothing that a run makes.
    target = ("--cores", "1", "--", GAMMA)
    done = start_snakemake(folder, "--archive", str(tmp_path / "all.tar.gz"), *target)
    assert done.returncode == 0, done.stdout + done.stderr
    names = subprocess.run(
        ["tar", "tzf", tmp_path / "all.tar.gz"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    tracked = subprocess.run(
        [*git, "ls-files"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert set(tracked) <= {re.sub(r"^\./", "", name) for name in names}
    assert [name for name in names if "results/" in name] == []


def test_what_the_catalogue_wants_is_there(root):
    catalogue = yaml.safe_load((root / ".snakemake-workflow-catalog.yml").read_text())
    assert set(catalogue) == {"usage"}
    assert (root / "config" / "README.md").is_file()
    start = yaml.safe_load((root / "config" / "config.yaml").read_text())
    defaults = yaml.safe_load((root / "config.yaml").read_text())
    assert {key: defaults[key] for key in start} == start
