"""Names of classes as they are stated: in a row, in a file, and what is refused."""

import pytest

from private_ensembles.release.class_names import read_class_names


def test_names_in_a_row_and_in_a_file_are_the_same(tmp_path):
    file = tmp_path / "names.txt"
    file.write_text("\ufeffcat\ngreat dane \nbird\n\n", encoding="utf-8")
    expected = ("cat", "great dane", "bird")
    assert read_class_names("cat, great dane,bird") == expected
    assert read_class_names(str(file)) == expected
    assert read_class_names(expected) == expected
    assert read_class_names("-1,1") == ("-1", "1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat", "class_names = 'cat': must be names with commas between them, or an existing file"),
        ("cat,", "class_names: name 2 is '': must be a word"),
        ("cat,dog,cat", "class_names: 'cat' comes twice"),
        ("-1,1,-1.0", "class_names: '-1.0' comes twice"),
        (
            "cat,2",
            "class_names: name 2 is '2': must not be a number beside words; for classes",
        ),
        (["cat"], "class_names: 1 names of classes: must be 2 to 100,000"),
        ([f"c{at}" for at in range(100_001)], "class_names: 100001 names of classes"),
        ("cat,d\tog", "class_names: name 2 is 'd\\tog': must be a word"),
    ],
)
def test_names_that_are_none_are_refused(text, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_class_names(text)
    assert str(caught.value).startswith(message)


def test_a_file_that_is_no_text_is_named(tmp_path):
    file = tmp_path / "names.txt"
    file.write_bytes(b"cat\n\xff\n")
    with pytest.raises(ValueError, match=r"names\.txt: is not text in UTF-8"):
        read_class_names(str(file))
