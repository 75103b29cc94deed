"""One look for every name, and no format that is not byte-stable."""

import pytest

from private_ensembles.labels import registry
from private_ensembles.papers.common import style
from private_ensembles.papers.darrm.figures import BOUND, FAMILIES, PRIOR_FAMILIES


def test_an_unknown_format_is_refused(tmp_path):
    with style.open_figure(size=(1, 1)) as (drawn, _), pytest.raises(ValueError, match="suffix"):
        style.save_figure(drawn, tmp_path / "a.bmp")


def test_words_in_any_colour_can_be_read():
    colours = [look["color"] for look in (*style.LOOKS.values(), *style.SEQUENCE)]
    for colour in (*style.COLORS.values(), *colours):
        assert style._contrast(style.darken_for_text(colour)) >= 4.5  # WCAG 2.1, AA
    assert style._contrast(style.darken_for_text("#ffffff")) == pytest.approx(4.5, rel=0.1)


def test_every_mechanism_has_one_look_and_no_two_share_it():
    entries = registry.entries()
    # The list alone says how a mechanism looks and what it is called.
    assert not set(entries) & {*style.LOOKS, *style.LABELS}
    looks = [tuple(style.line_style(name).values()) for name in entries]
    for entry, look in zip(entries.values(), looks, strict=True):
        assert look == (style.COLORS[entry.plot_style[0]], *entry.plot_style[1:])
    assert len(set(looks)) == len(looks)
    # In grey the mark alone must tell them apart.
    assert len({look[1] for look in looks}) == len(looks)
    assert style.line_style("gamma_opt") == style.line_style("darrm_opt")
    assert style.line_style("confident") == style.line_style("confident_gnmax")


def test_no_two_gamma_families_of_one_figure_share_a_colour():
    for families in ((*FAMILIES, BOUND), PRIOR_FAMILIES):
        assert set(families) <= {*style.LOOKS, *style._SAME}
        assert set(families) <= set(style.LABELS)
        assert len({style.line_style(name)["color"] for name in families}) == len(families)
