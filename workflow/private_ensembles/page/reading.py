"""The pages of docs/ as HTML files beside the page of results, where no site is deployed.

A browser shows Markdown as it stands and knows none of its headings; these files open without a
network, their anchors are those that GitHub makes, and links between them hold.
"""

import os
import re
from pathlib import Path
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

import private_ensembles
from private_ensembles.configuration.docs_pages import pages_of_docs
from private_ensembles.page.page import ASSETS, TEMPLATES

_MARKDOWN = MarkdownIt("commonmark").enable("table")


def write_pages(folder: Path, repository: Path = ASSETS.parents[1]) -> None:
    """Write every page below a folder, at its place on the site; none if there is a site.

    repository: its root. Raises OSError for a file that cannot be read or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = [] if private_ensembles.SITE else pages_of_docs(repository)
    for name in names:
        target = folder / private_ensembles.on_site(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (repository / name).read_text(encoding="utf-8")

        def lead(link: str, name: str = name, here: Path = target.parent) -> str:
            return _lead(link, name, here, repository, set(names))

        target.write_text(page_of(text, lead), encoding="utf-8")


def page_of(text: str, lead=lambda link: link) -> str:
    """Return a page of Markdown as HTML; lead: says where a link of it leads.

    >>> '<h1 id="what-γ-is">What γ is</h1>' in page_of("# What γ is")
    True
    """
    tokens = _MARKDOWN.parse(text)
    title, seen = "", {}
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open":
            words = "".join(piece.content for piece in following.children)
            title, anchor = title or words, _anchor(words)
            seen[anchor] = seen.get(anchor, -1) + 1
            token.attrSet("id", f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        for piece in token.children or ():
            _redirect(piece, lead)
    body = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    style = (ASSETS / "page.css").read_text(encoding="utf-8")
    return TEMPLATES.get_template("reading.html").render(title=title, body=body, style=style)


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _redirect(piece: Token, lead) -> None:
    for attribute in ("href", "src"):
        if attribute in piece.attrs:
            piece.attrSet(attribute, lead(str(piece.attrs[attribute])))


def _lead(link: str, name: str, here: Path, repository: Path, names: set[str]) -> str:
    """Return where a link of the page `name` leads from the folder `here`."""
    path, hash_sign, anchor = link.partition("#")
    if not path or ":" in path:
        return link
    wanted = os.path.normpath(os.path.join(os.path.dirname(name), unquote(path)))
    if wanted in names:
        own = os.path.dirname(private_ensembles.on_site(name))
        return os.path.relpath(private_ensembles.on_site(wanted), own or ".") + hash_sign + anchor
    return quote(os.path.relpath(repository / wanted, here.resolve())) + hash_sign + anchor
