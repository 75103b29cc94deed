"""What every rule carries, read from the rule files themselves."""

import re

import pytest
import yaml

from private_ensembles.papers.all import ALL

# What other files share, and where the repository is; no rule is in them.
SHARED = ("common", "home")
DIRECTIVES = ("message", "output", "params", "log", "script")
TARGETS = {"all", *(paper.name for paper in ALL), "audit", "report", "sweeps"}


def _files(root):
    return sorted((root / "workflow" / "rules").glob("*.smk"))


def _blocks(root):
    """Everything that begins like a rule: (room, text)."""
    for path in _files(root):
        text = path.read_text(encoding="utf-8")
        for block in re.split(r"^(?=(?:use )?rule )", text, flags=re.MULTILINE)[1:]:
            yield path.stem, block


def _rules(root):
    """Rules that jobs are made of: (room, name, text)."""
    for room, block in _blocks(root):
        found = re.match(r"rule (\w+):", block)
        if found and found[1] not in TARGETS:
            yield room, found[1], block


def _variants(root):
    """Rules that are made from another: (name, the other's name, text)."""
    for _, block in _blocks(root):
        if found := re.match(r"use rule (\w+) as (\w+) with:", block):
            yield found[2], found[1], block


def test_rules_and_scripts_lie_in_rooms_of_the_package_or_of_a_paper(root):
    package = root / "workflow" / "private_ensembles"
    rooms = {path.name for path in [*package.iterdir(), *(package / "papers").iterdir()]}
    files = {path.stem for path in _files(root)} - set(SHARED)
    assert files <= rooms
    scripts = [path for path in (root / "workflow" / "scripts").iterdir() if path.name[0] != "_"]
    assert {path.name for path in scripts} == files


def test_every_rule_has_what_a_job_needs(root):
    for _, name, block in _rules(root):
        for directive in DIRECTIVES:
            assert re.search(rf"^    {directive}:", block, re.MULTILINE), f"{name}: {directive}"
        # How long it took may tell something about the votes.
        assert ("\n    benchmark:" in block) != (name in ("apply_votes", "release_batch")), name


def test_script_log_benchmark_and_fingerprint_carry_the_name_of_the_rule(root):
    for room, name, block in _rules(root):
        assert f'"../scripts/{room}/{name}.py"' in block
        assert re.search(rf'fingerprint\(\s*"{room}/{name}\.py"', block)
        assert f'"logs/{name}/' in block
        if "    benchmark:" in block:
            assert f'"results/benchmarks/{name}/' in block
    for name, other, block in _variants(root):
        name = other if name == "train_slice" else name  # parts of one ensemble
        assert f'"logs/{name}/' in block
        if "    benchmark:" in block:
            assert f'"results/benchmarks/{name}/' in block


def test_every_script_has_a_rule_and_stays_short(root):
    names = {name for _, name, _ in _rules(root)}
    scripts = sorted((root / "workflow" / "scripts").rglob("*.py"))
    assert {script.stem for script in scripts} == names
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 60, script
        assert re.search(r"^with (files|io)\.job\(snakemake[,)].* as job:$", text, re.M), script


def test_no_rule_runs_code_of_its_own_or_asks_for_an_environment(root):
    for _, block in _blocks(root):
        assert not re.search(r"^    (run|shell|conda):", block, re.MULTILINE), block


def test_no_wildcard_may_hold_a_comma(root):
    # Snakemake hands the wildcards of a cluster job over in a list that it splits at commas.
    texts, constrained = [], 0
    for path in _files(root):
        text = path.read_text(encoding="utf-8")
        for block in re.findall(r"wildcard_constraints:\n(.*?)\n\n", text, re.DOTALL):
            texts += re.findall(r'"([^"]*)"', block)
            constrained += 1
    assert constrained >= 5
    assert len(texts) >= 10
    assert not [text for text in texts if "," in text]
    # Names come from the configuration, whose schema leaves no room for one either.
    schema = (root / "workflow/schemas/config.schema.json").read_text(encoding="utf-8")
    patterns = re.findall(r'"patternProperties": {\s*"([^"]*)"', schema)
    assert len(patterns) >= 4
    assert not [pattern for pattern in patterns if "," in pattern]


def test_captions_exist(root):
    for path in _files(root):
        text = path.read_text(encoding="utf-8")
        captions = re.findall(r'shown\(\s*"[^"]+",\s*"([^"]+)"', text)
        assert len(captions) == text.count("shown(") - text.count("def shown(")
        for caption in captions:
            assert (root / f"workflow/report/{caption}.rst").is_file(), caption


def test_every_profile_leaves_out_the_code_trigger_and_has_the_same_defaults(root):
    profiles = [root / f"profiles/{name}/config.yaml" for name in ("default", "slurm")]
    # The third goes beside these and sets a key of the configuration.
    portable = root / "profiles/portable/config.yaml"
    assert {*profiles, portable} == {*(root / "profiles").glob("*/config.yaml")}
    default, slurm = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in profiles)
    assert default["rerun-triggers"] == ["mtime", "params", "input", "software-env"]
    assert default["rerun-incomplete"] is True
    assert default["default-resources"] == {"mem_mb": "600 * 2 ** (attempt - 1)", "runtime": 30}
    for name in ("rerun-triggers", "rerun-incomplete", "default-resources", "shared-fs-usage"):
        assert slurm[name] == default[name]
    # Files up to this size are compared by their content.
    assert slurm["max-checksum-file-size"] == default["max-checksum-file-size"]


def test_times_are_whole_minutes_which_no_parser_reads_otherwise(root):
    """Snakemake makes two minutes of "90s", and YAML 86,400 of 24:00:00."""
    files = [*_files(root), *(root / "studies").glob("*/rules.smk")]
    asked = [
        value
        for path in files
        for value in re.findall(r"\bruntime ?= ?([^,\n]+)", path.read_text(encoding="utf-8"))
    ]
    assert len(asked) >= 10
    assert [value for value in asked if not value.isdigit()] == []
    for path in (root / "profiles").glob("*/*.yaml"):
        text = path.read_text(encoding="utf-8")
        for value in re.findall(r"^ *(?:max_)?runtime: *([^#\n]+)", text, re.MULTILINE):
            assert value.strip().isdigit(), path


LARGE = """
rule read:
    input: "large"
    output: "read"
    shell: "wc -c < {input} > {output}"
"""


@pytest.mark.slow
def test_a_time_stamp_reruns_nothing_whatever_the_size_of_the_file(root, tmp_path, run_snakemake):
    """Snakemake itself compares the content of files up to 1 MB only."""
    (tmp_path / "Snakefile").write_text(LARGE)
    with open(tmp_path / "large", "wb") as file:
        file.truncate(3_000_000)
    profile = ("--workflow-profile", str(root / "profiles/default"))
    assert run_snakemake(tmp_path, *profile).returncode == 0
    (tmp_path / "large").touch()
    assert "Nothing to be done" in run_snakemake(tmp_path, *profile, "-n").stdout
    with open(tmp_path / "large", "r+b") as file:
        file.write(b"other")
    assert "read" in run_snakemake(tmp_path, *profile, "-n").stdout
