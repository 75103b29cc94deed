#!/usr/bin/env bash
# Snakemake 9.27.0: a job whose params hold a set of texts runs again nearly each time, though nothing has changed.
#
# A rule names its classes as {"bird", "cat", "dog", "fox"}, as a list of the same, and as a dictionary with them as
# keys. After one complete run, `snakemake --dry-run` is asked six times what is to do.
# Best guess before the run: nothing, since equal sets are equal. Seen: nothing for the list and the dictionary, but the job
# of the set is to be run, because params are compared as text, and Python orders a set of texts anew in each process
# (PYTHONHASHSEED). So teachers are trained again, and all that follows. `sorted(...)` helps.
#
# Seen 2026-11-29, Python 3.11, snakemake==9.27.0 (the set's count varies: now and then it has its old order):
#   {"bird", "cat", "dog", "fox"}: runs again in 5 of 6
#   ["bird", "cat", "dog", "fox"]: runs again in 0 of 6
#   dict.fromkeys(["bird", "cat", "dog", "fox"]): runs again in 0 of 6
# Fails if the first never runs again or one of the others does.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet snakemake==9.27.0 ||
    { echo "skipped: snakemake 9.27.0 cannot be installed"; exit 0; }
cd "$folder"
unset PYTHONHASHSEED
export PATH="$folder/venv/bin:$PATH"
count_reruns() {
    printf 'rule train:\n    output: "model.txt"\n    params: classes=%s\n    shell: "touch {output}"\n' "$1" > Snakefile
    snakemake --cores 1 --forceall > run.log 2>&1
    local again=0
    for _ in 1 2 3 4 5 6; do
        snakemake --cores 1 --dry-run > plan.log 2>&1
        if grep -q "Params have changed" plan.log; then again=$((again + 1)); fi
    done
    echo "$again"
}
names='"bird", "cat", "dog", "fox"'
seen=()
for classes in "{$names}" "[$names]" "dict.fromkeys([$names])"; do
    seen+=("$(count_reruns "$classes")")
    echo "$classes: runs again in ${seen[-1]} of 6"
done
[ "${seen[0]}" -gt 0 ] && [ "${seen[1]}" = 0 ] && [ "${seen[2]}" = 0 ]
