"""workflow/mock_job.py gives a script what Snakemake gives it, and runs it as Snakemake does."""

import json
import subprocess
import sys

import pytest
import yaml

from tests import blocks
from tests.conftest import users_environment
from tests.workflow import comparison

PATE = ("--configfile", "config/scenarios/tiny_pate.yaml", "--cores", "2")
# Everything that an object holds, in a form that can be written and compared.
HELD = """
import json

def held(snakemake):
    parts = {name: getattr(snakemake, name) for name in ("rule", "threads", "config")}
    for name in ("input", "output", "params", "wildcards", "resources", "log"):
        values = getattr(snakemake, name)
        parts[name] = [list(values), dict(values.items())]
    # Snakemake makes their list of a set.
    parts["resources"][0].sort(key=str)
    return json.dumps(parts, default=str, sort_keys=True)
"""
# In the place of every script: writes down what it was given, and empty files as its outputs.
SCRIPT = f"""
from pathlib import Path
{HELD}
for path in snakemake.output:
    Path(path).write_text("")
with open("held.jsonl", "a") as file:
    file.write(held(snakemake) + "\\n")
"""
MOCK = f"""
import sys
sys.path.insert(0, "workflow")
import mock_job
{HELD}
workflow = mock_job.load_workflow(mock_job.read_options(sys.argv[1:]))
for line in open("held.jsonl"):
    real = json.loads(line)
    job = mock_job.build_job(workflow, real["rule"], real["wildcards"][1])
    print(held(mock_job.hand_over(job)))
"""
POINT = ["K=5", "m=3", "epsilon=0.1", "Delta=0", "delta=0", "prior=uniform:0.5", "prior_end=1"]
FILE = "results/darrm/gamma/K=5,m=3,epsilon=0.1,Delta=0,delta=0,prior=uniform:0.5,1.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, copy_workflow):
    return copy_workflow(tmp_path_factory.mktemp("mock") / "workflow")


def run_python(folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=users_environment() | {"PWD": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
    )


def run_mock(folder, *arguments):
    return run_python(folder, "workflow/mock_job.py", *arguments)


MISTAKES = [
    ((), "name a rule; snakemake --list-rules lists them"),
    (("acount_votes",), "rule acount_votes: there is none of this name that runs a script; "),
    (("account_votes",), "rule account_votes: must be given task=VALUE"),
    (("account_votes", "digits"), "digits: must be WILDCARD=VALUE"),
    (("plan_mechanisms", "K=3"), "rule plan_mechanisms: must be given no wildcards"),
    (("account_votes", "task=none"), "rule account_votes: a wildcard has no such value, so "),
    (("account_votes", "--config", "sed=1"), "--config: sed: unknown key; did you mean seed?"),
    # NumPy is loaded before the script is.
    (
        ("plan_mechanisms", "--config", "portable=true", "--run"),
        "portable = true: start Python with these variables: ATEN_CPU_CAPABILITY=avx2 ",
    ),
]
PRINTED = ("account_votes", "task=digits", *PATE)
# One process that is asked for all, one after the other, and says how each ends.
ASK = """
import contextlib, io, json, sys
sys.path.insert(0, "workflow")
import mock_job
for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            mock_job.main(arguments)
            code = 0
        except SystemExit as ended:
            code = ended.code
    # Python itself would print a code that is text, and end with status 1.
    said = err.getvalue() + (code if isinstance(code, str) else "")
    print(json.dumps([0 if code in (0, None) else 1, out.getvalue(), said]), file=sys.__stdout__)
"""


@pytest.fixture(scope="module")
def answers(folder):
    """The status, what is printed and what is said of each question, all by one process."""
    asked = [PRINTED, *(arguments for arguments, _ in MISTAKES)]
    done = run_python(folder, "-c", ASK, json.dumps(asked))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked), done.stderr
    return dict(zip(asked, answers, strict=True))


@pytest.mark.slow
def test_every_job_of_a_run_is_given_what_the_mock_gives(tmp_path, copy_workflow, run_snakemake):
    """All of PATE: rules with several wildcards and none, input functions, inherited rules."""
    folder = copy_workflow(tmp_path / "workflow")
    for script in (folder / "workflow" / "scripts").rglob("*.py"):
        script.write_text(SCRIPT)
    done = run_snakemake(folder, "pate", *PATE, "--config", "seed=3")
    assert done.returncode == 0, done.stdout + done.stderr
    real = [json.loads(line) for line in (folder / "held.jsonl").read_text().splitlines()]
    rules = {parts["rule"] for parts in real}
    assert rules > {"account_votes", "train_student", "tabulate_students"}

    done = run_python(folder, "-c", MOCK, *PATE, "--config", "seed=3")
    assert done.returncode == 0, done.stderr
    mocked = [json.loads(line) for line in done.stdout.splitlines()]
    for ours, theirs in zip(mocked, real, strict=True):
        assert ours == theirs


def test_it_is_printed(folder, answers):
    status, printed, said = answers[PRINTED]
    assert status == 0, said
    said = yaml.safe_load(printed)
    assert said["input"] == {"votes": "results/votes/digits-10/kind=plain,K=10,seed=0.npz"}
    assert said["output"] == ["results/pate/privacy/task=digits.csv"]
    assert said["params"]["settings"]["confident"]["queries"] == 100
    assert said["wildcards"] == {"task": "digits"}
    assert "darrm" in said["config"]
    assert {path.name for path in folder.iterdir()} & {"results", "logs", ".snakemake"} == set()


@pytest.mark.slow
def test_a_script_that_it_runs_writes_what_the_job_writes(folder, tmp_path, run_snakemake):
    away = ("--directory", str(tmp_path / "mock"))
    done = run_mock(folder, "optimize_gamma", *POINT, "--run", *away)
    assert done.returncode == 0, done.stderr
    job = ("--cores", "1", "--directory", str(tmp_path / "job"), "--", FILE)
    done = run_snakemake(folder, *job)
    assert done.returncode == 0, done.stderr
    one, two = (comparison.contents(tmp_path / name) for name in ("mock", "job"))
    assert comparison.differences(one, two) == []
    assert FILE.removeprefix("results/") in one


@pytest.mark.slow
def test_a_debugger_stops_in_the_script(folder, tmp_path):
    stop = (
        "-c",
        "break scripts/darrm/optimize_gamma.py:8",
        "-c",
        "continue",
        "-c",
        "p job.rule * 2",
    )
    mock = ("optimize_gamma", *POINT, "--run", "--directory", str(tmp_path))
    done = run_python(folder, "-m", "pdb", *stop, "workflow/mock_job.py", *mock)
    assert "'optimize_gammaoptimize_gamma'" in done.stdout, done.stdout + done.stderr


@pytest.mark.docs
def test_a_reader_at_a_prompt_gets_the_object(folder, root):
    page = root / "CONTRIBUTING.md"
    (lines,) = [
        block.text
        for block in blocks.read(page.read_text(encoding="utf-8"), page.name)
        if "mock_job(" in block.text
    ]
    done = run_python(folder, "-c", f"{lines}\nprint(snakemake.output)")
    assert done.stdout == "results/pate/privacy/task=digits.csv\n", done.stderr


def test_what_there_is_not_is_said_in_one_line(answers):
    for arguments, message in MISTAKES:
        status, printed, said = answers[arguments]
        assert (status, printed) == (1, ""), arguments
        assert said.splitlines()[-1].startswith(f"error: {message}"), (arguments, said)
        assert "Traceback" not in said, arguments
