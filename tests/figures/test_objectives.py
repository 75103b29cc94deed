"""The figure of the Monte-Carlo objectives is drawn from the study's frame."""

from private_ensembles.figures.objectives import draw_objectives
from private_ensembles.papers.darrm.monte_carlo import study_objectives


def test_figure_is_drawn_with_every_series(tmp_path):
    study = study_objectives(
        11, 3, 0.1, 1e-5, draws=[100, 10_000], repetitions=2, seed=0, solver="highs"
    )
    draw_objectives(study, tmp_path / "objectives.png", tmp_path / "objectives.pdf")
    assert (tmp_path / "objectives.png").stat().st_size > 20_000
    assert (tmp_path / "objectives.pdf").read_bytes().startswith(b"%PDF")
