"""Every mechanism that may be released has a certificate that is accepted; forged ones fail.

A certificate of labels proves what the account says, and strangers get the verifier that it passed.
"""

import json
import runpy
import subprocess
import sys
from dataclasses import replace

import pytest

from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.certificate_format import write_hexadecimal
from private_ensembles.labels import registry
from private_ensembles.labels.task import Task
from private_ensembles.release import certificate, label_certificate, release_plan
from private_ensembles.release.verifier import VERIFIER, load
from tests.release import releases
from tests.release.releases import DELTA, PRIVATE, SHARED, SMALL, cost_of, planned
from verify import verify

# As those of `SMALL`, of the sizes that people have.
USUAL = {
    "gnmax": ("gnmax", 41, 3, 20, {}),
    "gnmax_analytic": ("gnmax_analytic", 41, 3, 20, {}),
    "gnmax_exact": ("gnmax_exact", 9, 4, 60, {}),
    "gnmax_exact, coins": ("gnmax_exact", 41, 2, 12, {}),
    "gnmax_exact, one coin": ("gnmax_exact", 41, 2, 1, {}),
    "gnmax_exact, one label": ("gnmax_exact", 41, 3, 1, {}),
    "gnmax_exact, a thousand labels": ("gnmax_exact", 250, 10, 1000, {}),
    "lnmax_pure": ("lnmax_pure", 41, 2, 1, {}),
    "exponential": ("exponential", 41, 2, 12, {}),
    "exponential, many classes": ("exponential", 41, 3, 12, {}),
    "permute_and_flip": ("permute_and_flip", 41, 2, 12, {}),
    "permute_and_flip, one label": ("permute_and_flip", 41, 10, 1, {}),
    "ladder": ("ladder", 21, 2, 5, {}),
    "ladder, many labels": ("ladder", 100, 2, 100, {}),
    "majority_private": ("majority_private", 11, 3, 50, PRIVATE),
    "committee": ("committee", 21, 3, 50, SHARED),
    "confident_gnmax": ("confident_gnmax", 41, 3, 20, {"queries": 60}),
    "confident_gnmax_exact": ("confident_gnmax_exact", 9, 3, 30, {"queries": 60}),
    "confident_gnmax_exact, coins": ("confident_gnmax_exact", 40, 2, 20, {"queries": 60}),
}


def _file(folder, plan):
    labels = releases.table(plan.labels)
    return releases.put(folder, releases.record_of(plan, labels), labels)


def _forged(folder, name, **changes):
    """An honest file of `SMALL` with something changed; a__b is the field b of the field a."""
    text, labels = releases.honest(name)
    record = json.loads(text)
    for place, value in changes.items():
        *way, last = (int(key) if key.isdigit() else key for key in place.split("__"))
        part = record
        for key in way:
            part = part[key]
        part[last] = value
    return releases.put(folder, record, labels)


def _proven(body):
    epsilon, delta = (float.fromhex(body[name]) for name in ("epsilon", "delta"))
    return epsilon * float.fromhex(body.get("m", "0x1p0")), delta


def check_accepted(plan, path, capsys):
    """Fail unless the file is accepted, and proves what is stated and hardly more."""
    status = verify.main([path])
    said = capsys.readouterr().out
    assert status == 0, said
    assert plan.name in said
    assert f"labels.csv: is the file of {plan.labels} labels that was charged" in said
    # It proves what is stated, which is what the account says (`record_of`), and hardly less.
    record = json.loads(path.read_text())
    stated = float.fromhex(record["release"]["epsilon"])
    epsilon, delta = _proven(record["certificates"][0])
    assert 0.999999 * stated <= epsilon <= stated
    assert delta <= DELTA


def test_every_mechanism_that_is_offered_is_among_the_releases():
    assert {name for name, *_ in SMALL.values()} == set(registry.offered_mechanisms())


@pytest.mark.parametrize("name", SMALL)
def test_the_certificate_of_a_release_is_accepted(tmp_path, capsys, name):
    check_accepted(releases.plan_of(name), _forged(tmp_path, name), capsys)


@pytest.mark.slow
@pytest.mark.parametrize("name", USUAL)
def test_the_certificate_of_a_release_of_usual_size_is_accepted(tmp_path, capsys, name):
    plan = planned(*USUAL[name])
    path = _file(tmp_path, plan)
    assert path.stat().st_size < 200_000
    check_accepted(plan, path, capsys)


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [
        ("exponential", 40.0),
        ("permute_and_flip", 40.0),
        ("ladder", 40.0),
        ("lnmax_pure", 40.0),
        ("gnmax_exact", 0.5),
        pytest.param("gnmax_exact", 40.0, marks=pytest.mark.slow),
    ],
)
def test_a_label_of_a_thousand_teachers_has_a_certificate(tmp_path, capsys, name, epsilon):
    """Whatever their lead, whose label's chance may be e^-20000."""
    plan = planned(name, 1000, 2, 1, {}, epsilon=epsilon)
    assert verify.main([_file(tmp_path, plan)]) == 0, capsys.readouterr().out
    capsys.readouterr()


@pytest.mark.parametrize(
    ("sizes", "epsilon", "delta"),
    [
        ((3, 3, 2), 2.66, 1e-7),
        pytest.param((3, 10, 5), 4.49, 1e-7, marks=pytest.mark.slow),
        pytest.param((3, 3, 3), 9.14, 1e-6, marks=pytest.mark.slow),
    ],
)
def test_few_labels_of_few_teachers_have_a_certificate(sizes, epsilon, delta):
    """The cheapest pairs together cost six times as much as one here, on the finest grid."""
    plan = planned("gnmax_exact", *sizes, {}, epsilon=epsilon, delta=delta)
    assert certificate.prove(plan, cost_of(plan)).body["theorem"] == "adaptive_labels"


@pytest.mark.parametrize(
    "name", ["gnmax_analytic", "gnmax_exact, coins", "permute_and_flip", "confident_gnmax"]
)
def test_a_smaller_claim_fails(tmp_path, capsys, name):
    body = json.loads(releases.honest(name)[0])["certificates"][0]
    lower = {"certificates__0__epsilon": write_hexadecimal(0.98 * float.fromhex(body["epsilon"]))}
    assert verify.main([_forged(tmp_path, name, **lower)]) == 1
    lower = {"certificates__0__delta": write_hexadecimal(DELTA / 2)}
    assert verify.main([_forged(tmp_path, name, **lower)]) == 1
    capsys.readouterr()


FORGED = {
    "less noise": {"certificates__0__law__scale": write_hexadecimal(3.0)},
    "more noise": {"certificates__0__law__scale": write_hexadecimal(1000.0)},
    "other teachers": {"certificates__0__law__teachers": 4},
    "other classes": {"certificates__0__law__classes": 4},
    "fewer labels": {"certificates__0__blocks": [{"times": 1, "labels": 39}]},
    "another theorem": {"certificates__0__theorem": "loss_distribution"},
}


def test_forged_files_fail(tmp_path, capsys):
    for forgery, changes in FORGED.items():
        assert verify.main([_forged(tmp_path, "gnmax_exact", **changes)]) == 1, forgery
    capsys.readouterr()


@pytest.mark.parametrize("name", ["exponential, many classes", "permute_and_flip, many classes"])
def test_losses_of_other_noise_and_other_mechanisms_fail(tmp_path, capsys, name):
    plan = releases.plan_of(name)
    law = json.loads(releases.honest(name)[0])["certificates"][0]["law"]
    key = "range" if law["name"] == "bounded_range" else "epsilon"
    less = {f"certificates__0__law__{key}": write_hexadecimal(float.fromhex(law[key]) * 0.999)}
    assert verify.main([_forged(tmp_path, name, **less)]) == 1
    noise = replace(plan.parameters, label_epsilon=1.05 * plan.parameters.label_epsilon)
    for other in (replace(plan, parameters=noise), replace(plan, name="gnmax_exact")):
        assert verify.main([_forged(tmp_path, name, release__terms=other.to_json())]) == 1
    capsys.readouterr()


def test_coins_of_other_noise_and_terms_of_another_plan_fail(tmp_path, capsys):
    name = "gnmax_exact, coins"
    plan = releases.plan_of(name)
    label, p = json.loads(releases.honest(name)[0])["certificates"][0]["law"]["rows"][1]
    forged = {"certificates__0__law__rows__1": [label, write_hexadecimal(float.fromhex(p) * 0.999)]}
    assert verify.main([_forged(tmp_path, name, **forged)]) == 1
    for more in (replace(plan.parameters, labels=61), replace(plan.parameters, sigma=9.0)):
        terms = replace(plan, parameters=more).to_json()
        assert verify.main([_forged(tmp_path, name, release__terms=terms)]) == 1
    for other in ({"n_teachers": 6}, {"reach": 2}, {"secure": False}, {"n_classes": 3}):
        terms = replace(plan, task=Task.from_dict(plan.task.to_dict() | other)).to_json()
        assert verify.main([_forged(tmp_path, name, release__terms=terms)]) == 1
    capsys.readouterr()


def test_a_field_of_the_task_that_nobody_checks_fails(tmp_path, capsys):
    """So a plan whose ballots have several votes is not taken for one of one vote each."""
    for field in ("ballot", "n_votes", "weights", "remark"):
        terms = json.loads(releases.plan_of("gnmax").to_json())
        terms["task"][field] = 3
        assert verify.main([_forged(tmp_path, "gnmax", release__terms=json.dumps(terms))]) == 1
        assert f"nobody checks a field '{field}'" in capsys.readouterr().out
        with pytest.raises(ValueError, match=f"cannot be read: .*{field}"):
            release_plan.read_plan(json.dumps(terms))


def test_a_file_whose_labels_are_elsewhere_or_others(tmp_path, capsys):
    path = _forged(tmp_path, "gnmax")
    (tmp_path / "labels.csv").write_text(releases.table(3) + "3,1\n")
    assert verify.main([path]) == 1
    (tmp_path / "labels.csv").unlink()
    assert verify.main([path]) == 2
    assert "labels.csv: is not beside this file" in capsys.readouterr().out


def test_a_plan_without_a_certificate_says_why(tmp_path, capsys):
    plan = releases.plan_of("gnmax_exact, coins")
    many = replace(
        plan,
        task=replace(
            plan.task, ensemble=replace(plan.task.ensemble, teachers=certificate.MOST_COINS + 1)
        ),
    )
    many = replace(many, parameters=replace(many.parameters, n_teachers=5001))
    with pytest.raises(certificate.NoCertificate, match="of 5,001 votes"):
        certificate.prove(many)
    rehearsal = replace(plan, task=replace(plan.task, secure=False))
    with pytest.raises(certificate.NoCertificate, match="can be computed from its seed"):
        certificate.prove(rehearsal)
    protection = replace(plan.task.protection, reach=2)
    several = replace(plan, task=replace(plan.task, protection=protection))
    for other, why in ((many, "of 5,001 votes"), (several, "from one class to one other only")):
        with pytest.raises(certificate.NoCertificate, match=why):
            certificate.prove(other)
        path = _file(tmp_path, other)
        assert verify.main([path]) == 2
        assert why in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "teachers", "classes", "labels"),
    [("permute_and_flip", 21, 2, 5), ("gnmax_exact", 21, 2, 12), ("gnmax_exact", 21, 4, 12)],
)
def test_it_claims_what_the_account_says_and_its_curve_falls(name, teachers, classes, labels):
    plan = releases.planned(name, teachers, classes, labels, {})
    noise = certificate._noise(plan, plan.parameters)
    family = plan.mechanism.law.dominating_pairs(plan.task, plan.parameters)
    account = adaptive_epsilon(family, labels, DELTA)
    claim = account.upper
    body, curve = next(label_certificate.certify_adaptive_labels(noise, labels, DELTA, claim))
    assert float.fromhex(body["epsilon"]) == claim
    epsilons, deltas = zip(*sorted(curve), strict=True)
    assert (epsilons[0], epsilons[-1]) == (0.0, claim)
    assert list(deltas) == sorted(deltas, reverse=True)
    assert deltas[-1] <= DELTA * (1 + 1e-5)


def test_less_than_the_account_s_lower_bound_is_on_no_grid():
    plan = releases.planned("gnmax_exact", 21, 2, 12, {})
    noise = certificate._noise(plan, plan.parameters)
    family = plan.mechanism.law.dominating_pairs(plan.task, plan.parameters)
    least = adaptive_epsilon(family, 12, DELTA).lower
    assert not list(label_certificate.certify_adaptive_labels(noise, 12, DELTA, 0.999 * least))


def test_a_claim_that_no_grid_proves_is_not_handed_over(monkeypatch):
    """As the certificates of ladders were whose noise the account had shrunk."""
    plan = releases.planned("ladder", 21, 2, 5, {})
    with pytest.raises(certificate.NoCertificate, match="the verifier does not prove it: delta is"):
        certificate.prove(plan, 0.99 * releases.cost_of(plan))
    monkeypatch.setattr(label_certificate, "certify_adaptive_labels", lambda *_: iter(()))
    proof = certificate.prove_or_explain(plan, releases.cost_of(plan))
    assert proof.body["kind"] == "none"
    assert "delta is about" in proof.body["why"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(250, 10, 4, 0.5, 1e-5), (40, 20, 2, 4.03, 1e-9)])
def test_few_labels_of_many_pairs_have_a_certificate_within_a_minute(size):
    """Neighbours among some 100,000 pairs are alike, and are joined before groups are sought."""
    teachers, classes, labels, epsilon, delta = size
    budget = {"epsilon": epsilon, "delta": delta}
    plan = releases.planned("gnmax_exact", teachers, classes, labels, {}, **budget)
    assert certificate.prove_or_explain(plan, releases.cost_of(plan)).body["kind"] == "total"


def test_groups_that_would_be_looked_for_too_long_end_the_search(monkeypatch):
    """Nobody waits for hours for a certificate: what is then not proven is said."""
    monkeypatch.setattr(label_certificate, "_MOST_COMPARED", 1e3)
    plan = releases.planned("gnmax_exact", 11, 3, 4, {})
    noise = certificate._noise(plan, plan.parameters)
    assert not list(
        label_certificate.certify_adaptive_labels(noise, 4, DELTA, releases.cost_of(plan))
    )
    assert certificate.prove_or_explain(plan, releases.cost_of(plan)).body["kind"] == "none"


def test_it_is_the_file_to_which_the_repository_leads(root, tmp_path):
    given = [sys.executable, "-I", "-S"]
    shown = [
        subprocess.run([*given, str(path), "--help"], capture_output=True, text=True, cwd=tmp_path)
        for path in (VERIFIER, root / "verify" / "verify.py")
    ]
    assert [one.returncode for one in shown] == [0, 0]
    assert shown[0].stdout == shown[1].stdout != ""


def test_it_is_loaded_once_and_runs_nothing(capsys):
    assert load() is load()
    assert capsys.readouterr().out == ""
    assert runpy.run_path(str(VERIFIER), run_name="stranger")["MILLION"] == load().MILLION
