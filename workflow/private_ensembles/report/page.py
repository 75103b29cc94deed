"""The shell of a page that opens without a network: one file, its style and its script inside.

Apart from what the pages hold, so that a page of own votes is not made again, and their labels
drawn again, because a table of a paper looks otherwise.
"""

import base64
import hashlib
from html import escape
from pathlib import Path

# Where page.css, page.js and the captions lie.
ASSETS = Path(__file__).resolve().parents[2] / "report"


def page(parts: list[str], assets: Path, title: str = "Private ensembles: results") -> str:
    """Return HTML parts as one self-contained page; assets: the folder of page.css, page.js."""
    style = (assets / "page.css").read_text(encoding="utf-8")
    script = (assets / "page.js").read_text(encoding="utf-8")
    # The browser itself is told to load nothing and to run this script alone.
    allowed = (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{allowed}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            '<link rel="icon" href="data:,">',
            f"<style>{style}</style>\n</head>\n<body>\n<main>",
            *parts,
            f"</main>\n<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
