"""Names that are gone: nothing knows them any more, and whoever uses one is told what to do."""

import pytest

from private_ensembles.command.main import main
from private_ensembles.run.removed_names import REMOVED, advice
from tests.run.shipped import assert_refused

# Names that still are something elsewhere: an option of release and plan, a subcommand.
ELSEWHERE = {"most_ones", "release"}


@pytest.mark.parametrize("name", sorted(REMOVED.keys() - ELSEWHERE))
def test_a_key_that_is_gone_says_what_to_do(name):
    assert_refused({name: 3}, f"{name}: is gone: {REMOVED[name]}")
    assert_refused({f"planner.{name}": 3}, f"planner.{name}: is gone: {REMOVED[name]}")


@pytest.mark.parametrize("name", sorted(REMOVED.keys() - ELSEWHERE))
def test_an_option_that_is_gone_says_what_to_do(name, capsys):
    option = f"--{name.replace('_', '-')}"
    with pytest.raises(SystemExit) as end:
        main(["plan", "--teachers", "9", "--queries", "3", "--classes", "2", option, "1"])
    assert end.value.code == 2
    assert capsys.readouterr().err == f"error: {option} is gone: {REMOVED[name]}\n"


def test_a_name_that_never_was_there_gets_no_advice():
    assert advice("--nothing") is None
