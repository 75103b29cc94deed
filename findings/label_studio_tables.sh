#!/usr/bin/env bash
# label-studio-sdk 2.1.2: its CSV has a rating as '[{"rating":3}]', and the TSV overwrites the CSV under the same name.
#
# The converter, given an export of two tasks: one with a choice and a rating, one with two annotators' choices.
# Best guess before the run: a line for each annotation; a rating is 3, as a choice is cat; the tables are
# result.csv and result.tsv. Seen: lines and choices are as guessed. A rating or a number is a JSON list in the
# cell, so it cannot be read as a vote. A task that nobody has answered has a line without an annotator.
# TSV is written to result.csv, over the CSV, so that a program that asks for both has tabs in a CSV.
#
# Seen 2026-11-29, Python 3.11, label-studio-sdk==2.1.2:
#   task 1: annotator 7, label cat, stars [{"rating":3}]
#   task 2: annotator 7, label cat, stars -
#   task 2: annotator 8, label dog, stars -
#   task 3: annotator -, label -, stars -
#   files after CSV and TSV: result.csv, with tabs
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet label-studio-sdk==2.1.2 ||
    { echo "skipped: label-studio-sdk 2.1.2 cannot be installed"; exit 0; }
cat > "$folder/convert.py" <<'PY'
import csv
import json
import os

from label_studio_sdk.converter import Converter

CONFIG = """<View><Text name="text" value="$text"/>
<Choices name="label" toName="text"><Choice value="cat"/><Choice value="dog"/></Choices>
<Rating name="stars" toName="text"/></View>"""


def answer(name, kind, value):
    return {"from_name": name, "to_name": "text", "type": kind, "value": value}


def annotate(annotator, *answers):
    return {"id": annotator, "completed_by": annotator, "result": list(answers)}


cat, dog = (answer("label", "choices", {"choices": [name]}) for name in ("cat", "dog"))
annotations = [
    [annotate(7, cat, answer("stars", "rating", {"rating": 3}))],
    [annotate(7, cat), annotate(8, dog)],
    [],
]
tasks = [
    {"id": number, "data": {"text": "a"}, "annotations": given}
    for number, given in enumerate(annotations, 1)
]
with open("export.json", "w") as file:
    json.dump(tasks, file)
converter = Converter(CONFIG, ".")
converter.convert("export.json", "tables", "CSV", is_dir=False)
with open("tables/result.csv") as file:
    rows = [
        f"task {row['id']}: annotator {row['annotator'] or '-'}, "
        f"label {row['label'] or '-'}, stars {row['stars'] or '-'}"
        for row in csv.DictReader(file)
    ]
converter.convert("export.json", "tables", "TSV", is_dir=False)
with open("tables/result.csv") as file:
    separator = "tabs" if "\t" in file.readline() else "commas"
rows.append(f"files after CSV and TSV: {' '.join(os.listdir('tables'))}, with {separator}")
print(*rows, sep="\n")
raise SystemExit(
    rows
    != [
        'task 1: annotator 7, label cat, stars [{"rating":3}]',
        "task 2: annotator 7, label cat, stars -",
        "task 2: annotator 8, label dog, stars -",
        "task 3: annotator -, label -, stars -",
        "files after CSV and TSV: result.csv, with tabs",
    ]
)
PY
cd "$folder" && venv/bin/python convert.py
