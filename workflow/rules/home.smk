# This file finds the whole repository, wherever workflow/Snakefile was found.
import os
import sys
import tempfile

from snakemake.sourcecache import HostingProviderFile, LocalGitFile


def home(here, cache):
    """Return the folder of the repository on this machine, from which jobs import the package.

    here: the folder of workflow/Snakefile. From `github(...)`, `gitlab(...)` and `git+file:...`
    Snakemake fetches the files that it knows of, so the whole commit is cloned into `cache`, once.
    """
    if os.path.isdir(str(here)):
        return os.path.dirname(str(here))
    if isinstance(here, HostingProviderFile):
        repository = here.hosted_repo.repo  # bare, and fetched when that file was
    elif isinstance(here, LocalGitFile):
        from git import Repo

        repository = Repo(here.repo_path)
    else:
        sys.exit(
            f"error: {here}: is one file of an address, and jobs need the whole repository; let "
            "`snakefile:` be github(...), gitlab(...) or a path in a clone"
        )
    commit = repository.commit(here.ref)
    place = os.path.join(cache, "private-ensembles", commit.hexsha)
    if not os.path.isdir(place):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(place)) as new:
            repository.clone(f"{new}/clone", no_checkout=True).git.checkout(commit.hexsha)
            try:
                os.rename(f"{new}/clone", place)
            except OSError:
                if not os.path.isdir(place):  # by another process, which was faster
                    raise
    return os.path.join(place, os.path.dirname(here.path))
