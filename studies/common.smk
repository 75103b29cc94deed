# What the studies' rules share: their configuration, fingerprints, and lists of what there is to make.
import os
import re
import sys

HERE = str(workflow.current_basedir)
# Jobs import the studies from here, and the package from where the workflow says.
sys.path.insert(0, os.path.dirname(HERE))
os.environ |= {
    "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH"), os.path.dirname(HERE)]),
}

from studies import configuration
from studies.adversaries import inputs as adversaries
from studies.authors_labels import inputs as authors_labels
from studies.authors_votes import inputs as authors_votes
from studies.equal_budget import inputs as equal_budget
from studies.intercept import inputs as intercept
from studies.interactive_students import inputs as interactive_students

asked = configuration.check_or_exit(config["studies"], main.settings)
# A study is left out if it finds nothing in this run's settings.
FREE_INTERCEPT = intercept.teacher_settings(main.settings.dpbag)
BUDGETS = equal_budget.budget_settings(main.settings.pate, asked.equal_budget)
INTERACTIVE = interactive_students.task_settings(main.settings, asked.interactive_students)
AUTHORS_LABELS = authors_labels.find_datasets(main.settings, asked.authors_labels)
AUTHORS_VOTES = authors_votes.find_vote_files(main.settings, asked.authors_votes)
ATTACKED = adversaries.attack_settings(main.settings, asked.adversaries)
# Each study adds what it makes and publishes.
TABLES, FIGURES = [], []


def fingerprint(script, data_files=()):
    """The hash of a study's script and of what it imports, as main.fingerprint has it."""
    return main.fingerprint(f"{HERE}/{script}", data_files=data_files)


def shown(path):
    """A file that Snakemake's report shows, with the caption of its study."""
    return report(path, caption="caption.rst", category="Studies")
