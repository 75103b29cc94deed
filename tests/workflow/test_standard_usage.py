"""The standard usage of the workflow catalogue: github(...) in the folder that snakedeploy writes.

No network: git takes https://github.com/ for a folder of this machine, and all else is as it is.
"""

import functools
import http.server
import json
import re
import shutil
import subprocess
import threading

import pytest
import yaml

import private_ensembles

from . import comparison
from .test_import import GAMMA

ADDRESS = "https://github.com/owner/private-ensembles"
TAG = f"v{private_ensembles.__version__}"
# What snakedeploy 0.17.1 writes into workflow/Snakefile; a test compares where that is installed.
DEPLOYED = f"""from snakemake.utils import min_version


min_version("6.10.0")


configfile: "config/config.yaml"


# declare {ADDRESS} as a module
module private_ensembles:
    snakefile: 
        github("owner/private-ensembles", path="workflow/Snakefile", tag="{TAG}")
    config:
        config


# use all rules from {ADDRESS}
use rule * from private_ensembles
"""  # noqa: W291
OF_GITHUB = f'github("owner/private-ensembles", path="workflow/Snakefile", tag="{TAG}")'


@pytest.fixture(scope="module")
def hosted(tmp_path_factory, copy_workflow, root):
    """The repository as it is on the host, tagged with its version; its folder and its commit."""
    folder = copy_workflow(tmp_path_factory.mktemp("host") / "owner" / "private-ensembles")
    for name in ("LICENSE", ".gitignore"):
        shutil.copy(root / name, folder)
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"], ["tag", TAG]):
        subprocess.run([*git, *command], check=True)
    done = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return folder, done.stdout.strip()


@pytest.fixture(scope="module")
def network(hosted, tmp_path_factory):
    """Variables with which git finds the host on this machine, and a cache that is empty."""
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{hosted[0].parents[1]}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
        "GITHUB_TOKEN": "",  # would be a part of the address
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
    }


@pytest.fixture
def deployed(root, tmp_path):
    """A folder as snakedeploy writes it."""
    folder = tmp_path / "deployed"
    (folder / "workflow").mkdir(parents=True)
    (folder / "workflow" / "Snakefile").write_text(DEPLOYED)
    for name in ("config", "profiles"):
        shutil.copytree(root / name, folder / name)
    shutil.copy(root / "LICENSE", folder)
    return folder


def configure(folder, root, **more):
    tiny = yaml.safe_load((root / "config" / "scenarios" / "tiny.yaml").read_text())
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(tiny | more))


def test_rules_of_a_tag_run_where_nothing_but_the_address_is_known(
    deployed, network, hosted, root, run_snakemake, planned
):
    configure(deployed, root)
    done = run_snakemake(deployed, "--cores", "1", "--", GAMMA, **network)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((deployed / GAMMA).read_text())["K"] == 5
    record = deployed / f"{GAMMA}.json".replace("results/", "results/provenance/")
    assert json.loads(record.read_text())["revision"] == hosted[1]
    # Nothing is written beside it, and what was fetched lies in Snakemake's cache alone.
    made = {path.name for path in deployed.iterdir()}
    assert made == {"workflow", "config", "profiles", "LICENSE", "results", "logs", ".snakemake"}
    again = run_snakemake(deployed, "--cores", "1", "-n", "--", GAMMA, **network)
    assert "Nothing to be done" in again.stdout + again.stderr


@pytest.mark.slow
def test_the_configuration_that_snakedeploy_copies_plans_what_a_clone_does(
    deployed, network, hosted, root, run_snakemake
):
    """Without a target: the default one is the module's."""

    def rules(folder, **variables):
        done = run_snakemake(folder, "--cores", "1", "-n", "--quiet", "rules", **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = done.stdout.split("Job stats:", 1)[1].split("\n\n")[0].splitlines()[3:]
        found = dict(line.split() for line in lines if line.split())
        return {name: found[name] for name in found.keys() - {"all", "default", "total"}}

    assert rules(deployed, **network) == rules(hosted[0])


@pytest.mark.slow
def test_the_tiny_configuration_ends_in_the_results_of_a_clone(
    deployed, network, root, run_snakemake, finished_tiny_run
):
    configure(deployed, root)
    done = run_snakemake(deployed, "--cores", "1", **network)
    assert done.returncode == 0, done.stdout + done.stderr
    one, two = comparison.contents(deployed), comparison.contents(finished_tiny_run)
    assert one.keys() == two.keys()
    # The revision, of which a copy without git knows nothing, is inside teachers, votes and gammas.
    inside = ("teachers/", "votes/", "darrm/gamma/")
    differing = comparison.differences(one, two)
    assert [name for name in differing if not name.startswith(inside)] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        OF_GITHUB.replace(f'tag="{TAG}"', 'commit="{commit}"'),
        f'gitfile("{{repository}}", path="workflow/Snakefile", tag="{TAG}")',
        f'"git+file://{{repository}}/workflow/Snakefile@{TAG}"',
    ],
    ids=["commit", "gitfile", "git+file"],
)
def test_other_ways_to_name_a_repository_bring_the_package_along(
    deployed, network, hosted, root, planned, source
):
    source = source.format(repository=hosted[0], commit=hosted[1])
    (deployed / "workflow" / "Snakefile").write_text(DEPLOYED.replace(OF_GITHUB, source))
    configure(deployed, root)
    assert planned(deployed, "--cores", "1", "--", GAMMA, **network) == {"optimize_gamma": 1}


@pytest.mark.slow
def test_the_snakefile_of_the_guide_plans_what_it_says(network, hosted, root, tmp_path, planned):
    """With a clone beside it, as printed, and with a tag of a host."""
    page = (root / "docs/import.md").read_text(encoding="utf-8")
    of_clone, of_tag = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert OF_GITHUB.replace("owner/", "OWNER/") in of_tag
    named = '    snakefile:\n        "../private-ensembles/workflow/Snakefile"\n'
    assert named in of_clone
    (tmp_path / "private-ensembles").symlink_to(hosted[0])
    for number, text in enumerate((of_clone, of_clone.replace(named, of_tag))):
        mine = tmp_path / str(number)
        mine.mkdir()
        (mine / "Snakefile").write_text(text.replace("OWNER/", "owner/"))
        jobs = planned(mine, "--cores", "1", **network)
        assert jobs["summarise"] == jobs["pe_tabulate_label_accuracy"] == 1
        assert not [name for name in jobs if name != "summarise" and not name.startswith("pe_")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "message"),
    [
        (OF_GITHUB.replace("workflow/", ""), "is not on this machine, where jobs import the pa"),
        ('"http://localhost:{port}/workflow/Snakefile"', "is one file of an address, and jobs "),
    ],
    ids=["the Snakefile above", "an address of files"],
)
def test_what_cannot_bring_the_package_along_is_refused_in_one_line(
    deployed, network, hosted, run_snakemake, source, message
):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=hosted[0])
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        source = source.format(port=server.server_port)
        (deployed / "workflow" / "Snakefile").write_text(DEPLOYED.replace(OF_GITHUB, source))
        done = run_snakemake(deployed, "--cores", "1", "-n", **network)
        server.shutdown()
    assert done.returncode != 0
    (line,) = (line for line in (done.stdout + done.stderr).splitlines() if "error: " in line)
    assert message in line


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("snakedeploy") is None, reason="snakedeploy is not installed")
def test_the_folder_is_what_snakedeploy_writes(deployed, network, tmp_path):
    command = ["snakedeploy", "deploy-workflow", ADDRESS, tmp_path / "theirs", "--tag", TAG]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in network.items():
            patch.setenv(name, value)
        subprocess.run(command, check=True, capture_output=True)

    def files(folder):
        paths = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder): path.read_text().rstrip() for path in paths}

    assert files(tmp_path / "theirs") == files(deployed)
