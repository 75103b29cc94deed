# What the studies' rules share: their configuration, fingerprints, and lists of what there is to make.
import os
import sys

HERE = str(workflow.current_basedir)
# Jobs import the studies from here, and the package from where the workflow says.
sys.path.insert(0, os.path.dirname(HERE))
os.environ |= {
    "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH"), os.path.dirname(HERE)]),
}

from studies import configuration

asked = configuration.check_or_exit(config["studies"])
penalised_teachers = configuration.penalised_teachers(main.settings.dpbag)
# What there is to make and to publish; each study adds its own.
TABLES, FIGURES = [], []


def fingerprint(script, also=()):
    """The hash of a study's script and of what it imports, as main.fingerprint has it."""
    return main.fingerprint(f"{HERE}/{script}", also=also)


def shown(path):
    """A file that Snakemake's report shows, with the caption of its study."""
    return report(path, caption="caption.rst", category="Studies")
