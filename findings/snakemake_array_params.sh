#!/usr/bin/env bash
# Snakemake 9.27.0: NumPy's arrays and integers in `params` are not compared, so other ones rerun nothing.
#
# A rule runs with one parameter, then a dry run is asked with another. Snakemake promises a rerun if params change.
# Best guess before the run: small arrays are compared like lists; of large ones only the shortened text is, so that a
# change in the middle goes unseen. Seen: no array is compared, whatever its size, no integer of NumPy's, as a row of a
# data frame has them, and no dataclass. A pandas Series and a list are, and so is an array inside a list or a
# dictionary.
#
# Seen 2026-11-28, Python 3.11, snakemake==9.27.0, numpy==2.4.6, pandas==3.1.1:
#   [1, 2] -> [5, 6, 7]: rerun
#   pd.Series([1, 2]) -> pd.Series([5, 6, 7]): rerun
#   np.array([1, 2]) -> np.array([5, 6, 7]): nothing to be done
#   np.int64(1) -> np.int64(2): nothing to be done
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet snakemake==9.27.0 numpy==2.4.6 pandas==3.1.1 ||
    { echo "skipped: snakemake 9.27.0, numpy 2.4.6 or pandas 3.1.1 cannot be installed"; exit 0; }
cd "$folder"
plan() {
    cat > Snakefile <<SNAKEFILE
import numpy as np
import pandas as pd
rule store:
    output: "stored.txt"
    params: values=$1
    shell: "touch {output}"
SNAKEFILE
    PATH="$folder/venv/bin:$PATH" snakemake --cores 1 "${@:2}" 2>&1
}
compare() {
    rm -rf .snakemake stored.txt
    plan "$1" > first.log
    answer=$(plan "$2" --dry-run)
    case $answer in
        *"Nothing to be done"*) answer="nothing to be done" ;;
        *"Params have changed"*) answer=rerun ;;
    esac
    echo "$1 -> $2: $answer"
}
seen=$(compare "[1, 2]" "[5, 6, 7]"
compare "pd.Series([1, 2])" "pd.Series([5, 6, 7])"
compare "np.array([1, 2])" "np.array([5, 6, 7])"
compare "np.int64(1)" "np.int64(2)")
echo "$seen"
[ "$seen" = "[1, 2] -> [5, 6, 7]: rerun
pd.Series([1, 2]) -> pd.Series([5, 6, 7]): rerun
np.array([1, 2]) -> np.array([5, 6, 7]): nothing to be done
np.int64(1) -> np.int64(2): nothing to be done" ]
