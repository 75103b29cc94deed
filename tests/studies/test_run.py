"""The studies' own Snakefile: a small run, what it plans again, and what it says of a mistake."""

import shutil

import pytest
import yaml

pytestmark = pytest.mark.slow

TINY = ("--snakefile", "studies/Snakefile", "--configfile", "tests/config/tiny_studies.yaml")


@pytest.fixture
def finished(finish_run):
    return finish_run("tiny_studies")


def test_a_finished_run_has_nothing_to_do(finished, planned):
    assert list((finished / "results/studies/figures").glob("*.png"))
    assert planned(finished, *TINY) == {}


def test_the_workflow_goes_on_from_what_the_studies_have_made(finished, planned, tmp_path):
    config = yaml.safe_load((finished / TINY[-1]).read_text())
    del config["studies"]
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    votes = "results/votes/digits-10/kind=plain,K=10,seed=0.npz"
    assert planned(finished, "--configfile", str(tmp_path / "mine.yaml"), "--", votes) == {}


@pytest.mark.parametrize(
    ("change", "jobs"),
    [
        ({"equal_budget": {"epsilon": [4]}}, {"compare_equal_budgets", "study_many_labels"}),
        ({"interactive_students": {"digits": {"confidence": 0.8}}}, {"train_interactive_students"}),
    ],
)
def test_a_changed_value_reruns_its_study(finished, planned, tmp_path, change, jobs):
    (tmp_path / "other.yaml").write_text(yaml.safe_dump({"studies": change}))
    plan = planned(finished, *TINY, str(tmp_path / "other.yaml"))
    assert set(plan) - {"studies"} == jobs


def test_an_edit_of_a_study_reruns_that_study(finished, planned, tmp_path):
    shutil.copytree(finished, tmp_path / "edited", symlinks=True)
    module = tmp_path / "edited/studies/interactive_students/rounds.py"
    module.write_text(module.read_text() + "\nOTHER = 1\n")
    assert set(planned(tmp_path / "edited", *TINY)) - {"studies"} == {"train_interactive_students"}


def test_one_command_publishes_papers_and_studies(finished, planned):
    plan = planned(finished, *TINY, "--", "publish_docs")
    assert plan["publish_docs"] == plan["publish_studies"] == 1


def test_a_mistake_is_one_line(finished, run_snakemake, tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("studies: {many_labels: {lead: 0}}\n")
    done = run_snakemake(finished, "-n", *TINY, str(wrong))
    assert done.returncode != 0
    said = [line for line in (done.stdout + done.stderr).splitlines() if "error: " in line]
    assert len(said) == 1
    assert said[0].startswith("error: studies.many_labels.lead = 0: ")
