"""NZC's noise: the defaults are the paper's, and ties go to the first class."""

import numpy as np

from private_ensembles.papers.nzc.law import LAW, ImmutableNoise


def test_immutable_noise_is_the_papers_by_itself():
    assert ImmutableNoise() == ImmutableNoise(constant=1e100, gamma=1e10, labels=1)


def test_nzc_s_label_of_many_classes_is_the_first_of_the_largest_counts():
    histograms = np.array([[3, 1, 1], [2, 2, 1], [1, 2, 2], [0, 5, 0]])
    chances = LAW.distribution(histograms, ImmutableNoise())
    assert chances.tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]]
