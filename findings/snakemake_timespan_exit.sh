#!/usr/bin/env bash
# Snakemake 9.27.0: with --max-jobs-per-timespan it stays for a whole timespan after its last job.
#
# Three jobs of no time at all, at most 100 per 20 seconds, so that the limit is never reached. The times are
# those between the last job's end and Snakemake's.
# Best guess before the run: it ends with its last job, as it does without the option (100 per second).
# Seen: it stays for 20 s more, since it keeps a timer for each finished job and waits for them. With 1000/1h, which a
# cluster's policy may ask for, that is an hour.
#
# Seen 2026-11-29, Python 3.11, snakemake==9.27.0:
#   without: ends within 10 s of its last job
#   --max-jobs-per-timespan 100/20s: ends 20 s after its last job or later
# Fails if the first takes longer or the second is quicker than 15 s.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet snakemake==9.27.0 ||
    { echo "skipped: snakemake 9.27.0 cannot be installed"; exit 0; }
cd "$folder"
cat > Snakefile <<'SNAKEFILE'
rule all:
    input: expand("{number}.txt", number=range(3))
rule one:
    output: "{number}.txt"
    shell: "touch {output}"
SNAKEFILE
linger() {
    rm -f ./*.txt
    PATH="$folder/venv/bin:$PATH" snakemake --cores 1 --quiet all "$@" > run.log 2>&1 ||
        { tail -5 run.log >&2; exit 1; }
    echo $(($(date +%s) - $(stat -c %Y 2.txt 1.txt 0.txt | sort -n | tail -1)))
}
plain=$(linger)
limited=$(linger --max-jobs-per-timespan 100/20s)
echo "without: ended $plain s after its last job"
echo "--max-jobs-per-timespan 100/20s: ended $limited s after its last job"
[ "$plain" -lt 10 ] && [ "$limited" -ge 15 ]
