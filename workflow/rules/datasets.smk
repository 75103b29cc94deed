# From public addresses to one checked file per data set.


# The mirror and the addresses say where the bytes come from, not what they are: the script reads
# them from the configuration, so that a changed address is no reason to download again.
# params: sha256 (hexadecimal).
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
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(200),
        runtime=30,
    script:
        "../scripts/download_data.py"


# input: by role (configuration.datasets.ROLES), none for data that ship with scikit-learn. params: dataset,
# settings (format, classes, n_train, n_test), sha256 (by role), stand_in, seed. A shared cache knows
# the output by params and input alone: they must tell all.
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
    cache: SHARED
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(600),
        runtime=10,
    script:
        "../scripts/prepare_dataset.py"
