"""slices: every teacher in exactly one job."""

import pytest

from private_ensembles.training.teachers.slices import slice_members, slice_names


@pytest.mark.parametrize("K", [1, 2, 11, 125, 126, 250, 999])
@pytest.mark.parametrize("per_job", [1, 7, 125])
def test_slices_share_out_all_teachers_once_and_evenly(K, per_job):
    names = slice_names(K, per_job)
    members = [slice_members(K, name) for name in names or [None]]
    assert [i for some in members for i in some] == list(range(K))
    sizes = {len(some) for some in members}
    assert max(sizes) <= per_job
    assert max(sizes) - min(sizes) <= 1


def test_few_teachers_are_one_job_and_250_are_two():
    assert slice_names(11, 125) == slice_names(125, 125) == []
    assert slice_names(250, 125) == ["1of2", "2of2"]
    assert slice_members(250, "2of2") == range(125, 250)


@pytest.mark.parametrize("name", ["0of2", "3of2", "1of9", "1of", "of2", "", "1of2x", "1of0"])
def test_what_is_no_slice_is_refused(name):
    with pytest.raises(ValueError, match=r"slice = .*: must be 1of2, 2of2 or the like"):
        slice_members(8, name)


@pytest.mark.parametrize(("K", "per_job"), [(0, 5), (5, 0), (1.5, 5)])
def test_numbers_out_of_range_are_refused(K, per_job):
    with pytest.raises(ValueError, match="must be an integer >= 1"):
        slice_names(K, per_job)
