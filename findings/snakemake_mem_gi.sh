#!/usr/bin/env bash
# Snakemake 9.27.0: `mem="64Gi"`, as Kubernetes writes it, is 64,000 MB, and `mem="64GiB"` is 68,720.
#
# Best guess before the run: 64Gi is an error, or the same as 64GiB. Seen: it is read as 64G, 7 % less
# than meant, without a warning. All in megabytes of 10^6 bytes.
#
# Seen 2026-11-28, Python 3.11, snakemake==9.27.0:
#   64Gi: 64000
#   64GiB: 68720
#   64G: 64000
# Fails if 64Gi is no longer read as 64G.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet snakemake==9.27.0 ||
    { echo "skipped: snakemake 9.27.0 cannot be installed"; exit 0; }
cd "$folder"
cat > Snakefile <<'SNAKEFILE'
rule all:
    input: "64Gi.txt", "64GiB.txt", "64G.txt"
rule state:
    output: "{size}.txt"
    resources: mem=lambda wildcards: wildcards.size
    shell: "echo {resources.mem_mb} > {output}"
SNAKEFILE
PATH="$folder/venv/bin:$PATH" snakemake --cores 1 > run.log 2>&1 || { tail -5 run.log; exit 1; }
for size in 64Gi 64GiB 64G; do
    echo "$size: $(cat "$size.txt")"
done
[ "$(cat 64Gi.txt)" = "$(cat 64G.txt)" ] && [ "$(cat 64GiB.txt)" = 68720 ]
