"""What a measurement was taken on is said in words that a reader needs."""

from benchmarks import machine


def test_machine_is_described_with_the_versions_asked_for():
    found = machine.describe("numpy")
    assert {"date", "processor", "cores", "load", "memory", "system", "python"} < set(found)
    assert found["numpy"].count(".") >= 1
    assert all(isinstance(text, str) and text for text in found.values())
