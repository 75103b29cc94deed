"""Teachers and votes in a cache that checkouts share, known by data, parameters and code."""

import pytest
import yaml

VOTES = "results/votes/digits/kind=private,K=5,seed=0.npz"
FILES = {
    "prepare_dataset": "results/datasets/digits.npz",
    "train_teachers": "results/teachers/digits/kind=private,K=5,seed=0.pt",
    "cast_votes": VOTES,
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory, copy_workflow, run_snakemake):
    """Cast votes in a fresh checkout with the shared cache; returns the rules whose jobs ran."""
    cache = tmp_path_factory.mktemp("cache")

    def run(learning_rate=None):
        folder = copy_workflow(tmp_path_factory.mktemp("checkout") / "workflow-copy")
        tiny = folder / "tests/config/tiny.yaml"
        if learning_rate is not None:
            config = yaml.safe_load(tiny.read_text())
            config["darrm"]["embedded"]["private_teachers"]["learning_rate"] = learning_rate
            tiny.write_text(yaml.safe_dump(config))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SNAKEMAKE_OUTPUT_CACHE", str(cache))
            done = run_snakemake(
                *(folder, "--configfile", "tests/config/tiny.yaml"),
                *("--cores", "2", "--cache", "--", VOTES),
            )
        assert done.returncode == 0, done.stdout + done.stderr
        # A job that ran has written its log; for what came from the cache it is empty.
        logs = {
            path.relative_to(folder / "logs").parts[0]
            for path in folder.rglob("logs/**/*.log")
            if path.stat().st_size
        }
        for file in FILES.values():
            assert (folder / file).resolve().parent == cache
        return folder, logs

    return run


def test_second_checkout_takes_teachers_and_votes_from_the_cache(checkout):
    first, ran = checkout()
    assert ran == set(FILES)
    second, ran = checkout()
    assert ran == set()
    for file in FILES.values():
        assert (second / file).resolve() == (first / file).resolve()


def test_changed_learning_rate_trains_anew_on_the_cached_data(checkout):
    checkout()
    _, ran = checkout(learning_rate=0.2)
    assert ran == {"train_teachers", "cast_votes"}
    # and the first ones are still there
    assert checkout()[1] == set()


def test_without_a_cache_no_rule_loses_its_benchmark(finished_tiny_run):
    for rule in FILES:
        assert list((finished_tiny_run / "results/benchmarks" / rule).rglob("*.tsv"))
