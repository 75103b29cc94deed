"""The command as a whole: examples of --help run, errors are one line, JSON is for any reader."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from private_ensembles.command import (
    audit,
    compare,
    gamma,
    main,
    plan,
    release,
    session,
    verify,
)
from private_ensembles.run.check import read_yaml

SUBCOMMANDS = {
    "audit": audit,
    "verify": verify,
    "plan": plan,
    "release": release,
    "session": session,
    "gamma": gamma,
    "compare": compare,
}
AUDIT = ["audit", "examples/randomized_response.py:labels", "--teachers", "11", "--classes", "3"]
STATED = ["--shards", "disjoint"]
RELEASE = ["release", "votes.csv", "--teachers", "25", *STATED]
# Commands that say on standard error what to expect, before a label is drawn.
EXPECTING = ("release", "session")
# What the audit of a function has no use for.
HEAVY = ("torch", "opacus", "lightgbm", "gurobipy", "snakemake", "pandas", "sklearn", "matplotlib")


@pytest.fixture(scope="module")
def place(root, tmp_path_factory):
    """A folder with what the examples of --help name, shared so that one may follow another."""
    folder = tmp_path_factory.mktemp("command")
    shutil.copytree(root / "examples", folder / "examples")
    votes = np.random.default_rng(0).integers(0, 3, (12, 25)) * (np.arange(25) % 3 > 0)
    np.savetxt(folder / "votes.csv", votes, fmt="%d", delimiter=",")
    np.savetxt(folder / "counts.csv", [[1, 2, 1], [4, 0, 0]], fmt="%d", delimiter=",")
    (folder / "leaves.py").write_text("import sys\nsys.exit()\n")
    for run, accuracy in (("mine", "0.7328125"), ("theirs", "0.7328125000000001")):
        tables = folder / run / "results" / "darrm" / "tables"
        tables.mkdir(parents=True)
        (tables / "table1.csv").write_text(f"m,accuracy_mean\n1,{accuracy}\n3,0.91\n")
        (tables / "table4.csv").write_text("m,epsilon\n1,0.1\n3,0.3\n")
    return folder


@pytest.fixture
def here(place, monkeypatch):
    monkeypatch.chdir(place)
    return place


def examples(name, capsys):
    """The lines below `example:` in what --help prints."""
    with pytest.raises(SystemExit) as stopped:
        main.main([name, "--help"])
    assert stopped.value.code == 0
    _, found, lines = capsys.readouterr().out.partition("example:\n")
    assert found
    return [shlex.split(line) for line in lines.splitlines() if line.strip()]


@pytest.mark.docs
@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_examples_of_help_run_as_they_stand_and_in_json(name, here, capsys):
    shutil.rmtree(here / "results", ignore_errors=True)
    for program, *words in examples(name, capsys):
        assert program == "private-ensembles"
        if name == "verify":
            if not verify.VERIFIER.is_file():  # not there
                assert main.main(words) == 2
                assert "verify/verify.py" in capsys.readouterr().err
                return
            main.main(examples("gamma", capsys)[0][1:])
            capsys.readouterr()
        assert main.main(words) == 0
        text = capsys.readouterr()
        assert text.out
        assert text.err.startswith("expected on") if name in EXPECTING else text.err == ""
        more = ["--again"] if name == "release" else []
        for made in here.glob("*.session"):
            made.unlink()
        assert main.main([*words, *more, "--json"]) == 0
        assert isinstance(json.loads(capsys.readouterr().out), dict)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing"], "error: COMMAND = 'nothing': must be one of audit, verify, plan, release"),
        (["releases", "votes.csv"], "error: COMMAND = 'releases': did you mean release?"),
        (["session", "released"], "error: STEP = 'released': did you mean release?"),
        ([*AUDIT, "--claim", "1,0"], "error: --claim: unknown option; did you mean --claims?"),
        (["plan", "--teacher=9", "--classes", "3"], "--teacher: unknown option; did you mean --t"),
        (["plan", "-teachers", "9", "--classes", "3"], "-teachers: unknown option; did you mean -"),
        (
            ["release", "votes.csv", "--noise", "secured"],
            "error: --noise = 'secured': did you mean se",
        ),
        (["release", "votes.csv", "--noise", "0"], "--noise = '0': must be one of secure, reprod"),
        (["--verson"], "error: --verson: unknown option; did you mean --version?"),
        (["gamma", "--level=9"], "error: --level is gone: a session has noise of one scale"),
        (AUDIT[:4], "required: --classes"),
        ([*AUDIT, "--claims", "1"], "argument --claims: '1': must be EPS,DELTA"),
        ([*AUDIT, "--claims=-1,0"], "must be EPS,DELTA"),
        ([*AUDIT, "--delta", "2"], "delta = 2.0: must be in [0, 1]"),
        ([*AUDIT, "--adjacency", "replace_one"], "--adjacency: unknown option; see private-ensem"),
        ([*AUDIT, "--levels", "2"], "error: --levels is gone: a session has noise of one scale"),
        ([*AUDIT, "--resolution=9", "--levels"], "error: --resolution is gone: give one vote"),
        ([*AUDIT, "--neighbours", "swap"], "neighbours = 'swap'"),
        ([*AUDIT, "--neighbours", "private_teachers"], "needs --teacher-epsilon and --classes 2"),
        ([*AUDIT[:2], "--teachers", "0", "--classes", "3"], "error: --teachers = 0"),
        ([*AUDIT, "--relative-error", "2"], "error: --relative-error = 2.0: must be in [0, 1)"),
        (
            ["audit", "examples/randomized_response.py:draw", *AUDIT[2:], "--runs", "0"],
            "error: --runs = 0: must be an integer >= 312, 4 for each of 78 histograms, and",
        ),
        (
            ["audit", "examples/randomized_response.py:draw", *AUDIT[2:], "--confidence", "1"],
            "error: --confidence = 1.0: must be in (0, 1)",
        ),
        (["audit", "leaves.py:f", *AUDIT[2:]], "leaves.py: ends the program (sys.exit, None)"),
        (["audit", "gone.py:f", *AUDIT[2:]], "gone.py: No such file"),
        (["audit", "examples/randomized_response.py", *AUDIT[2:]], "must be FILE.py:FUNCTION"),
        (["audit", "examples/randomized_response.py:tell", *AUDIT[2:]], "it has labels, draw"),
        (["verify", "gone.json", "--verifier", __file__], "gone.json: No such file"),
        (["verify", "votes.csv", "--verifier", "gone.py"], "gone.py: is not there"),
        (["plan", "--teachers", "9", "--classes", "1", "--queries", "3"], "error: --classes = 1"),
        (
            ["plan", "--teachers", "9", "--classes", "2", "--queries", "3", "--labels", "4"],
            "error: --labels = 4: must be at most queries = 3",
        ),
        (
            ["plan", "--teachers", "9", "--classes", "2", "--queries", "3", "--mechanism", "x"],
            "mechanism = 'x': must be one of",
        ),
        (["release", "votes.csv"], "--classes = None: must be given, or say --class-names=NAME"),
        ([*RELEASE, "--classes", "2"], "is none of the classes 0 to 1"),
        (
            [*RELEASE, "--classes", "1"],
            "--classes = 1: must be an integer >= 2 and",
        ),
        (["release", "counts.csv", *RELEASE[2:], "--classes", "3"], "say --votes-kind="),
        (["gamma", "-K", "10", "-m", "3", "--epsilon", "0.1"], "K"),
        (
            ["gamma", "-K", "x", "-m", "3", "--epsilon", "0.1"],
            "argument -K: 'x': must be a whole number",
        ),
        (
            ["gamma", "-K", "1_1", "-m", "3", "--epsilon", "0.1"],
            "argument -K: '1_1': must be a whole number",
        ),
        (
            ["gamma", "-K", "11", "-m", "\u0663", "--epsilon", "0.1"],
            "argument -m: '\u0663': must be a number",
        ),
        (
            ["gamma", "-K", "5", "-m", "3", "--epsilon", "0.1", "--Delta", "2"],
            "error: --Delta = 2.0: must be in [0, 0.5)",
        ),
        ([*AUDIT, "--seed=-1"], "error: --seed = -1: must be"),
        (
            [*AUDIT, "--teacher-epsilon", "1"],
            "error: --neighbours = moved_vote: takes no --teacher",
        ),
        (
            ["audit", "examples/randomized_response.py:draw", *AUDIT[2:], "--runs", "9" * 20],
            "histograms, and <= 1,000,000,000",
        ),
        (
            ["plan", *AUDIT[2:], "--queries", "3", "--teacher-epsilon", "inf"],
            "error: --teacher-epsilon = inf: must be > 0 and <= 100",
        ),
    ],
)
def test_bad_input_is_one_line_and_status_2(words, says, here, capsys):
    try:
        status = main.main(words)
    except SystemExit as stopped:
        status = stopped.code
    shown = capsys.readouterr()
    assert status == 2
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert shown.err.count("\n") == 1
    assert says in shown.err


@pytest.mark.parametrize(("words", "shows"), [([], " release "), (["session"], " create ")])
def test_without_a_subcommand_the_help_is_printed(words, shows, capsys):
    assert main.main(words) == 0
    shown = capsys.readouterr()
    assert shows in shown.out
    assert shown.err == ""
    with pytest.raises(SystemExit):
        main.main([*words, "--help"])
    assert capsys.readouterr().out == shown.out


# Named as the things of Python, and as the parts of `own` in config.yaml.
THINGS = ("ensemble", "budget", "protection", "wanted")
GROUPS = {
    ("plan",): (*THINGS, "profile", "reading", "noise"),
    ("release",): (*THINGS, "reading", "profile", "release"),
    ("session", "create"): (*THINGS, "profile", "reading", "session"),
}
# Of a release alone, which a plan does not make.
OF_A_RELEASE = ("--anyway", "--again", "--answer", "--out", "--total-budget")


@pytest.mark.parametrize("words", GROUPS)
def test_options_stand_in_groups_in_the_order_in_which_one_needs_them(words, root, capsys):
    with pytest.raises(SystemExit):
        main.main([*words, "--help"])
    said, _, _ = capsys.readouterr().out.partition("example:\n")
    first, *groups = re.split(r"^(?=\w.*:$)", said.partition("\noptions:\n")[2], flags=re.M)
    assert re.findall(r"--[\w-]+", first) == ["--help", "--json"]
    names = [group.partition(":\n")[0] for group in groups]
    assert tuple(names) == GROUPS[words]
    own = read_yaml(root / "config.yaml")["own"]
    for name, group in zip(THINGS, groups, strict=False):
        keys = {key.lower().replace("_", "-") for key in own[name]} - {"answer", "most-ones"}
        assert keys <= set(re.findall(r"^  --([\w-]+)", group, re.M))
    for option in OF_A_RELEASE if words == ("plan",) else ():
        assert option not in said


COMMANDS = [
    ("plan",),
    ("release",),
    *[("session", step) for step in ("create", "release", "status", "extend", "export")],
    ("audit",),
    ("gamma",),
    ("verify",),
    ("compare",),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_option_says_what_it_is(words, capsys):
    with pytest.raises(SystemExit):
        main.main([*words, "--help"])
    said, _, _ = capsys.readouterr().out.partition("example:\n")
    usage, _, listed = said.partition("\n\n")
    entry = re.compile(r"^  (?:-h, )?(--[\w-]+)[^\n]*?(?:  +|\n {8,})\S", re.MULTILINE)
    assert set(re.findall(r"(?<![\w-])--[\w-]+", usage)) | {"--help"} == set(entry.findall(listed))


def start(root, *words, **options):
    """The command as a program of its own, as a shell starts it."""
    command = [sys.executable, "-m", "private_ensembles", *words]
    env = {**os.environ, "PYTHONPATH": str(root / "workflow")}
    options |= {"env": env, "stderr": subprocess.PIPE, "text": True}
    # Where the tests run in the background, Ctrl-C is ignored, and so it would be here.
    return subprocess.Popen(command, preexec_fn=_listening, **options)


def _listening():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def release(folder):
    words = [*RELEASE, "--classes", "3", "--mechanism", "gnmax_analytic"]
    return [*words, "--out", str(folder)]


def test_ctrl_c_is_one_line_and_status_130(root, tmp_path):
    ready = tmp_path / "ready"
    (tmp_path / "slow.py").write_text(
        f"import time\ndef f(counts):\n    open({str(ready)!r}, 'w').close()\n    time.sleep(60)\n"
    )
    process = start(root, "audit", f"{tmp_path}/slow.py:f", *AUDIT[2:])
    while not ready.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert said == "error: stopped by Ctrl-C\n"
    assert process.returncode == 130


@pytest.mark.parametrize("words", [[*AUDIT, "--json"], ["audit", "--help"]])
def test_a_reader_who_closes_the_pipe_changes_neither_status_nor_what_is_said(words, root, here):
    reader, writer = os.pipe()
    os.close(reader)
    process = start(root, *words, stdout=writer)
    os.close(writer)
    _, said = process.communicate(timeout=60)
    assert said == ""
    assert process.returncode == 0


def test_a_release_that_cannot_be_told_of_is_no_bad_input(root, here, tmp_path):
    with open("/dev/full", "w") as full:
        process = start(root, *release(tmp_path), stdout=full)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 3
    assert said.endswith("\nerror: standard output: No space left on device; all else is done\n")
    assert (tmp_path / "release" / "0001" / "labels.csv").is_file()


def test_what_an_audited_function_prints_is_no_part_of_the_json(root, tmp_path):
    (tmp_path / "says.py").write_text(
        "import os\nprint('loading')\n"
        "def f(counts):\n    print('asked')\n    os.system('echo by a program')\n"
        "    return (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)\n"
    )
    words = ["audit", f"{tmp_path}/says.py:f", *AUDIT[2:], "--json"]
    process = start(root, *words, stdout=subprocess.PIPE)
    shown, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(shown)["classes"] == 3
    assert sorted(said.splitlines()) == ["asked", "by a program", "loading"]


@pytest.mark.docs
def test_every_example_of_help_is_on_the_page(root):
    """There `tests/test_blocks.py` runs it, and compares what it prints."""
    page = (root / "docs" / "command.md").read_text(encoding="utf-8")
    shown = [shlex.split(line) for line in re.findall(r"^\$ (.*)$", page, re.MULTILINE)]
    for module in SUBCOMMANDS.values():
        for example in module.EXAMPLES:
            assert shlex.split(example) in shown


# Stands before the package, and refuses what an audit must not need.
REFUSES = """
import sys

class Refusal:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HEAVY:
            raise ImportError(f"{name} is not to be imported")

HEAVY = %r
sys.meta_path.insert(0, Refusal())
from private_ensembles.command.main import main
status = main(%r)
print("LOADED", sorted(set(HEAVY) & set(sys.modules)))
sys.exit(status)
"""


def test_an_audit_needs_no_heavy_library(root):
    done = subprocess.run(
        [sys.executable, "-c", REFUSES % (HEAVY, AUDIT)],
        env={**os.environ, "PYTHONPATH": str(root / "workflow")},
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "LOADED []" in done.stdout


def test_a_reader_who_closes_standard_error_too_changes_nothing(root, here, tmp_path):
    """As `release ... 2>&1 | head -1` does; what is in a buffer then must not fail at the end."""
    reader, writer = os.pipe()
    os.close(reader)
    env = {**os.environ, "PYTHONPATH": str(root / "workflow")}
    env.pop("PYTHONUNBUFFERED", None)  # without it, standard error has a buffer
    statuses = []
    for words in (release(tmp_path), ["release", "missing.csv", *RELEASE[2:]]):
        command = [sys.executable, "-m", "private_ensembles", *words]
        done = subprocess.run(command, stdout=writer, stderr=writer, env=env, check=False)
        statuses.append(done.returncode)
    os.close(writer)
    assert statuses == [0, 2]
    assert (tmp_path / "release" / "0001" / "labels.csv").is_file()
    assert (tmp_path / "ledger.sqlite").exists()
