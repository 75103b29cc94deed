"""The figure of the Monte-Carlo objectives is drawn from the study's frame."""

from private_ensembles.papers.darrm.monte_carlo import study_objectives
from private_ensembles.papers.darrm.objectives_figure import draw_objectives


def test_figure_is_drawn_with_every_series(drawn):
    study = study_objectives(
        11, 3, 0.1, 1e-5, draws=[100, 1000], repetitions=2, seed=0, solver="highs"
    )
    draw_objectives(study)
    (legend,) = drawn[0].legends
    assert len(legend.get_texts()) == 4
    for axis in drawn[0].axes:
        sampled = [line for line in axis.lines if line.get_label().startswith("Algorithm")]
        assert [line.get_xdata().tolist() for line in sampled] == [[100, 1000]] * 4
