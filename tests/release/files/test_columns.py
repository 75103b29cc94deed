"""What columns hold by their names; whole files are read in test_foreign and test_field_inputs."""

import shlex

import pytest

from private_ensembles.release.files.columns import (
    Columns,
    FileDescription,
    identify_columns,
    list_names,
)


def describe_file(teachers=2, n_classes=2, **more):
    return FileDescription(n_classes, teachers=teachers, **more)


@pytest.mark.parametrize(
    ("header", "kind", "matrix"),
    [
        ("teacher0,teacher1", "votes", [0, 1]),
        ("Teacher A,teacher_b", "votes", [0, 1]),
        ("class1,class0", "counts", [1, 0]),
        ("class cat,class dog", "counts", [0, 1]),
        ("classifier0,classifier1", "auto", [0, 1]),
        ("anna,ben", "auto", [0, 1]),
        ("no,yes", "counts", [1, 0]),
    ],
)
def test_the_kind_is_told_by_names(header, kind, matrix):
    names = ("yes", "no") if "yes" in header else None
    assert identify_columns(header.split(","), describe_file(class_names=names)) == Columns(
        kind, matrix
    )


def test_a_kind_that_is_told_otherwise_is_refused():
    with pytest.raises(ValueError, match="has a header of votes, and votes_kind = counts is asked"):
        identify_columns(["teacher0", "teacher1"], describe_file(kind="counts"))
    assert identify_columns(["anna", "ben"], describe_file(kind="counts")).kind == "counts"


SITES = [f"site{number:02}" for number in range(25)]


@pytest.mark.parametrize(
    ("stranger", "say"),
    [
        ("prediction", "if 'prediction' is none say ignore_columns=prediction"),
        ("plurality", "say ignore_columns=plurality"),
        ("fold", "say ignore_columns=fold"),
        ("truth", "say truth_column=truth"),
        ("y_true", "say truth_column=y_true"),
        ("gold", "say truth_column=gold"),
        ("image", "say id_column=image"),
        ("Unnamed: 0", "say ignore_columns='Unnamed: 0'"),
        ("ward", "if 'ward' is none say ignore_columns=ward"),  # not called as 25 others are
    ],
)
def test_a_column_that_is_no_teacher_s_is_never_one(stranger, say):
    for header in ([stranger, *SITES], [*SITES, stranger]):
        with pytest.raises(ValueError, match=r"26 columns of votes .*n_teachers = 25: ") as caught:
            identify_columns(header, describe_file(25))
        text = str(caught.value)
        assert say in text
        assert "\n" not in text
        assert "site00 ... site24" in text
        # The option that the message names helps.
        key, _, name = shlex.split(say)[-1].partition("=")
        assert len(identify_columns(header, describe_file(25, **{key: name})).matrix) == 25


def test_several_strangers_are_named_at_once_and_those_that_nobody_knows_are_asked_for():
    header = ["image", "anna", "ben", "cleo", "y_true", "fold", "prediction"]
    with pytest.raises(
        ValueError, match="'image', 'y_true', 'fold', 'prediction' are none say"
    ) as e:
        identify_columns(header, describe_file(3))
    given = dict(word.split("=") for word in str(e.value).rpartition(" say ")[2].split())
    assert identify_columns(header, describe_file(3, **given)).matrix == [1, 2, 3]
    with pytest.raises(ValueError, match=r"\(anna, ben, cleo\), and n_teachers = 2: say which are"):
        identify_columns(["anna", "ben", "cleo"], describe_file(2))
    with pytest.raises(ValueError, match="n_teachers = 4: must be 4; a teacher that never"):
        identify_columns(["anna", "ben", "cleo"], describe_file(4))


def test_without_the_number_of_teachers_the_columns_are_listed():
    with pytest.raises(
        ValueError, match=r"the file has id, site00 ... site24, prediction: say n_t"
    ):
        identify_columns(["id", *SITES, "prediction"], describe_file(None))
    assert len(identify_columns(["id", *SITES], describe_file(None, public=True)).matrix) == 25
    with pytest.raises(ValueError, match=r"n_teachers = None: .* every row adds up to it"):
        identify_columns(["class0", "class1"], describe_file(None))


def test_counts_have_a_column_for_every_class():
    header = ["class0", "class1", "age"]
    with pytest.raises(ValueError, match="n_classes = 2: if 'age' is none say ignore_columns=age"):
        identify_columns(header, describe_file())
    assert identify_columns(header, describe_file(ignore_columns="age")).matrix == [0, 1]
    with pytest.raises(ValueError, match=r"has 2 columns of counts .*n_classes = 3: must be 3"):
        identify_columns(["class0", "class1"], describe_file(n_classes=3))


@pytest.mark.parametrize(
    "header",
    [
        "task,worker,label",
        "item_id,annotator,response,time",
        "query,teacher,vote",
        "id,annotator,annotation",  # as Label Studio exports
        "row,variable,value",  # as pandas.melt leaves it
    ],
)
def test_one_vote_a_line_is_proposed_by_the_names_alone(header):
    for teachers in (2, 5, None):
        with pytest.raises(ValueError, match="if each line holds one vote say long_columns=") as e:
            identify_columns(header.split(","), describe_file(teachers))
        long = str(e.value).rpartition("=")[2]
        found = identify_columns(header.split(","), describe_file(teachers, long_columns=long))
        assert (found.id, found.worker, found.matrix) == (0, 1, [2])


@pytest.mark.parametrize("long", ["task,worker", "task,worker,worker", "task", "a,b,c,d"])
def test_one_vote_a_line_has_three_columns(long):
    with pytest.raises(ValueError, match="must be three columns of votes"):
        FileDescription(2, teachers=2, long_columns=long)


def test_a_column_is_found_by_its_name_or_a_near_one_is_proposed():
    assert identify_columns(["Image", "a", "b"], describe_file(id_column="image")).id == 0
    with pytest.raises(
        ValueError, match=r"has no column called 'imag' \(id_column\); did you mean"
    ):
        identify_columns(["image", "a", "b"], describe_file(id_column="imag"))


def test_many_names_are_listed_in_a_line():
    assert list_names(["id", "a1", "a2", "b1", "b2", "b3", "b4"]) == "id, a1, a2, b1 ... b4"
    said = list_names(chr(97 + at % 26) * (1 + at // 26) for at in range(300))
    assert len(said) < 300
