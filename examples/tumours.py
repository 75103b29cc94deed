"""Forty models vote on tumours, and a student learns from the labels that are released.

    python examples/tumours.py                    write votes.csv and study.csv
    python examples/tumours.py student LABELS     train a student on released labels

The tumours ship with scikit-learn: pip install '.[trees]'. docs/hospital.md goes on from here.
"""

import sys

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

tumours = load_breast_cancer()
truth = tumours.target_names[tumours.target]  # malignant or benign
order = np.random.default_rng(14).permutation(569)
private, asked, study = np.split(order, [320, 420])


def learn(cases, labels):
    """Return a model of these cases."""
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(tumours.data[cases], labels)


def models(cases, number):
    """Return models of equal shares of the cases, which are nobody else's."""
    return [learn(shard, truth[shard]) for shard in np.array_split(cases, number)]


def answers(models, cases):
    """Return what each model says about each case."""
    said = {f"site {i}": model.predict(tumours.data[cases]) for i, model in enumerate(models, 1)}
    return pd.DataFrame(said, index=pd.Index([f"case {case}" for case in cases], name="id"))


def right(model):
    """Return the share of the study's cases on which a model is right."""
    return model.score(tumours.data[study], truth[study])


hospitals = models(private, 40)
if sys.argv[1:2] == ["student"]:
    released = pd.read_csv(sys.argv[2])
    released = released[released["label"] >= 0]
    student = learn(released["id"].str.removeprefix("case ").astype(int), released["class_name"])
    one = np.mean([right(model) for model in hospitals])
    print(f"right on {right(student):.0%} of the study's cases; one hospital's model on {one:.0%}")
else:
    # The votes are private. The study is public: ten models of eight of its patients each are asked
    # about the others, whose diagnosis is known.
    answers(hospitals, asked).to_csv("votes.csv")
    known = answers(models(study[:80], 10), study[80:])
    known.assign(label=truth[study[80:]]).to_csv("study.csv")
