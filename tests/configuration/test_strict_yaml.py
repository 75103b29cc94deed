"""A key that stands twice in a file is refused with file, key and line, wherever it stands."""

import pytest
import yaml

from private_ensembles.configuration import strict_yaml
from private_ensembles.configuration.check import sources


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("seed: 1\ndata: paper\nseed: 2\n", "line 3: seed is given twice, first in line 1"),
        (
            "pate:\n  tasks:\n    mnist: {K: 5,\n K: 6}\n",
            "line 4: K is given twice, first in line 3",
        ),
        ("a:\n- {x: 1, y: 2, x: 1}\n", "line 2: x is given twice"),
        ('{"K": 5, "K": 5}', "line 1: K is given twice"),
        ("1: a\n0x1: b\n", "line 2: 1 is given twice"),
    ],
)
def test_a_key_that_stands_twice_is_refused(tmp_path, text, says, capsys):
    (tmp_path / "my.yaml").write_text(text)
    with pytest.raises(strict_yaml.GivenTwice) as refused:
        strict_yaml.read(tmp_path / "my.yaml")
    assert str(refused.value).startswith(f"{tmp_path}/my.yaml, {says}")
    (tmp_path / "config.yaml").write_text("seed: 0\n")
    with pytest.raises(SystemExit) as left:
        sources([tmp_path / "my.yaml", tmp_path / "config.yaml"], {})
    assert left.value.code == 1
    assert capsys.readouterr().err == f"error: {refused.value}\n"


@pytest.mark.parametrize(
    "text",
    [
        "a: {x: 1}\nb: {x: 1}\n",
        "base: &base {x: 1, y: 2}\nmore: {<<: *base, x: 3}\n",
        "one: &one {x: 1}\ntwo: &two {y: 2}\nboth: {<<: [*one, *two]}\n",
        "list: [1, 1]\nnone: null\ndate: 2020-01-01\n",
        "",
    ],
)
def test_everything_else_is_read_as_pyyaml_does(tmp_path, text):
    (tmp_path / "my.yaml").write_text(text)
    assert strict_yaml.read(tmp_path / "my.yaml") == yaml.safe_load(text)


def test_nothing_but_plain_values_is_built(tmp_path):
    (tmp_path / "my.yaml").write_text("x: !!python/object/apply:os.getcwd []\n")
    with pytest.raises(yaml.YAMLError):
        strict_yaml.read(tmp_path / "my.yaml")
