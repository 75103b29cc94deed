"""The benchmark of one label of many votes: mechanisms below the bound, on a page."""

from benchmarks import best_label


def test_no_mechanism_is_above_the_bound_and_the_best_is_bold():
    data = best_label.measure(quick=True)
    chances = data[list(best_label.NAMES)]
    # Five hundred queries: three standard deviations of a mean.
    assert (chances.max(axis=1) < data["bound"] + 0.05).all()
    assert (chances["optimal_label"] > chances["permute_and_flip"]).all()
    page = best_label.page(data)
    assert f"| **{chances['optimal_label'].iloc[0]:.4f}** | {data['bound'].iloc[0]:.4f} |" in page
