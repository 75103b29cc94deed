"""The shell of the page: one file that loads nothing and runs one known script."""

import base64
import hashlib
import re

from private_ensembles.page.page import ASSETS, page


def test_the_page_holds_its_parts_style_and_script():
    made = page(["<p>one</p>", "<p>two</p>"], ASSETS, title="A < B")
    assert "<p>one</p>\n<p>two</p>" in made
    assert "<title>A &lt; B</title>" in made
    assert (ASSETS / "page.css").read_text(encoding="utf-8") in made


def test_the_only_script_that_may_run_is_the_one_inside():
    made = page([], ASSETS)
    (script,) = re.findall(r"<script>(.*?)</script>", made, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in made
    assert "default-src 'none'" in made
