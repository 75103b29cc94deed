"""The templates of the pages, and their shell: one file that opens without a network.

The templates (``templates/``) are Jinja2's: whatever is not markup already is escaped. The parts of
all pages are in ``pieces.html``. A page of own votes uses that, ``report.html`` and ``own.html``
alone, so that a change of the page of results does not make it again and draw its labels again.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from private_ensembles import docs_address
from private_ensembles.base.parameter_names import link
from private_ensembles.labels import display_names
from private_ensembles.papers.compare.statuses import STATUSES

# Where page.css, page.js and the captions are.
ASSETS = Path(__file__).resolve().parents[2] / "report"


def inline_html(text: str) -> Markup:
    """Return one paragraph of reStructuredText as HTML: ``code``, *emphasis*, **strong**.

    Emphasised identifiers of columns are written as the tables' headings are.

    >>> inline_html("*epsilon_total* < ``2``")
    Markup('<em>ε total</em> &lt; <code>2</code>')
    """
    text = str(escape(" ".join(text.split())))
    text = re.sub(r"``(docs/[\w.-]+\.md)``", lambda match: str(pieces.docs(match[1])), text)
    text = re.sub(r"``(.+?)``", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return Markup(re.sub(r"(?<![\w*])\*([^*]+)\*(?![\w*])", _emphasise, text))


def _emphasise(match: re.Match) -> str:
    is_column = re.fullmatch("[A-Za-z]+(_[A-Za-z0-9]+)*", match[1])
    return f"<em>{display_names.column_heading(match[1]) if is_column else match[1]}</em>"


def _keep_equation_together(words: str) -> str:
    """Return a heading with unbreakable spaces in its equations."""
    return words.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals["statuses"] = STATUSES
TEMPLATES.globals["docs_address"] = docs_address
TEMPLATES.filters |= {"inline": inline_html, "link": link, "unbroken": _keep_equation_together}
# Python may call the macros of pieces.html, too: they return markup.
pieces = TEMPLATES.get_template("pieces.html").module


def page(
    template: str,
    title: str,
    *,
    rail: Mapping[str, str] | None = None,
    home: str = "",
    **values: object,
) -> str:
    """Return a page as HTML.

    Args:
        template: A template that extends ``report.html``.
        title: The page's title.
        rail: The names of the page's chapters by their anchors, for a list that stays beside them.
        home: The name of the folder that the page is made in. Files outside are linked only there.
        **values: The template's values.
    """
    style, script = (
        (ASSETS / name).read_text(encoding="utf-8") for name in ("page.css", "page.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    shell = {"style": style, "script": script, "digest": digest, "title": title}
    return TEMPLATES.get_template(template).render(shell, rail=rail or {}, home=home, **values)
