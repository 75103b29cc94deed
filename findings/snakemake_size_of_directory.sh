#!/usr/bin/env bash
# Snakemake 9.27.0: `input.size_mb` of a directory is not the size of what is in it.
#
# Memory by the size of the input, `mem_mb=lambda wildcards, input: max(1, 2 * input.size_mb)`. The inputs are 5 MB in
# one file, and the same file in a directory.
# Best guess before the run: 10 MB for both, as Snakemake knows of directories as outputs. Seen: the directory has
# a few kB, whatever is in it: its own entry's size. A job that reads a folder of shards asks for 1 MB.
#
# Seen 2026-11-29, Python 3.11, snakemake==9.27.0:
#   file: mem_mb=10
#   directory: mem_mb=1
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet snakemake==9.27.0 ||
    { echo "skipped: snakemake 9.27.0 cannot be installed"; exit 0; }
cd "$folder"
mkdir directory
head -c 5000000 /dev/zero | tee file > directory/shard
cat > Snakefile <<'SNAKEFILE'
rule all:
    input: "file.txt", "directory.txt"
rule measure:
    input: "{name}"
    output: "{name}.txt"
    resources: mem_mb=lambda wildcards, input: max(1, round(2 * input.size_mb))
    shell: "echo '{input}: mem_mb={resources.mem_mb}' > {output}"
SNAKEFILE
PATH="$folder/venv/bin:$PATH" snakemake --cores 1 > run.log 2>&1 || { tail -5 run.log; exit 1; }
seen=$(cat file.txt directory.txt)
echo "$seen"
[ "$seen" = "file: mem_mb=10
directory: mem_mb=1" ]
