"""Every place that draws noise for privacy's sake is audited empirically, and so is its twin.

PRIVATE names the audit of each sampler, OTHER says why a draw needs none. Whoever adds a draw must
add it to one of them, and a sampler needs a test: that its draws keep to what is proven, and that a
twin with half the noise does not.
"""

import ast
import importlib
import math

import numpy as np
import pytest
import torch
from scipy.stats import chi2

from private_ensembles.audit import epsilon_lower_bound, exact_epsilon, two_class_matrix
from private_ensembles.audit.sampler import clopper_pearson
from private_ensembles.base.noise_sources import SecureNoise
from private_ensembles.base.streams import generator
from private_ensembles.labels import registry
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.training.teachers.dpsgd import draw_poisson_batch, train_private_ensemble
from private_ensembles.training.teachers.sharded_records import ShardedRecords
from private_ensembles.training.teachers.sources import SecureTensors, SeededTensors
from private_ensembles.training.teachers.training import PrivateTraining
from studies.interactive_students.rounds import interactive_gnmax

# What draws random numbers: all that NumPy's generators do, and what is not of theirs.
DRAWS = {name for name in dir(np.random.Generator) if not name.startswith("_")} | {
    *("choices", "fill_normal", "normal_", "randbelow", "randbits", "token_bytes", "urandom"),
    *("rand", "randint", "randn", "randperm", "then_gaussian"),
}
# Names of PATE's and DaRRM's as well, which count on generators only.
AMBIGUOUS = ("beta", "gamma")
HERE, SAMPLERS = f"{__name__}:", "tests.claims.test_samplers:"
AUDITED = f"{SAMPLERS}test_draws_keep_to_the_audit_and_with_half_the_noise_they_do_not"
SECURE = f"{SAMPLERS}test_real_secure_draws_follow_the_law_and_with_half_the_noise_they_do_not"
SECURE_THRESHOLDS = f"{HERE}test_thresholds_of_students_with_secure_noise"
SCORES = "tests.base.test_softmax:test_secure_draws_keep_to_the_range_and_a_twin_does_not"
DPSGD = f"{HERE}test_a_step_of_dp_sgd"
BATCHES = f"{HERE}test_batches_hold_a_record_at_its_rate"
PRIVATE = {
    "labels/laws/checked.py check_and_label": AUDITED,
    "papers/dpbag/law.py release": AUDITED,
    "papers/darrm/law.py release": AUDITED,
    "labels/laws/laplace.py lnmax": AUDITED,
    "papers/nzc/mathematics/mechanism.py immutable_noisy_argmax": AUDITED,
    "base/noise_sources.py SeededNoise.add_gaussian": AUDITED,
    "base/noise_sources.py SeededNoise.subsets": AUDITED,
    "base/secure.py draw_bernoulli": SECURE,
    "base/secure.py fair_bits": SECURE,
    "base/secure.py argmax_fair_ties": SECURE,
    "base/secure.py choose_uniformly": SECURE,
    "base/secure.py _gaussian": SECURE_THRESHOLDS,
    "base/secure.py uniform": DPSGD,
    "base/noise_sources.py SeededNoise.bits": SCORES,
    "base/noise_sources.py SecureNoise.bits": SCORES,
    "training/teachers/dpsgd.py draw_poisson_batch": BATCHES,
    "training/teachers/dpsgd.py train_private_teacher": DPSGD,
    "training/teachers/dpsgd.py _Noise.__call__.fill": DPSGD,
    "training/teachers/sources.py SecureTensors.fill_normal": DPSGD,
    "training/teachers/sources.py SecureTensors.normal": DPSGD,
    "training/teachers/sources.py SecureTensors.uniform": BATCHES,
    "training/teachers/sources.py SeededTensors.fill_normal": DPSGD,
    "training/teachers/sources.py SeededTensors.normal": DPSGD,
    "training/teachers/sources.py SeededTensors.uniform": BATCHES,
}
PUBLIC = "which records or queries: public"
SIMULATED = "simulates data or an estimate; nothing private goes in"
TRAINING = "trains on what is released already, or makes no privacy claim"
LOT = "breaks ties: no claim rests on it"
STAND_IN = "the audit's stand-in for votes of private teachers"
OTHER = {
    "base/noise_sources.py SeededNoise.argmax_fair_ties": LOT,
    "base/streams.py system_generator": "a seed; whoever draws with it is listed",
    "papers/dpbag/experiment.py split_thirds": PUBLIC,
    "audit/audited_labels.py DecidingTeacherLabel.draw": STAND_IN,
    "audit/audited_labels.py SharedDataLabel.draw": STAND_IN,
    "papers/darrm/monte_carlo.py algorithm_4_draws": SIMULATED,
    "papers/darrm/monte_carlo.py algorithm_5_draws": SIMULATED,
    "papers/darrm/mathematics/objective.py uniform_points": SIMULATED,
    "training/data/prepare.py split_indices": PUBLIC,
    "training/teachers/record_gradients.py require_opacus_gradients": SIMULATED,
    "adversaries/attacks.py Attacks.run_attacks": PUBLIC,
    "adversaries/attacks.py natural_records": PUBLIC,
    "training/data/shards.py cut_shards": PUBLIC,
    "training/data/shards.py permutation_shards": PUBLIC,
    "papers/darrm/experiment.py release_labels": PUBLIC,
    "papers/pate/experiment.py draw_queries": PUBLIC,
    "papers/pate/experiment.py simulate_student_scores": SIMULATED,
    "training/student/network.py distort": TRAINING,
    "training/student/network.py _Run._batches": TRAINING,
    "training/student/virtual_adversarial.py adversarial_perturbation": TRAINING,
    "labels/profile.py _draw_dirichlet": SIMULATED,
    "labels/profile.py _draw_queries": SIMULATED,
    "labels/profile.py synthetic_counts.count": SIMULATED,
    "labels/profile.py synthetic_counts": SIMULATED,
    "training/teachers/plain.py train_plain_teacher": TRAINING,
    "training/teachers/sources.py SeededTensors.permutation": TRAINING,
    "training/teachers/plain.py _draw_epoch_batches": TRAINING,
    "gan_student/comparison.py compare": PUBLIC,
    "gan_student/gan.py Discriminator.features.noisy": TRAINING,
    "gan_student/gan.py WeightNormLinear.__init__": TRAINING,
    "gan_student/gan.py train_gan": TRAINING,
    "gan_student/gan.py train_gan.generate_images": TRAINING,
    "gan_student/gan.py train_gan.discriminate": TRAINING,
}
DELTA = 1e-3
# Each bound fails with at most this probability on correct code; some forty are computed.
SURE = {"confidence": 1 - 1e-6}


def drawing(folder):
    """Functions that call one of DRAWS, as "file function"."""
    found = set()

    def visit(node, file, name):
        for child in ast.iter_child_nodes(node):
            own = name
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                own = f"{name}.{child.name}".lstrip(".")
            if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute):
                owner, what = ast.unparse(child.func.value), child.func.attr
                if what in DRAWS and not (what in AMBIGUOUS and "generator" not in owner):
                    found.add(f"{file} {own}")
            visit(child, file, own)

    for path in folder.rglob("*.py"):
        visit(ast.parse(path.read_text(encoding="utf-8")), path.relative_to(folder).as_posix(), "")
    return found


def belongs_to_mechanism(drawn):
    """Whether the law of a mechanism draws: the tests of all mechanisms (AUDITED) cover these."""
    modules = {entry.law.rpartition(".")[0] for entry in registry.ENTRIES}
    return drawn.split()[0] in {f"{module.replace('.', '/')}.py" for module in modules}


def test_every_draw_is_audited_or_needs_none(root):
    found = drawing(root / "workflow/private_ensembles") | drawing(root / "studies")
    assert found == set(PRIVATE) | set(OTHER) | set(filter(belongs_to_mechanism, found))
    assert not set(PRIVATE) & set(OTHER)


def test_the_audits_named_are_there():
    for where in set(PRIVATE.values()):
        module, _, name = where.partition(":")
        assert callable(getattr(importlib.import_module(module), name)), where


def lower(sample, pair, labels, runs, *path, delta=DELTA):
    return epsilon_lower_bound(
        sample,
        *pair,
        delta,
        labels=labels,
        runs=runs,
        generator=generator(0, "audit", *path),
        **SURE,
    ).value


def test_thresholds_of_students_with_secure_noise():
    """Whether a query is answered, with discrete noise; labels are those of `plurality`."""
    sigma, counts = 2.0, np.array([[5, 2, 2], [4, 3, 2]])
    scores = np.tile([1 / 3, 1 / 3, 1 / 3], (2, 1))  # expects three votes for every class
    x = np.arange(-60, 61)
    weights = np.exp(-(x**2) / (2 * sigma**2))
    passes = [weights[top - 3 + x >= 3].sum() / weights.sum() for top in counts.max(axis=1)]
    honest = exact_epsilon(two_class_matrix(passes), [(0, 1)], DELTA, relative_error=1e-12)

    def sampler(factor):
        def sample(votes, runs, _):
            votes, noise = np.tile(votes, (runs, 1)), CheckedNoise(3, factor * sigma, 1.0)
            student = np.broadcast_to(scores[0], votes.shape)
            return interactive_gnmax(votes, student, 0.5, noise, SecureNoise())[0] >= 0

        return sample

    assert 0 < lower(sampler(1.0), counts, (0, 1), 3000, "interactive") <= honest
    assert lower(sampler(0.5), counts, (0, 1), 3000, "interactive", "twin") > honest


@pytest.mark.parametrize("noise", ["reproducible", "secure"])
def test_a_step_of_dp_sgd(noise):
    """Sums of clipped gradients get noise of sigma norms: a fifth less is seen, by its law."""
    norm, sigma, runs = 0.1, 4.0, 300
    # All of a blank image's gradient is the bias'.
    images = torch.zeros((2, 1, 1), dtype=torch.uint8)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(1, 2))
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)

    def draws(multiplier):
        """Noise in norms, along the gradient of either label and across it."""
        found = []
        for label in (0, 1):
            sampling, noises = [SecureTensors()] * runs, [SecureTensors()] * runs
            if noise == "reproducible":
                seeds = generator(0, "audit", "dp-sgd", str(label)).integers(0, 2**62, (2, runs))
                sampling, noises = ([SeededTensors(int(s)) for s in row] for row in seeds)
            states = train_private_ensemble(
                [model] * runs,
                ShardedRecords(
                    images,
                    torch.tensor([0, 1]),
                    [torch.tensor([label])] * runs,
                    pixel_max=255,
                    n_classes=2,
                ),
                PrivateTraining(multiplier, norm, batch_size=1, epochs=1, learning_rate=1.0),
                sampling=sampling,
                noise=noises,
            )
            biases = torch.stack([state["1.bias"] for state in states]).numpy() / norm
            along = (biases[:, 0] - biases[:, 1]) / math.sqrt(2) - (1 - 2 * label)
            found += [along, biases.sum(axis=1) / math.sqrt(2)]
        return np.concatenate(found)

    # So many are outside once in 1e9 times, and with a fifth less noise inside once in 1e6.
    ends = chi2.ppf(1e-9, 4 * runs), chi2.isf(1e-9, 4 * runs)
    assert chi2.cdf(ends[0] / 0.8**2, 4 * runs) > 1 - 1e-6
    honest, twin = (np.square(draws(factor * sigma) / sigma).sum() for factor in (1.0, 0.8))
    assert ends[0] <= honest <= ends[1]
    assert twin < ends[0]


@pytest.mark.parametrize("noise", ["reproducible", "secure"])
def test_batches_hold_a_record_at_its_rate(noise):
    stream = SeededTensors(1) if noise == "reproducible" else SecureTensors()
    runs, rate = 200_000, 1 / 32
    drawn = len(draw_poisson_batch(runs, rate, stream))
    low, high = clopper_pearson(drawn, runs, 1e-6)
    assert low <= rate <= high
    twin = len(draw_poisson_batch(runs, 2 * rate, stream))
    assert clopper_pearson(twin, runs, 1e-6)[0] > rate
