#!/usr/bin/env bash
# Snakemake 9.27.0: `use rule ... with` keeps the params that are not named anew, and drops the resources and inputs.
#
# Rule `first` has two named inputs, params and resources. `second` is `use rule first with` one of each anew.
# Best guess before the run: all three are merged by name, as in a subclass. Seen: only params are. A second rule that
# states `resources: mem_mb=3` loses the first one's disk, and so its runtime, partition or GPU, and runs with the
# defaults; a second rule that replaces one input has no other.
#
# Seen 2026-11-29, Python 3.11, snakemake==9.27.0:
#   first: inputs a b, params 1 2, mem 100 MB, gpu 1
#   second: inputs c, params 5 2, mem 3 MB, gpu none
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet snakemake==9.27.0 ||
    { echo "skipped: snakemake 9.27.0 cannot be installed"; exit 0; }
cd "$folder"
touch a b c
cat > Snakefile <<'SNAKEFILE'
rule all:
    input: "first.txt", "second.txt"
rule first:
    input: one="a", two="b"
    output: "first.txt"
    params: x=1, y=2
    resources: mem_mb=100, gpu=1
    run:
        gpu = resources.get("gpu", "none")
        with open(output[0], "w") as file:
            print(f"{rule}: inputs {input}, params {params}, mem {resources.mem_mb} MB, gpu {gpu}", file=file)
use rule first as second with:
    input: one="c"
    output: "second.txt"
    params: x=5
    resources: mem_mb=3
SNAKEFILE
PATH="$folder/venv/bin:$PATH" snakemake --cores 1 > run.log 2>&1 || { tail -5 run.log; exit 1; }
seen=$(cat first.txt second.txt)
echo "$seen"
[ "$seen" = "first: inputs a b, params 1 2, mem 100 MB, gpu 1
second: inputs c, params 5 2, mem 3 MB, gpu none" ]
