"""Students of bagged teachers: trained on noisy labels until the budget is spent, then tested."""

from dataclasses import replace

import numpy as np

from private_ensembles.base.streams import generator
from private_ensembles.papers.dpbag.experiment import noise_of
from private_ensembles.papers.dpbag.law import release
from private_ensembles.papers.dpbag.tables import METRICS
from private_ensembles.training.student.ranking_metrics import roc_and_pr_auc
from private_ensembles.training.teachers import boosted_trees


def student_metrics(features, labels, test, model, training):
    """Train a student on labelled queries and measure it on the test third.

    The student is of its teachers' kind.

    Args:
        features: (queries, features) float64, those that it may know.
        labels: (queries,), their labels.
        test: features and labels of the test third.
        model: its kind.
        training: the model's settings.

    Returns:
        METRICS as floats. With no label there is no student: all are NaN. With one class only, the
        student says that class everywhere.
    """
    if not len(labels):
        return dict.fromkeys(METRICS, np.nan)
    if labels.min() == labels.max():
        scores = np.full(len(test[1]), float(labels[0]))
    elif model == "logistic":
        from private_ensembles.training.teachers.logistic import fit_shards

        student = fit_shards(features, labels, np.arange(len(labels))[None], features, **training)
        margins = test[0] @ student.coefficients[0] + student.intercepts[0]
        scores = 0.5 * np.tanh(margins / 2) + 0.5
    else:
        scores = boosted_trees.scores(boosted_trees.fit(features, labels, training), test[0])
    accuracy = float(((scores > 0.5) == test[1]).mean())
    return dict(zip(METRICS, (accuracy, *roc_and_pr_auc(test[1], scores)), strict=True))


def train_students(thirds, model, training, settings, accounts, seed, path, progress=None):
    """Train and test every student of one model and split: SAA, DPBag, DPBag- and NPB.

    The noise of one (n, k, draw) is the same for every budget and for DPBag and DPBag-, which
    differ in how many of its labels they may use: as many as are `releasable`. Students are not
    part of any claim: the number of labels of DPBag is a function of the votes.

    Args:
        thirds: the data.
        model: the kind of teachers and students.
        training: the model's settings.
        settings: those of `experiment.account_labels`, and draws (of the noise).
        accounts: n -> (rows, arrays), as `experiment.account_labels` returns them.
        seed: the noise is drawn under it at `path`.
        path: names of the stream.
        progress: is called with a line of text.

    Returns:
        Rows: method, n, k, epsilon, delta, plain_epsilon, draw, labels, label_accuracy and METRICS.
    """
    if model == "boosted_trees":
        # Metrics do not depend on the order of the records.
        features, order = boosted_trees.sort_for_prediction(thirds.test[0])
        thirds = replace(thirds, test=(features, thirds.test[1][order]))
    rows = [_baseline(thirds, model, training)]
    for n, (counts, arrays) in accounts.items():
        noise = noise_of(settings, n)
        for size_index, k in enumerate(int(size) for size in arrays["k"]):
            ones = arrays["ones"][size_index]
            for draw in range(settings["draws"]):
                source = generator(seed, *path, "noise", n, k, draw)
                labels = release(ones, n, k, noise, source)
                for method, count in _methods(counts, k):
                    row = {"method": method, "n": n, "k": k, "draw": draw}
                    for name in ("epsilon", "delta", "plain_epsilon"):
                        row[name] = count[name]
                    # A file that has rows without it holds floats.
                    used = min(int(count["releasable"]), len(labels))
                    rows.append(row | _evaluate_student(thirds, labels[:used], model, training))
            if progress is not None:
                progress(f"n = {n}, k = {k}: {len(rows)} students")
    return rows


def _methods(counts, k):
    """Return (method, row of the label count) of what k partitions serve."""
    independent = [row for row in counts if row["accounting"] == "data_independent"]
    if k == 1:
        return [("saa", row) for row in independent]
    personalised = [row for row in counts if row["accounting"] == "personalised" and row["k"] == k]
    return [("dpbag", row) for row in personalised] + [("dpbag_minus", row) for row in independent]


def _evaluate_student(thirds, labels, model, training):
    features, truth = thirds.queries
    features, truth = features[: len(labels)], truth[: len(labels)]
    label_accuracy = float((labels == truth).mean()) if len(labels) else np.nan
    facts = {"labels": len(labels), "label_accuracy": label_accuracy}
    return facts | student_metrics(features, labels, thirds.test, model, training)


def _baseline(thirds, model, training):
    """Return NPB: one model on the true labels of all private records."""
    facts = {"method": "npb", "n": 1, "k": 1, "draw": 0, "epsilon": None, "delta": None}
    used = {"plain_epsilon": None, "labels": len(thirds.teachers[1]), "label_accuracy": 1.0}
    return facts | used | student_metrics(*thirds.teachers, thirds.test, model, training)
