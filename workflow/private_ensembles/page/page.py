"""The shell of a page that opens without a network: one file, its style and its script inside.

Kept apart from what the pages hold, so that a page of own votes is not made again, and their
labels drawn again, because the table of a paper looks different.
"""

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from pathlib import Path

# Where page.css, page.js and the captions are.
ASSETS = Path(__file__).resolve().parents[2] / "report"


def page(
    parts: list[str],
    assets: Path,
    title: str = "Private ensembles: results",
    *,
    rail: Mapping[str, str] | None = None,
    home: str = "",
) -> str:
    """Return HTML parts as one self-contained page; assets: the folder of page.css, page.js.

    rail: the names of the page's chapters by their anchors, for a list that stays beside them.
    home: the name of the folder that the page is made in; only there are files outside linked.
    """
    style = (assets / "page.css").read_text(encoding="utf-8")
    script = (assets / "page.js").read_text(encoding="utf-8")
    # The browser itself is told to load nothing and to run this script alone.
    allowed = (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    place = f' data-home="{escape(home)}"' if home else ""
    return "\n".join(
        [
            f'<!DOCTYPE html>\n<html lang="en"{place}>\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{allowed}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>",
            '<link rel="icon" href="data:,">',
            f'<style>{style}</style>\n</head>\n<body id="top"{" class=railed" if rail else ""}>',
            _rail(rail or {}),
            '<main id="main">',
            *parts,
            f"</main>\n<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _rail(rail: Mapping[str, str]) -> str:
    if not rail:
        return ""
    links = "".join(
        f'<li><a href="#{escape(anchor)}">{escape(name)}</a></li>' for anchor, name in rail.items()
    )
    return (
        '<a class="skip" href="#main">Skip to the results</a>'
        f'<nav class="rail" aria-label="Contents"><ul>{links}</ul></nav>'
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
