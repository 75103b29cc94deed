"""The kinds of files that votes come in, and the function that reads each.

This holds facts only: the configuration's pattern and the command's help are made from them, and
load no reader.
"""

READERS = {
    ".npz": "release.files.arrays.read_npz",
    ".npy": "release.files.arrays.read_npy",
    ".csv": "release.files.tables.read_csv",
    ".parquet": "release.files.tables.read_parquet",
}


def list_endings() -> str:
    """Return the endings in words.

    >>> list_endings()
    '.npz, .npy, .csv or .parquet'
    """
    *others, last = READERS
    return f"{', '.join(others)} or {last}"


def ending_pattern() -> str:
    """Return a regular expression that finds one of the endings at the end of a name.

    >>> ending_pattern()
    '\\\\.(npz|npy|csv|parquet)$'
    """
    return rf"\.({'|'.join(ending.removeprefix('.') for ending in READERS)})$"
