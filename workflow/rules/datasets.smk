# From public addresses to one checked file per data set. Short, and everything long waits for them, so
# they come first.


# The mirror and the addresses say where the bytes come from, not what they are: the script reads
# them from the configuration, so that a changed address is no reason to download again.
rule download_data:
    message:
        "Downloading {wildcards.file} of {wildcards.dataset}"
    output:
        "data/raw/{dataset}/{file}",
    params:
        code=fingerprint("download_data.py"),
        sha256=lambda wc: settings.datasets.raw_file(wc.dataset, wc.file)["sha256"],
    log:
        "logs/download_data/{dataset}/{file}.log",
    benchmark:
        "results/benchmarks/download_data/{dataset}/{file}.tsv"
    priority: 3
    localrule: True
    script:
        "../scripts/download_data.py"


# input: by role, none for data that ship with scikit-learn.
rule prepare_dataset:
    message:
        "Reading and checking {wildcards.dataset}"
    input:
        unpack(lambda wc: settings.datasets.raw_files(wc.dataset)),
    output:
        "results/datasets/{dataset}.npz",
    params:
        code=fingerprint("prepare_dataset.py"),
        dataset="{dataset}",
        settings=lambda wc: settings.datasets.preparation(wc.dataset),
        sha256=lambda wc: settings.datasets.checksums(wc.dataset),
        stand_in=lambda wc: settings.datasets[wc.dataset].stand_in,
        seed=config["seed"],
    log:
        "logs/prepare_dataset/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare_dataset/{dataset}.tsv"
    priority: 3
    localrule: True
    script:
        "../scripts/prepare_dataset.py"
