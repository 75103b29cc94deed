"""What the site needs beyond its packages: its address, GitHub's indents, examples in docstrings.

MkDocs calls the functions, and griffe, which reads the docstrings, the extension `Examples`.
"""

import re
import runpy
from pathlib import Path

import griffe

PACKAGE = Path(__file__).resolve().parents[1] / "workflow" / "private_ensembles" / "__init__.py"


def on_config(config):
    """Take the address from where the links to the site have it."""
    config.site_url = runpy.run_path(str(PACKAGE))["SITE"]


def on_page_markdown(markdown: str, **_) -> str:
    """Indent what belongs to an item of a list by four spaces, where GitHub takes three, too.

    The next item then needs an empty line before it.
    """
    lines, fenced = [], False
    for line in markdown.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and re.match(r"\d+\. ", line) and lines and lines[-1].startswith("    "):
            lines.append("")
        lines.append(line if fenced else re.sub(r"^   (?=\S)", "    ", line))
    return "\n".join(lines)


class Examples(griffe.Extension):
    """Show what a docstring's examples are: code, not quotations of quotations."""

    def on_instance(self, *, obj: griffe.Object, **_) -> None:
        if obj.docstring:
            example = r"^>>> .*(?:\n(?!\n).*)*"
            obj.docstring.value = re.sub(
                example, r"```pycon\n\g<0>\n```", obj.docstring.value, flags=re.MULTILINE
            )
