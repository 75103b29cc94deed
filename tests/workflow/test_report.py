"""Snakemake's own report of a finished run: one file, with our captions and categories."""

import html
import shutil

import pytest

TINY = ("--configfile", "config/scenarios/tiny.yaml")


@pytest.mark.slow
def test_snakemake_s_own_report_has_captions_and_categories(
    finished_tiny_run, tmp_path, run_snakemake
):
    folder = shutil.copytree(finished_tiny_run, tmp_path / "run")
    done = run_snakemake(folder, "--report", "report.html", *TINY)
    assert done.returncode == 0, done.stdout + done.stderr
    page = html.unescape((folder / "report.html").read_text(encoding="utf-8"))
    for category in ("DaRRM", "Comparison", "Planner"):
        assert f'"{category}"' in page
    captions = folder / "workflow" / "report"
    for name in ("fidelity", "accuracy", "planner"):
        first = (captions / f"{name}.rst").read_text(encoding="utf-8").split("``")[0].split("*")[0]
        assert " ".join(first.split())[:40] in " ".join(page.split()), name
    assert "results/darrm/tables/table1.csv" in page
