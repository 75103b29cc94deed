#!/usr/bin/env bash
# Snakemake 9.27.0: `--config secure=false` is true, `ms=[5, 11]` has texts, and `batch=2026_11` is the number 202611.
#
# The same four values are stated by --config and in a file for --configfile.
# Best guess before the run: the same of both, with 2026_11 as a text. Seen: --config takes a value for a number if
# Python's `int` or `float` does, so 2026_11 (as YAML does) and 1e-5 (which to YAML is a text), and for a truth value
# only True and False. All else is read as YAML of which every leaf stays a text: "false" counts as true, and of "5"
# and "11" the larger is "5", though 5 that stands alone is a number.
#
# Seen 2026-11-29, Python 3.11, snakemake==9.27.0:
#   --config: secure='false' ms=['5', '11'] delta=1e-05 batch=202611
#   --configfile: secure=False ms=[5, 11] delta='1e-5' batch=202611
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet snakemake==9.27.0 ||
    { echo "skipped: snakemake 9.27.0 cannot be installed"; exit 0; }
cd "$folder"
cat > Snakefile <<'SNAKEFILE'
with open("values.txt", "w") as file:
    print(*(f"{key}={config[key]!r}" for key in ("secure", "ms", "delta", "batch")), file=file)
rule all:
    shell: "true"
SNAKEFILE
printf '%s\n' 'secure: false' 'ms: [5, 11]' 'delta: 1e-5' 'batch: 2026_11' > values.yaml
read_values() {
    "$folder/venv/bin/snakemake" --cores 1 --dry-run "$@" > run.log 2>&1
    cat values.txt
}
seen="--config: $(read_values --config secure=false 'ms=[5, 11]' delta=1e-5 batch=2026_11)
--configfile: $(read_values --configfile values.yaml)"
echo "$seen"
[ "$seen" = "--config: secure='false' ms=['5', '11'] delta=1e-05 batch=202611
--configfile: secure=False ms=[5, 11] delta='1e-5' batch=202611" ]
