"""The whole configuration: mirror and votes, several sections at once, and what a run changed."""

import pytest
import yaml

from private_ensembles.papers.all import ALL
from private_ensembles.run.changes import changes, overriding_configuration
from private_ensembles.run.check import ConfigError, check, fill_defaults
from tests.run.shipped import DEFAULT


def test_mirror_is_made_absolute_from_where_the_user_stands(tmp_path):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "here").mkdir()
    config = DEFAULT | {"data": "paper", "data_mirror": "../mirror"}
    assert check(config, str(tmp_path / "here")).data_mirror == str(tmp_path / "mirror")


def test_mirror_is_sought_in_each_folder_in_turn(tmp_path):
    (tmp_path / "mirror").mkdir()
    config = DEFAULT | {"data": "paper", "data_mirror": "mirror"}
    assert check(config, "/nowhere", str(tmp_path)).data_mirror == str(tmp_path / "mirror")


@pytest.mark.parametrize("mirror", [None, "https://example.org/data", "file:///data", "null"])
def test_mirror_may_be_an_address_or_nothing(mirror):
    expected = None if mirror == "null" else mirror
    assert check(DEFAULT | {"data": "paper", "data_mirror": mirror}).data_mirror == expected


def test_missing_mirror_does_not_matter_where_nothing_is_downloaded():
    mirror = check(DEFAULT | {"data_mirror": "no/such/folder"}).data_mirror
    assert mirror.endswith("no/such/folder")


def test_votes_are_a_file_that_is_there(tmp_path):
    (tmp_path / "votes.csv").touch()
    config = DEFAULT | {"votes": "votes.csv", "n_classes": 3, "n_teachers": 5, "shards": "disjoint"}
    assert check(config, str(tmp_path)).own.votes == str(tmp_path / "votes.csv")
    with pytest.raises(
        ConfigError, match=r"votes = 'votes\.csv': must be an existing file \(looked"
    ):
        check(config, str(tmp_path / "elsewhere"))


@pytest.mark.parametrize(
    ("given", "noise"),
    [
        ({}, "secure"),
        ({"noise": "reproducible"}, "reproducible"),
        ({"votes": None}, "reproducible"),
    ],
)
def test_noise_is_secure_for_votes_of_ones_own_unless_it_is_said_otherwise(tmp_path, given, noise):
    (tmp_path / "votes.csv").touch()
    config = (
        DEFAULT
        | {"votes": "votes.csv", "n_classes": 3, "n_teachers": 5, "shards": "disjoint"}
        | given
    )
    assert check(config, str(tmp_path)).to_dict()["noise"] == noise


def test_the_classes_of_ones_own_votes_must_be_stated(tmp_path):
    (tmp_path / "votes.csv").touch()
    says = r"^own\.ensemble\.classes = null: must be .* --config n_classes=10$"
    with pytest.raises(ConfigError, match=says):
        check(DEFAULT | {"votes": "votes.csv"}, str(tmp_path))


@pytest.mark.parametrize("word", ["yes", "Yes", "true", True])
def test_again_is_a_word_on_the_command_line(word):
    assert check(DEFAULT | {"again": word}).own.release.again is True
    assert check(DEFAULT).own.release.again is False
    assert check(DEFAULT | {"again": "no"}).own.release.again is False
    with pytest.raises(ConfigError, match=r"^again = 'oui': must be true or false$"):
        check(DEFAULT | {"again": "oui"})


def test_synthetic_votes_and_datasets_have_different_names():
    glyph = DEFAULT["synthetic_votes"]["glyph"]
    with pytest.raises(ConfigError, match="must be another name than those under datasets"):
        check(DEFAULT | {"synthetic_votes": {"glyph": glyph, "mnist": glyph}})


def test_classes_are_those_of_a_data_set_or_of_synthetic_votes():
    settings = check(DEFAULT)
    assert (settings.classes("mnist"), settings.classes("mnist-10")) == (2, 10)
    assert settings.classes("glyph") == DEFAULT["synthetic_votes"]["glyph"]["n_classes"]


def test_training_is_pates_where_a_task_has_the_data_set_and_else_darrms():
    settings = check(DEFAULT)
    assert (
        settings.training_parameters("svhn", "plain")
        == DEFAULT["pate"]["tasks"]["svhn"]["teachers"]
    )
    assert settings.training_parameters("mnist", "private") == DEFAULT["darrm"]["private_teachers"]


OWN = {"votes": "votes.csv", "n_classes": 3, "n_teachers": 5, "shards": "disjoint"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"shards": None},
            "^shards = null: must be stated for a release: shards=disjoint .*shared",
        ),
        ({"shards": "apart"}, "^shards = 'apart': must be one of disjoint, shared or null"),
        ({"unit": ""}, "^unit = '': must be text of 1 to 100 characters"),
        ({"unit": "a\nb"}, "must be printable text"),
        ({"reach": 0}, "^reach = 0: must be an integer >= 1"),
        ({"shards": "shared", "reach": 2}, "^reach = 2: must be 1, as shards = shared"),
        ({"anyway": "oui"}, "^anyway = 'oui': must be true or false"),
        ({"absent": "oui"}, "^absent = 'oui': must be true or false"),
        ({"n_teachers": 1}, "^n_teachers = 1: must be an integer >= 2"),
        ({"n_classes": 3, "most_ones": 7}, "^most_ones = 7: must be null, except for votes of two"),
        ({"session": "votes.csv", "batch": "a"}, "^shards = 'disjoint': must be null, as the"),
    ],
)
def test_facts_of_a_release_are_checked_before_anything_runs(tmp_path, given, says):
    (tmp_path / "votes.csv").touch()
    with pytest.raises(ConfigError, match=says):
        check(DEFAULT | OWN | given, str(tmp_path))


def test_a_rehearsal_and_a_session_need_not_state_them(tmp_path):
    (tmp_path / "votes.csv").touch()
    session = {"session": "votes.csv", "batch": "a", "n_teachers": None, "n_classes": None}
    for given in ({"noise": "reproducible"}, session):
        settings = check(DEFAULT | OWN | {"shards": None} | given, str(tmp_path))
        assert settings.own.protection.shards is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"absent": True}, "^absent = True: must be no, as the session states its own"),
        ({"n_teachers": 7}, "^n_teachers = 7: must be null, as the session states its own"),
        ({"epsilon": 2}, "^epsilon = 2: must be 1, as the session states its own"),
        ({"delta": 1e-6}, "^delta = 1e-06: must be 1e-05, as the session states its own"),
        ({"labels_wanted": 9}, "^labels_wanted = 9: must be null, as the session states its own"),
        ({"n_classes": 3}, "^n_classes = 3: must be null, as the session states its own"),
        ({"teacher_epsilon": 1}, "^teacher_epsilon = 1: must be null, as the session states its"),
        ({"adjacency": "add_remove"}, "^adjacency = 'add_remove': must be replace_one, as the ses"),
        ({"most_ones": 7}, "^most_ones = 7: must be null, as a session would have to remember"),
    ],
)
def test_a_session_states_by_itself_what_ballots_are(tmp_path, given, says):
    (tmp_path / "votes.csv").touch()
    config = DEFAULT | {"votes": "votes.csv", "session": "votes.csv", "batch": "a"}
    with pytest.raises(ConfigError, match=says):
        check(config | given, str(tmp_path))


BATCH = {
    "session": "votes.csv",
    "batch": "a",
    "shards": None,
    "n_teachers": None,
    "n_classes": None,
}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({}, "results/own/release/labels.csv"),
        ({"noise": "reproducible"}, "results/own/rehearsal/rehearsal_labels.csv"),
        ({}, "results/own/private/votes.csv"),
        (BATCH, "results/own/session/a/labels.csv"),
    ],
)
def test_votes_are_not_where_labels_are_written(tmp_path, monkeypatch, given, path):
    """Snakemake would remove them before the job."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.csv").touch()
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).touch()
    (tmp_path / "link.csv").symlink_to(path)
    for name in (path, "link.csv"):
        with pytest.raises(ConfigError, match=r"^votes = .*: must be another file than"):
            check(DEFAULT | OWN | given | {"votes": name}, str(tmp_path))


@pytest.mark.parametrize("own", [{}, OWN])
def test_a_profile_has_absent_ballots_only_if_there_may_be_any(tmp_path, own):
    (tmp_path / "votes.csv").touch()
    planner = DEFAULT["planner"] | {
        "profile": DEFAULT["planner"]["profile"] | {"absent_share": 0.2}
    }
    config = DEFAULT | own | {"planner": planner}
    says = r"^planner\.profile\.absent_share = 0\.2: must be 0, unless ballots of your own votes"
    with pytest.raises(ConfigError, match=says):
        check(config, str(tmp_path))
    if own:
        assert check(config | {"absent": "yes"}, str(tmp_path)).own.ensemble.absent


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_changes_are_found_at_any_depth_and_make_the_configuration_again(tmp_path):
    default = tmp_path / "config.yaml"
    default.write_text("seed: 0\ndelta: 1e-5\ndata_mirror: null\na: {b: [1, 2], c: {d: 3, e: 4}}\n")
    run = {"seed": 0, "delta": 1e-5, "data_mirror": "/x", "a": {"b": [1], "c": {"d": 3, "e": None}}}
    assert changes(run, default) == {"a.b": ([1, 2], [1]), "a.c.e": (4, None)}
    part = overriding_configuration(run, default)
    assert part == {"a": {"b": [1], "c": {"e": None}}}
    assert changes(fill_defaults(part, read(default)), default) == changes(run, default)


def test_a_section_that_is_left_out_is_null_and_nothing_more(tmp_path):
    default = tmp_path / "config.yaml"
    default.write_text("planner: {many_labels: {K: 250, epsilon: [1, 2]}, queries: 5}\n")
    config = {"planner": {"many_labels": None, "queries": 5}}
    assert overriding_configuration(config, default) == {"planner": {"many_labels": None}}


def test_the_published_configuration_is_valid_and_all_of_it_is_a_change(root):
    """Thirty trainings of DaRRM's teachers, ten splits of DPBag's data, the papers' data."""
    published = read(root / "config" / "scenarios" / "published.yaml")
    run = fill_defaults(published, read(root / "config.yaml"))
    checked = check(run)
    assert len(checked.darrm.training_seeds) == 30
    assert {len(model.seeds) for model in checked.dpbag.models().values()} == {10}
    assert overriding_configuration(run) == published
    # As a run has it, too: `noise: auto` is settled by then.
    assert overriding_configuration(checked.to_dict()) == published


@pytest.mark.docs
def test_what_is_published_says_that_it_is_of_the_published_configuration(root):
    """Pages give the command; the file that it names was written from the run's configuration."""
    published = read(root / "config" / "scenarios" / "published.yaml")
    assert read(root / "docs" / "configuration.yaml") == published
    for paper in ALL:
        page = (root / "docs" / paper.name / "README.md").read_text(encoding="utf-8")
        assert "publish_docs --cores all --configfile docs/configuration.yaml" in page
