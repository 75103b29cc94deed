"""The figure of the study of the best label, byte for byte the same."""

import functools

import numpy as np
import pandas as pd

from private_ensembles.figures.best_label import DRAWN, draw

from .twice import assert_equal_bytes

STUDY = pd.DataFrame(
    [
        (name, name.upper(), epsilon, labels, stated, accuracy, 0.1 + 0.2 * epsilon / labels)
        for epsilon, labels in ((0.5, 1), (1.0, 1), (1.0, 10))
        for name in (*DRAWN, "lnmax_pure")
        for accuracy in (0.5, 0.8)
        for stated in ((0.5, 0.8) if name == "optimal_label" else (np.nan,))
    ],
    columns=["mechanism", "name", "epsilon", "labels", "stated", "accuracy", "right"],
).assign(teachers=11, n_classes=10, delta=1e-5)


def test_the_figure_is_drawn_byte_for_byte_equal(tmp_path):
    assert_equal_bytes(functools.partial(draw, STUDY), tmp_path, least=5000)


def test_labels_that_were_told_another_accuracy_are_dots(tmp_path):
    draw(STUDY, tmp_path / "with.png")
    draw(
        STUDY[STUDY["stated"].isna() | (STUDY["stated"] == STUDY["accuracy"])], tmp_path / "no.png"
    )
    assert (tmp_path / "with.png").read_bytes() != (tmp_path / "no.png").read_bytes()
