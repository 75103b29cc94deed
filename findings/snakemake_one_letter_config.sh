#!/usr/bin/env bash
# Snakemake 9.27.0: `--config K=5` is refused, `--config KK=5` is not: a key needs two letters.
#
# Best guess before the run: any name that a configuration file may have works, so K, m and q, too. Seen: "Config entry
# must start with a valid identifier." In a file for --configfile, K is a key like any other.
#
# Seen 2026-11-29, Python 3.11, snakemake==9.27.0:
#   --config K=5: ValueError: Invalid config definition: Config entry must start with a valid identifier.
#   --config KK=5: 5
#   --configfile K.yaml: 5
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet snakemake==9.27.0 ||
    { echo "skipped: snakemake 9.27.0 cannot be installed"; exit 0; }
cd "$folder"
echo "K: 5" > K.yaml
cat > Snakefile <<'SNAKEFILE'
rule state:
    output: "stated.txt"
    params: value=lambda wildcards: config.get("K", config.get("KK"))
    shell: "echo {params.value} > {output}"
SNAKEFILE
state() {
    rm -f stated.txt
    if PATH="$folder/venv/bin:$PATH" snakemake --cores 1 "$@" > run.log 2>&1; then
        echo "$*: $(cat stated.txt)"
    else
        echo "$*: $(grep '^ValueError' run.log)"
    fi
}
seen=$(state --config K=5
state --config KK=5
state --configfile K.yaml)
echo "$seen"
[ "$seen" = "--config K=5: ValueError: Invalid config definition: Config entry must start with a valid identifier.
--config KK=5: 5
--configfile K.yaml: 5" ]
