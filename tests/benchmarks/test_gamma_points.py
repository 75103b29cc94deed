"""The hard points are measured and shown, and which corners are not."""

from benchmarks import gamma_points

CORNERS = tuple((11, m, 0.1, 1e-5, gamma_points.COMMON) for m in (2, 4, 6))


def test_points_are_certified_and_what_is_missing_is_counted(toy):
    with toy(gamma_points, CORNERS=CORNERS, OTHERS=(), QUICK=CORNERS[:1]):
        data = gamma_points.measure()
        assert data["m"].tolist() == [2, 4, 6]
        assert data["certified"].all()
        assert (data["gap"] < 1e-6).all()
        section = gamma_points.section(data)
        assert "3 of the 3 corners" in section
        assert "| 11 | 6 | 0.1 | 1e-05 | common:0.5,1 |" in section
        assert "1 of the 3 corners" in gamma_points.section(gamma_points.measure(quick=True))
