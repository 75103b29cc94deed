"""The scale that reaches OpenDP's discrete Gaussian is the one that the account charges for."""

import numpy as np
import pytest

from private_ensembles.base import secure
from private_ensembles.base.noise_sources import SecureNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import Budget, Ensemble, Task, Wanted


@pytest.fixture
def scales(monkeypatch):
    """The scales of all measurements that OpenDP makes, in units of its lattice."""
    made, build = [], secure._gaussian.__wrapped__

    def noted(scale):
        made.append(scale)
        return build(scale)

    monkeypatch.setattr(secure, "_gaussian", noted)
    return made


# Two classes of gnmax_exact have coins in place of noise.
DRAWN = [
    *((name, classes) for name in ("gnmax", "gnmax_analytic") for classes in (2, 3)),
    ("gnmax_exact", 3),
    ("confident_gnmax", 2),
    ("confident_gnmax", 3),
]


@pytest.mark.parametrize(("name", "classes"), DRAWN)
def test_no_less_noise_is_drawn_than_is_charged(name, classes, scales):
    task = Task(Ensemble(40, classes), Budget(4.0, 1e-5), Wanted(5), secure=True)
    mechanism = load_mechanism(name)
    parameters = mechanism.calibrate(task)
    counts = np.tile(np.array([[30, 10, 0]])[:, :classes], (5, 1))
    mechanism.law.draw(counts, parameters, SecureNoise())
    charged = [
        getattr(parameters, field)
        for field in ("sigma", "sigma1", "sigma2")
        if hasattr(parameters, field)
    ]
    allowed = {sigma * unit for sigma in charged for unit in (1, secure.fine_units(sigma))}
    assert set(scales) <= allowed
    assert len(set(scales)) == len(charged)


def test_opendp_promises_what_a_scale_is_taken_for():
    """Zero-concentrated privacy of one vote that moves by one, rho = 1 / (2 sigma^2)."""
    for sigma in (0.7, 8.0, 300.0):
        rho = secure._gaussian(sigma).map(1)
        assert rho == pytest.approx(1 / (2 * sigma**2), rel=1e-12)
        assert rho >= 1 / (2 * sigma**2) * (1 - 1e-15)
