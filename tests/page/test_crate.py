"""The crate tells where each result came from, what each number was compared with, and no more."""

import hashlib
import io
import json
from pathlib import Path

import pytest

from private_ensembles.jobs import provenance
from private_ensembles.page import crate

rocrate = pytest.importorskip("rocrate", reason="comes with the extra `workflow`")
CONTEXT = "https://w3id.org/ro/crate/1.1/context"
BIOSCHEMAS = "https://bioschemas.org"
# Terms whose addresses changed after version 1.1 of the context; rocrate brings a later one.
OLDER_TERMS = {
    "ComputationalWorkflow": f"{BIOSCHEMAS}/ComputationalWorkflow",
    "FormalParameter": f"{BIOSCHEMAS}/FormalParameter",
    "input": f"{BIOSCHEMAS}/ComputationalWorkflow#input",
    "output": f"{BIOSCHEMAS}/ComputationalWorkflow#output",
}
TABLE, PRIVATE, OWN = "darrm/tables/table1.csv", "own/private/votes.csv", "own/release/labels.csv"
REHEARSAL = "own/rehearsal/rehearsal_labels.csv"
FIDELITY = (
    "paper,item,dataset,row,column,published,published_sd,reproduced,reproduced_sd,tolerance,"
    "status,note\n"
    "darrm,table1,mnist,gnmax,accuracy,0.64,,0.63,,0.02,match,\n"
    "darrm,table1,mnist,gnmax,epsilon,9,,,,,not_run,needs the images\n"
)


def record(root, name, text, rule, inputs, **params):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    content = {
        "file": f"results/{name}",
        "rule": rule,
        "wildcards": {"m": "3"},
        "params": params,
        "seed": 0,
        "inputs": inputs,
        "versions": {"numpy": "2.4.6"},
        "revision": "abc",
        "python": "3.11.7",
        "machine": "Linux x86_64",
        "device": "cpu",
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "bytes": len(text),
        "mtime_ns": 1_700_000_000 * 10**9,
    }
    place = root / "provenance" / f"{name}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(content))


@pytest.fixture
def results(tmp_path, root):
    """A folder of results of three jobs, one of them on somebody's own votes."""
    results = tmp_path / "results"
    code = results / "code"
    (code / "workflow" / "scripts").mkdir(parents=True)
    (code / "Snakefile").write_text("rule all:\n")
    for rule in ("tabulate", "compare_published"):
        (code / "workflow" / "scripts" / f"{rule}.py").write_text("pass\n")
    record(results, TABLE, "a\n1\n", "tabulate", {"data/raw/x.gz": "0" * 64}, m=3)
    record(results, "fidelity.csv", FIDELITY, "compare_published", {f"results/{TABLE}": "1" * 64})
    record(results, OWN, "query,label\n", "apply_votes", {"secret/votes.npy": None})
    (results / PRIVATE).parent.mkdir(parents=True)
    (results / PRIVATE).write_text("what the votes say\n")
    # As an earlier version recorded it.
    record(results, REHEARSAL, "query,label\n0,1\n", "apply_votes", {"secret/votes.npy": None})
    return results


def built(results):
    config = {"seed": 0, "papers": ["darrm"], "votes": "secret/votes.npy"}
    fidelity = results / "fidelity.csv"
    return crate.build(results, results / "code", fidelity, config, provenance.is_private)


def entities(metadata):
    return {entity["@id"]: entity for entity in metadata["@graph"]}


def test_every_result_is_a_file_with_its_hash_and_the_job_that_made_it(results):
    found = entities(built(results))
    for name in (TABLE, "fidelity.csv", OWN):
        digest = hashlib.sha256((results / name).read_bytes()).hexdigest()
        assert found[name]["sha256"] == digest
        assert found[name]["@type"] == "File"
    jobs = {
        tuple(one["@id"] for one in _list(entity["result"])): entity
        for name, entity in found.items()
        if name.startswith("#job/") and entity["@type"] == "CreateAction"
    }
    job = jobs[(TABLE,)]
    assert job["name"] == "tabulate m=3"
    assert job["instrument"] == {"@id": "code/workflow/scripts/tabulate.py"}
    assert "Revision abc, Python 3.11.7" in job["description"]
    used = [found[one["@id"]] for one in _list(job["object"])]
    assert {"x.gz" in one["name"] and one.get("sha256") for one in used} == {False, "0" * 64}
    assert {"m": "3"}.items() <= {one["name"]: one.get("value") for one in used}.items()
    compared = jobs[("fidelity.csv",)]
    assert {"@id": TABLE} in _list(compared["object"])
    run = found["#run"]
    assert run["instrument"] == found["./"]["mainEntity"] == {"@id": "code/Snakefile"}
    assert {one["@id"] for one in run["result"]} == {TABLE, "fidelity.csv", OWN}
    assert {found[one["@id"]]["name"] for one in run["object"]} == {"seed", "papers"}


def _list(value):
    return value if isinstance(value, list) else [value]


def test_every_published_number_is_linked_to_its_check(results):
    found = entities(built(results))
    numbers = [entity for name, entity in found.items() if name.startswith("#published/")]
    assert [one["value"] for one in numbers] == ["0.64", "9"]
    checks = [found[one["subjectOf"]["@id"]] for one in numbers]
    assert [one["description"] for one in checks] == ["match", "not_run: needs the images"]
    for number, check in zip(numbers, checks, strict=True):
        assert check["object"] == {"@id": number["@id"]}
        assert check["instrument"] == {"@id": "code/workflow/scripts/compare_published.py"}
    assert found[checks[0]["result"]["@id"]]["value"] == "0.63"
    assert "result" not in checks[1]


def test_of_own_votes_only_the_release_is_in_it_and_of_the_rest_no_name_and_no_hash(results):
    """Labels of a rehearsal, whose seed is in the configuration, would tell the votes."""
    metadata = built(results)
    found = entities(metadata)
    assert OWN in found
    text = json.dumps(metadata)
    for name in (PRIVATE, REHEARSAL):
        assert name not in text
        assert hashlib.sha256((results / name).read_bytes()).hexdigest() not in text
    assert "secret/votes.npy" not in text  # nor the name of what a confidential job read
    assert "sha256" not in found["#confidential"]


def test_own_votes_have_no_numbers_to_compare(results):
    metadata = crate.build(results, results / "code", None, {"seed": 0}, provenance.is_private)
    assert not [name for name in entities(metadata) if name.startswith("#published/")]


def test_the_same_run_is_described_by_the_same_bytes(results):
    assert json.dumps(built(results)) == json.dumps(built(results))


def test_a_folder_without_records_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no record of a result"):
        crate.build(tmp_path, tmp_path, None, {}, provenance.is_private)


@pytest.fixture
def issues(tmp_path):
    """Validate a crate's folder offline, and return what the profile's MUSTs find."""
    services = pytest.importorskip("rocrate_validator.services", reason="comes with `tests`")
    from requests.adapters import HTTPAdapter
    from requests_cache import CachedSession
    from urllib3 import HTTPResponse

    own = Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld"
    context = json.loads(own.read_text())
    context["@context"] |= OLDER_TERMS

    class Context(HTTPAdapter):
        def send(self, request, **_):
            body = io.BytesIO(json.dumps(context).encode())
            headers = {"Content-Type": "application/ld+json"}
            raw = HTTPResponse(body, headers, status=200, preload_content=False)
            return self.build_response(request, raw)

    # What the validator keeps of the network holds the context and nothing else.
    with CachedSession(str(tmp_path / "cache"), backend="sqlite") as session:
        session.mount(CONTEXT, Context())
        session.get(CONTEXT)

    def validate(folder):
        found = services.validate(
            {
                "rocrate_uri": str(folder),
                "profile_identifier": "workflow-run-crate",
                "offline": True,
                "cache_path": str(tmp_path / "cache"),
            }
        )
        return [issue.message for issue in found.get_issues()]

    return validate


def test_the_validator_accepts_it_and_sees_what_is_missing(results, issues):
    metadata = built(results)
    (results / crate.METADATA).write_text(json.dumps(metadata))
    assert issues(results) == []
    run = entities(metadata)["#run"]
    del run["instrument"]
    (results / crate.METADATA).write_text(json.dumps(metadata))
    assert any("instrument" in message for message in issues(results))
