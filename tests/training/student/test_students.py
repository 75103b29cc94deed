"""Students learn from released labels alone, repeat themselves, and survive being killed."""

import json
import math

import numpy as np
import pytest
import torch

from private_ensembles.training.student.ranking_metrics import roc_and_pr_auc
from private_ensembles.training.student.students import save_student, train_student
from tests.training.student.digits import digits, released

FAST = {"epochs": 3, "unlabelled_batch_size": 64, "widths": (4, 4, 4), "checkpoint_every": 1}
ONCE = FAST | {"epochs": 1}
POOL, TRUTH, UNSEEN, UNSEEN_LABELS = digits()
EVERY = np.arange(len(POOL))


def train(labels=None, method="vat", parameters=FAST, index=EVERY, pool=POOL, **more):
    labels = released() if labels is None else labels
    arguments = {"seed": 0, "path": ("student",), "pixel_max": 16} | more
    pool = pool.reshape(len(pool), -1) if method == "forest" else pool
    return train_student(method, pool, index, labels, 10, parameters, **arguments)


def weights(student):
    return torch.cat([value.flatten() for value in student.model.state_dict().values()])


@pytest.mark.slow
def test_student_learns_from_a_few_labels_and_the_pool():
    parameters = {"epochs": 25, "unlabelled_batch_size": 32, "learning_rate": 0.003}
    student = train(released(0.15), parameters=parameters)
    assert student.accuracy(UNSEEN, UNSEEN_LABELS) > 0.9
    assert student.count_correct(UNSEEN, UNSEEN_LABELS) == round(
        student.accuracy(UNSEEN, UNSEEN_LABELS) * len(UNSEEN)
    )
    scores = student.scores(UNSEEN)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("method", ["forest", pytest.param("supervised", marks=pytest.mark.slow)])
def test_student_believes_released_labels_and_nothing_else(method):
    # Labels that are wrong throughout: whoever had seen the true ones would not learn these.
    wrong = np.where(released(0.9) >= 0, (TRUTH + 1) % 10, -1)
    parameters = {"epochs": 40, "learning_rate": 0.003} if method == "supervised" else {}
    student = train(wrong, method, parameters)
    unseen = UNSEEN.reshape(len(UNSEEN), *student.input_shape)
    assert student.accuracy(unseen, (UNSEEN_LABELS + 1) % 10) > 0.9
    assert student.accuracy(unseen, UNSEEN_LABELS) < 0.1


def test_unanswered_queries_count_as_unlabelled():
    labels = released()
    answered = np.flatnonzero(labels >= 0)
    asked = train(parameters=ONCE), train(labels[answered], index=answered, parameters=ONCE)
    assert torch.equal(*map(weights, asked))


def test_same_seed_same_bits_and_other_seed_or_path_other_ones():
    one = weights(train(parameters=ONCE))
    torch.manual_seed(99)  # the process' own random state has no influence
    before = torch.random.get_rng_state()
    assert torch.equal(one, weights(train(parameters=ONCE)))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not torch.equal(one, weights(train(parameters=ONCE, seed=1)))
    assert not torch.equal(one, weights(train(parameters=ONCE, path=("other",))))


@pytest.fixture
def every_epoch_is_told(monkeypatch):
    """Progress after each epoch, which a test may be killed by; else it comes after seconds."""
    monkeypatch.setattr("private_ensembles.base.progress._EVERY", 0.0)


class Killed(Exception):
    """What happens to a job at the wrong moment."""


def killed_after(epoch):
    def progress(message):
        if message.startswith(f"{epoch} of "):
            raise Killed

    return progress


@pytest.mark.usefixtures("every_epoch_is_told")
@pytest.mark.parametrize("method", ["vat", pytest.param("supervised", marks=pytest.mark.slow)])
def test_killed_training_goes_on_to_the_same_bits(tmp_path, method):
    file = tmp_path / "checkpoint.pt"
    with pytest.raises(Killed):
        train(method=method, checkpoint=file, progress=killed_after(3))
    messages = []
    resumed = train(method=method, checkpoint=file, progress=messages.append)
    assert messages[0] == "goes on after epoch 2 of 3"
    assert "images/s" in messages[1]
    assert "0 s left" in messages[1]
    assert torch.equal(weights(resumed), weights(train(method=method)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.usefixtures("every_epoch_is_told")
def test_checkpoints_of_other_trainings_or_damaged_ones_are_not_used(tmp_path):
    file = tmp_path / "checkpoint.pt"
    with pytest.raises(Killed):
        train(checkpoint=file, progress=killed_after(2))
    whole = file.read_bytes()
    expected = weights(train(seed=1))
    assert torch.equal(expected, weights(train(seed=1, checkpoint=file)))
    for damaged in (b"nonsense", whole[:-100]):
        file.write_bytes(damaged)
        messages = []
        student = train(seed=1, checkpoint=file, progress=messages.append)
        assert messages[0].startswith("1 of 3 epochs, loss ")
        assert torch.equal(expected, weights(student))


@pytest.mark.parametrize("method", ["vat", "forest"])
def test_a_saved_student_is_the_same_student(tmp_path, method):
    student = train(method=method, parameters=FAST if method == "vat" else {"n_trees": 5})
    for name in ("one", "two"):
        save_student(tmp_path / name, student)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    content = torch.load(tmp_path / "one", weights_only=True)
    assert json.loads(content["metadata"])["method"] == method
    state = vars(student.model) if method == "forest" else student.model.state_dict()
    for name, values in content["state"].items():
        np.testing.assert_array_equal(values, state[name])


def test_one_class_alone_is_learnt_and_told():
    messages = []
    parameters = FAST | {"widths": (8, 8, 8)}
    student = train(np.full(597, 3), parameters=parameters, progress=messages.append)
    assert messages[0] == "only class 3 was released: the student knows no other"
    assert (student.scores(UNSEEN).argmax(axis=1) == 3).all()


def test_colour_images_train_and_predict():
    pool = np.random.default_rng(0).integers(0, 256, (40, 16, 16, 3)).astype(np.uint8)
    student = train_student(
        "vat", pool, np.arange(8), np.arange(8) % 2, 2, FAST | {"epochs": 1}, seed=0
    )
    assert student.scores(pool).shape == (40, 2)


def labels_with(value):
    labels = released()
    labels[5] = value
    return labels


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "gan"}, "method = 'gan': must be one of vat, supervised, forest"),
        ({"labels": np.full(597, -1)}, "answered_labels: no label was released"),
        ({"labels": labels_with(10)}, "answered_labels: must be -1 to 9"),
        ({"labels": labels_with(-2)}, "answered_labels: must be -1 to 9"),
        ({"labels": released()[:5]}, "answered_labels: 5 must be as many"),
        ({"labels": released().astype(float)}, "answered_labels: float64"),
        ({"index": EVERY + 1}, "answered_index: must be 0 to 596"),
        ({"index": EVERY // 2}, "answered_index: no query may occur twice"),
        ({"pool": POOL.astype(float)}, "images: float64"),
        ({"pool": POOL.reshape(597, 64)}, r"images: uint8 \(597, 64\)"),
        ({"pixel_max": 0}, "pixel_max = 0"),
        ({"parameters": {"epochs": 0}}, "epochs = 0: must be an integer >= 1"),
        ({"parameters": {"widths": (8, 8)}}, "widths"),
        ({"method": "forest", "parameters": {"trees": 3}}, "unknown parameter trees"),
        ({"method": "forest", "parameters": {"n_trees": 0}}, "n_trees = 0"),
        ({"parameters": FAST | {"learning_rate": 1e30}}, "the loss is nan"),
    ],
)
def test_bad_arguments_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        train(**change)


def test_inputs_and_labels_of_another_shape_are_refused():
    student = train(parameters=FAST | {"epochs": 1})
    with pytest.raises(ValueError, match=r"inputs: shape .* must be \(N, 8, 8\)"):
        student.scores(np.zeros((2, 9, 8), np.uint8))
    with pytest.raises(ValueError, match="labels: shape"):
        student.accuracy(UNSEEN, UNSEEN_LABELS[:5])


def test_memory_that_does_not_suffice_is_said_in_one_line(monkeypatch):
    def starve(*arguments, **keywords):
        raise torch.OutOfMemoryError("CUDA out of memory.\nmore")

    monkeypatch.setattr("private_ensembles.training.student.network.cross_entropy", starve)
    with pytest.raises(ValueError, match="student: out of memory on cpu; use smaller batches"):
        train()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_trains_as_well():
    parameters = {"epochs": 25, "unlabelled_batch_size": 32, "learning_rate": 0.003}
    student = train(parameters=parameters, device="cuda")
    assert student.accuracy(UNSEEN, UNSEEN_LABELS) > 0.9


def test_areas_are_the_share_of_pairs_in_order_and_the_mean_precision_at_each_hit():
    """From the definitions; levels: of the scores, most of which then have ties."""
    for seed, levels in enumerate((2, 30, 10**6)):
        source = np.random.default_rng(seed)
        labels = source.integers(0, 2, 50)
        scores = np.round((source.random(50) + 0.3 * labels) * levels) / levels
        ones, zeros = scores[labels == 1], scores[labels == 0]
        above, tied = ones[:, None] > zeros, ones[:, None] == zeros
        precision = [labels[scores >= score].mean() for score in ones]
        roc, mean_precision = roc_and_pr_auc(labels, scores)
        assert roc == pytest.approx((above + tied / 2).mean())
        assert mean_precision == pytest.approx(np.mean(precision))


def test_areas_are_scikit_learns_to_the_bit():
    from sklearn.metrics import average_precision_score, roc_auc_score

    source = np.random.default_rng(0)
    for round_number in range(60):
        labels = np.append(source.integers(0, 2, 300), [0, 1])
        scores = source.random(302) + 0.2 * labels
        if round_number % 2:
            scores = scores.round(1)
        expected = roc_auc_score(labels, scores), average_precision_score(labels, scores)
        assert roc_and_pr_auc(labels, scores) == expected


def test_perfect_reversed_and_equal_scores():
    labels = np.array([0, 0, 1, 1, 1])
    rising = np.arange(5.0)
    assert roc_and_pr_auc(labels, rising) == (1, 1)
    assert roc_and_pr_auc(labels, -rising)[0] == 0
    assert roc_and_pr_auc(labels, np.full(5, 0.3)) == (0.5, 0.6)


def test_one_label_has_no_roc_curve():
    for label in (0, 1):
        roc, precision = roc_and_pr_auc(np.full(4, label), np.arange(4.0))
        assert math.isnan(roc)
        assert precision == label
