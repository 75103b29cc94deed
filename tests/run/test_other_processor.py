"""A difference is put down to another processor only where the records leave no other reason."""

import json

import pytest

from private_ensembles.run.other_processor import Records

TABLE = "darrm/tables/table1.csv"
VOTES = "votes/digits/kind=plain,K=5,seed=0.npz"


def record(sets, processor="EPYC (AuthenticAMD 25 17)", **changes):
    """A record, as base/provenance.py writes it."""
    return {
        "rule": "tabulate_label_accuracy",
        "wildcards": {},
        "params": {"m": 3, "code": "abc"},
        "seed": 0,
        "inputs": {},
        "versions": {"private-ensembles": "1", "numpy": "2.4.6"},
        "python": "3.11.9",
        "machine": "Linux x86_64",
        "device": "cpu",
        "processor": processor,
        "instruction_sets": sets,
        "portable": False,
    } | changes


@pytest.fixture
def find(tmp_path):
    """Write both runs' records, by path, and ask about the table."""

    def write_and_find(one, other):
        folders = []
        for name, records in (("one", one), ("other", other)):
            folders.append(tmp_path / name)
            for path, content in records.items():
                file = tmp_path / name / "provenance" / f"{path}.json"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps(content))
        return Records(*folders).find_other_processor(TABLE)

    return write_and_find


WIDE, NARROW = {"NumPy": "X86_V4"}, {"NumPy": "X86_V3"}


def test_other_instructions_are_a_reason(find):
    first, second = find({TABLE: record(WIDE)}, {TABLE: record(NARROW)})
    assert (first.sets, second.sets) == (WIDE, NARROW)


def test_the_same_instructions_on_another_processor_are_a_reason(find):
    first, second = find({TABLE: record(WIDE)}, {TABLE: record(WIDE, "Xeon")})
    assert (first.processor, second.processor) == ("EPYC (AuthenticAMD 25 17)", "Xeon")


def test_nothing_else_may_be_different(find):
    assert find({TABLE: record(WIDE)}, {TABLE: record(WIDE)}) is None


@pytest.mark.parametrize(
    "change",
    [
        {"rule": "tabulate_privacy_loss"},
        {"params": {"m": 5, "code": "abc"}},
        {"params": {"m": 3, "code": "def"}},
        {"seed": 1},
        {"versions": {"private-ensembles": "1", "numpy": "2.4.7"}},
        {"python": "3.12.1"},
        {"machine": "Darwin x86_64"},
        {"device": "cuda: H200"},
        {"inputs": {"data/raw/mnist/images": "0"}},
    ],
)
def test_another_reason_is_not_put_down_to_the_processor(find, change):
    assert find({TABLE: record(WIDE)}, {TABLE: record(NARROW, **change)}) is None


@pytest.mark.parametrize(
    "change",
    [
        {"versions": {"private-ensembles": "2", "numpy": "2.4.6"}},  # the code's hash is the same
        {"machine": "Linux aarch64"},
        {"params": {"m": 3, "code": "abc-portable"}, "portable": True},
    ],
)
def test_what_is_no_reason_does_not_hide_the_processor(find, change):
    assert find({TABLE: record(WIDE)}, {TABLE: record(NARROW, **change)}) is not None


def test_two_runs_that_promise_the_same_bytes_have_no_excuse(find):
    held = {"portable": True, "params": {"code": "abc-portable"}}
    assert find({TABLE: record(NARROW, **held)}, {TABLE: record(NARROW, "Xeon", **held)}) is None


def test_a_reason_may_lie_with_an_input(find):
    """Here the table is counted alike on both, and the votes are not cast alike."""
    runs = [
        {
            TABLE: record(NARROW, inputs={f"results/{VOTES}": sha256}),
            VOTES: record({**NARROW, "PyTorch": torch}, rule="cast_votes"),
        }
        for sha256, torch in (("0", "AVX512"), ("1", "AVX2"))
    ]
    first, second = find(*runs)
    assert (first.sets["PyTorch"], second.sets["PyTorch"]) == ("AVX512", "AVX2")


@pytest.mark.parametrize("hashes", [("0", "1"), (None, None)])
def test_an_input_that_cannot_be_explained_explains_nothing(find, hashes):
    """Downloaded files have no record, and those of confidential inputs have no hash."""
    inputs = [{"data/raw/mnist/images": sha256} for sha256 in hashes]
    one, other = record(WIDE, inputs=inputs[0]), record(NARROW, inputs=inputs[1])
    assert find({TABLE: one}, {TABLE: other}) is None


@pytest.mark.parametrize("lacking", ["processor", "params", "inputs"])
def test_a_record_that_lacks_something_explains_nothing(find, lacking):
    older = record(NARROW)
    del older[lacking]
    assert find({TABLE: record(WIDE)}, {TABLE: older}) is None


def test_a_run_without_records_explains_nothing(find):
    assert find({TABLE: record(WIDE)}, {}) is None
