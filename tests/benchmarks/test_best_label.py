"""The benchmark of one label of many votes: mechanisms below the bound, in a section."""

from benchmarks import best_label


def test_no_mechanism_is_above_the_bound():
    data = best_label.measure(quick=True)
    chances = data[list(best_label.NAMES)]
    # Five hundred queries: three standard deviations of a mean.
    assert (chances.max(axis=1) < data["bound"] + 0.05).all()
    assert (chances["optimal_label"] > chances["permute_and_flip"]).all()
    best, bound = chances["optimal_label"].iloc[0], data["bound"].iloc[0]
    assert f"| {best:.4f} | {bound:.4f} | {bound - best:.4f} |" in best_label.section(data)
