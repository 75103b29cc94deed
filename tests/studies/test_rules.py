"""What every study carries, read from its folder, and a plan of those without papers' data."""

import re

import yaml

from private_ensembles.run.fingerprint import closure


def _studies(root):
    return sorted(path.parent for path in (root / "studies").glob("*/rules.smk"))


def test_every_study_has_its_script_caption_heading_and_row(root):
    (section,) = yaml.safe_load((root / "studies/sections.yaml").read_text(encoding="utf-8"))
    captions = {item["caption"] for item in section["items"]}
    readme = (root / "studies/README.md").read_text(encoding="utf-8")
    snakefile = (root / "studies/Snakefile").read_text(encoding="utf-8")
    studies = _studies(root)
    assert {f"{study.name}/caption" for study in studies} == captions
    for study in studies:
        assert (study / "caption.rst").is_file()
        assert f"\n| `{study.name}` | " in readme
        assert f'include: "{study.name}/rules.smk"' in snakefile


def test_studies_are_planned_by_a_snakefile_of_their_own(copy_workflow, planned, tmp_path):
    tiny = "--snakefile", "studies/Snakefile", "--configfile", "tests/config/tiny_studies.yaml"
    plan = planned(copy_workflow(tmp_path / "workflow"), *tiny)
    asked = {"study_best_label", "compare_equal_budgets", "train_interactive_students"}
    assert asked | {"study_many_labels", "studies"} <= set(plan)


def test_the_authors_votes_come_from_a_mirror_and_nothing_else_is_needed(
    copy_workflow, planned, tmp_path
):
    folder = tmp_path / "mirror" / "pate-2018-votes"
    folder.mkdir(parents=True)
    (folder / "mnist_250_teachers_labels.npy").touch()
    plan = planned(
        copy_workflow(tmp_path / "workflow"),
        "--snakefile",
        "studies/Snakefile",
        "--config",
        "data=paper",
        f"data_mirror={folder.parent}",
        "--",
        "results/studies/tables/authors_votes.csv",
    )
    assert set(plan) == {"download_authors_votes", "account_authors_votes"}


def test_script_log_benchmark_and_fingerprint_carry_the_name_of_the_rule(root):
    for study in _studies(root):
        text = (study / "rules.smk").read_text(encoding="utf-8")
        for block in re.split(r"^(?=rule )", text, flags=re.MULTILINE)[1:]:
            name = re.match(r"rule (\w+):", block)[1]
            script = (study / f"{name}.py").read_text(encoding="utf-8")
            assert f'script:\n        "{name}.py"' in block
            assert f'fingerprint("{study.name}/{name}.py"' in block
            assert f'"logs/{name}/' in block
            assert f'"results/benchmarks/{name}/' in block
            assert len(script.splitlines()) <= 60
            assert any(
                module.startswith(f"studies.{study.name}")
                for module in closure(study / f"{name}.py")
            )


def test_the_package_and_the_workflow_know_no_study(root):
    for path in (root / "workflow").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) studies\b", path.read_text(encoding="utf-8"), re.M)
