"""Names of NZC's files."""

from private_ensembles.base.parameter_names import parameters_of
from private_ensembles.papers.nzc import targets
from private_ensembles.run.check import check
from tests.run.shipped import DEFAULT


def test_votes_of_nzc_go_by_their_number_of_teachers():
    nzc = check(DEFAULT).nzc
    task = next(iter(nzc.enabled_tasks()))
    votes = targets.task_vote_files(nzc, task)
    assert [parameters_of(path)["K"] for path in votes.values()] == sorted(votes)
    labels = targets.label_vote_files(nzc, task)
    assert labels == {"many": votes[max(votes)], "few": votes[nzc.tasks[task].few]}
