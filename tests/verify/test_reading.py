"""What is read of files and how much of it, and what is said of them: words, statuses, decimals."""

import hashlib
import json
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import pytest
from mpmath import mp

from verify import verify


@pytest.fixture(autouse=True)
def any_work():
    verify.steps.allow(10**12)


def test_the_page_says_the_limits(root):
    page = " ".join((root / "docs" / "certificates.md").read_text(encoding="utf-8").split())
    limits = f"A file has at most {verify.LARGEST_FILE // 2**20} MiB, an integer "
    limits += f"{verify.MOST_DIGITS} digits, a count is at most {verify.LARGEST_COUNT:,}, "
    limits += "an exponent at most 2,000."
    assert verify.LARGEST_FILE % 2**20 == 0
    assert limits in page
    assert "A certificate may take 100 million multiplications" in page


@pytest.mark.parametrize("over", [0, 1])
def test_a_file_of_the_largest_size_is_read_and_a_larger_one_is_not(tmp_path, monkeypatch, over):
    path = tmp_path / "certificate.json"
    path.write_text('{"kind": "none"}')
    monkeypatch.setattr(verify, "LARGEST_FILE", len(path.read_bytes()) - over)
    if over:
        with pytest.raises(NotImplementedError, match="has more than 15 bytes"):
            verify.read(path)
    else:
        assert verify.read(path) == {"kind": "none"}


def read_labels(tmp_path, content, labels=2, classes=2, silent=False, sha256=None):
    """The line on such labels, beside the file of a plan of so many."""
    content = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "labels.csv").write_bytes(content)
    plan = SimpleNamespace(C=classes, labels=labels, silent=silent)
    sha256 = sha256 or hashlib.sha256(content).hexdigest()
    return verify.check_labels_file(tmp_path / "certificate.json", sha256, plan)


def test_the_largest_table_of_labels_is_read_and_a_larger_one_is_not(tmp_path, monkeypatch):
    content = "query,label\n0,0\n1,1\n"
    monkeypatch.setattr(verify, "LARGEST_LABELS", len(content))
    assert read_labels(tmp_path, content)[0] == "holds"
    word, line = read_labels(tmp_path, content + "\n")
    assert (word, line) == ("unchecked", f"labels.csv: has more than {len(content)} bytes")


# Tables, with how many labels the plan has, and whether it may be silent; and what they are.
HOLD, REFUSED = True, False
TABLES = {
    "as many labels": ("query,label\n0,0\n1,1\n", 2, False, HOLD),
    "fewer": ("query,label\n0,0\n1,1\n", 3, False, REFUSED),
    "fewer of a silent plan": ("query,label\n0,0\n1,1\n", 3, True, HOLD),
    "fewer of a session": ("batch,query,label\n0,0,0\n1,0,1\n", 3, False, HOLD),
    "more of a silent plan": ("query,label\n0,0\n1,1\n", 1, True, REFUSED),
    "more of a session": ("batch,query,label\n0,0,0\n1,0,1\n", 1, False, REFUSED),
    "none of a silent plan": ("query,label\n", 1, True, HOLD),
    "labels from 1": ("query,label\n0,1\n1,2\n", 2, False, HOLD),
    "labels from 0 and one too many": ("query,label\n0,0\n1,2\n", 2, False, REFUSED),
    "labels from 1 and one too many": ("query,label\n0,1\n1,3\n", 2, False, REFUSED),
    "labels from 2": ("query,label\n0,2\n1,3\n", 2, False, REFUSED),
    "the last class alone": ("query,label\n0,2\n1,2\n", 2, False, HOLD),
    "nine digits": ("query,label\n999999999,0\n1,1\n", 2, False, HOLD),
    "ten digits": ("query,label\n1000000000,0\n1,1\n", 2, False, REFUSED),
    "a query twice": ("query,label\n7,0\n07,1\n", 2, False, REFUSED),
    "a query in each of two batches": ("batch,query,label\n0,7,0\n1,7,1\n", 2, False, HOLD),
    "all columns": ("batch,query,id,label,class_name\n0,7,x,0,a\n0,8,y,1,b\n", 2, False, HOLD),
    "two names of a class": ("query,label,class_name\n0,0,a\n1,0,b\n", 2, False, REFUSED),
    "a name of two classes": ("query,label,class_name\n0,0,a\n1,1,a\n", 2, False, REFUSED),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_a_label_of_a_class_for_each_query_that_was_paid(tmp_path, name):
    content, labels, silent, holds = TABLES[name]
    if holds:
        word, line = read_labels(tmp_path, content, labels, silent=silent)
        assert word == "holds"
        assert f"is the file of {content.count(chr(10)) - 1} labels that was charged" in line
    else:
        with pytest.raises(ValueError, match=r"^labels\.csv: "):
            read_labels(tmp_path, content, labels, silent=silent)
    with pytest.raises(ValueError, match="is another file than the one that was charged"):
        read_labels(tmp_path, content, labels, silent=silent, sha256=64 * "0")


RECORDS = [
    ({"kind": "label"}, "check"),
    ({"kind": "label", "release": {}, "K": 1}, "check"),
    ({"release": {}, "gamma": []}, "check_release_file"),
    *(({name: 1}, "check_gamma_file") for name in ("K", "gamma", "certificate", "utility")),
    ({"certificates": []}, None),
    ({}, None),
]


@pytest.mark.parametrize(("record", "check"), RECORDS)
def test_a_file_is_what_its_fields_say(tmp_path, monkeypatch, record, check):
    checks = ("check", "check_release_file", "check_gamma_file")
    for name in checks:
        one = "line" if name == "check" else [("holds", "line")]
        answer = one if name == check else [("FAILS", name)]
        monkeypatch.setattr(verify, name, lambda *_, answer=answer: answer)
    path = tmp_path / "file.json"
    path.write_text(json.dumps(record))
    said = ("unchecked", "there is no certificate") if check is None else ("holds", "line")
    assert list(verify.verdicts(path)) == [said]


@pytest.mark.parametrize(
    ("reason", "word", "line"),
    [
        (NotImplementedError("nobody knows"), "unchecked", "nobody knows"),
        (OSError("no such file"), "unchecked", "no such file"),
        (MemoryError(), "unchecked", "MemoryError"),
        (RecursionError("too deep"), "unchecked", "too deep"),
        (ValueError("is no gamma"), "FAILS", "is no gamma"),
        (UnicodeError("a letter"), "FAILS", "UnicodeError('a letter')"),
        (KeyError("gamma"), "FAILS", "KeyError('gamma')"),
        (ZeroDivisionError(), "FAILS", "ZeroDivisionError()"),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, Exception) else None,
)
def test_what_cannot_be_understood_fails_and_what_cannot_be_done_is_unchecked(
    monkeypatch, reason, word, line
):
    def check(path):
        yield "holds", path
        raise reason

    monkeypatch.setattr(verify, "check_file_contents", check)
    assert list(verify.verdicts("a")) == [("holds", "a"), (word, line)]


@pytest.mark.parametrize(
    ("words", "status", "lines"),
    [
        ([["holds"]], 0, 1),
        ([["holds", "holds"], ["holds"]], 0, 3),
        ([["unchecked"], ["holds"]], 2, 2),
        ([["holds", "unchecked"]], 2, 2),
        ([["FAILS", "holds"], ["holds"]], 1, 1),
        ([["unchecked"], ["holds", "FAILS"], ["holds"]], 1, 3),
    ],
)
def test_the_status_is_that_of_the_worst_line_and_what_fails_ends_it(
    monkeypatch, capsys, words, status, lines
):
    monkeypatch.setattr(
        verify, "verdicts", lambda path: [(word, "so") for word in words[int(path)]]
    )
    assert verify.main(range(len(words))) == status
    said = capsys.readouterr().out.splitlines()
    assert said == [f"{word:10} {k}: so" for k, file in enumerate(words) for word in file][:lines]


@pytest.mark.parametrize(
    ("words", "millions"), [([], 100), (["--limit", 1], 1), (["--limit", 250], 250)]
)
def test_a_certificate_may_take_as_many_steps_as_is_said(monkeypatch, capsys, words, millions):
    left = []
    monkeypatch.setattr(verify, "verdicts", lambda _: left.append(verify.steps.left) or [])
    assert verify.main([*words, "a", "b"]) == 0
    assert left == [millions * 10**6] * 2
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("words", [[], ["--limit", 5], ["--limit", 0, "a"], ["--limit", -1, "a"]])
def test_nothing_to_read_and_nothing_to_do_it_with_are_told(capsys, words):
    assert verify.main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("usage: ")


@pytest.mark.parametrize("length", [0, 1, verify.LONGEST_LINE, verify.LONGEST_LINE + 1, 10**5])
def test_a_line_is_cut_where_it_is_too_long(length):
    text = "x" * length
    dots = "..." if length > 4000 else ""
    assert verify.clean_line(text) == text[:4000] + dots


@pytest.mark.parametrize(
    "value", ["1/3", "2/3", "-1/3", "12345678901234567/1", "1", "0", f"1/{3**900}", f"{7**500}/3"]
)
def test_bounds_are_written_outwards_in_ten_digits(value):
    value = Fraction(value)
    above, below = verify.write_upper_bound(value), verify.write_lower_bound(value)
    assert Fraction(below) <= value <= Fraction(above)
    assert abs(Fraction(above) - Fraction(below)) <= abs(value) / 10**9
    for text in (above, below):
        assert len(Decimal(text).normalize().as_tuple().digits) <= 10
    about = verify.write_approximately(value)
    assert about.startswith("~") == (Fraction(about.removeprefix("~")) != value)
    assert abs(Fraction(about.removeprefix("~")) - value) <= abs(value) / 10**11 / 2


def test_exponentials_of_very_small_numbers_lie_between_their_bounds():
    """Below e^-2000 nothing is worked out."""
    for x in (
        Fraction(-2000),
        Fraction(-2000) - Fraction(1, 10**90),
        Fraction(-2001),
        Fraction(-9999),
    ):
        low, high = verify.exp(x)
        with mp.workdps(950):
            exact = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
            assert 0 <= mpmath.mpf(low.numerator) / low.denominator <= exact
            assert exact <= mpmath.mpf(high.numerator) / high.denominator
            assert mpmath.mpf(high.numerator) / high.denominator < 2 * mpmath.exp(-2000)


@pytest.mark.parametrize("y", ["-1/100", "-7/2", "-12", "-40"])
def test_error_functions_of_numbers_below_0_lie_between_their_bounds(y):
    y = Fraction(y)
    low, high = verify.erfc(y)
    with mp.workdps(900):
        exact = mpmath.erfc(mpmath.mpf(y.numerator) / y.denominator)
        assert mpmath.mpf(low.numerator) / low.denominator <= exact
        assert exact <= mpmath.mpf(high.numerator) / high.denominator
    assert high - low <= Fraction(1, 10**62)


def test_a_delta_within_the_last_digits_of_a_law_s_cannot_be_told():
    """It is no proof and no lie: between both bounds nobody can tell, and at either one can."""
    law = {"name": "response", "epsilon": 1, "delta": "1/1000"}
    _, least, most = verify.bound_label_delta({"law": law}, Fraction(1, 3))
    assert 0 < most - least < Fraction(1, 10**60)
    page = "docs/certificates.md#hockey_stick"
    body = {"kind": "label", "theorem": "hockey_stick", "proof": page, "law": law, "epsilon": "1/3"}
    hair = Fraction(1, 2**600)

    def claim(delta):
        return body | {"delta": f"{delta.numerator}/{delta.denominator}"}

    assert "DP" in verify.check(claim(most))
    for delta in (least, (least + most) / 2, most - hair):
        with pytest.raises(NotImplementedError, match="nobody can tell"):
            verify.check(claim(delta))
    with pytest.raises(ValueError, match="delta is about"):
        verify.check(claim(least - hair))


@pytest.mark.parametrize("sign", ["", "-"])
def test_an_integer_of_the_most_digits_is_read_and_any_longer_one_is_undecided(sign):
    """A sign counts as a digit at this door; the next one counts digits alone."""
    for digits in (1, verify.MOST_DIGITS - 1, verify.MOST_DIGITS):
        text = sign + "7" * digits
        assert verify.integer(text) == int(text)
    for digits in (verify.MOST_DIGITS + 2, verify.MOST_DIGITS + 3, 4000, 5000):
        with pytest.raises(NotImplementedError, match="an integer has more than 600 digits"):
            verify.integer(sign + "7" * digits)
