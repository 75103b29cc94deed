# DaRRM: noise functions, released labels, and the tables and figures of the paper.
from private_ensembles.papers.darrm import targets as darrm
from private_ensembles.papers.darrm.section import ACCURACY_TABLES, LOSS_TABLES, SHAPE_FIGURES

# The tables of this run, each with its m. What all of them take is less than starting a job.
ACCURACY = settings.darrm.tables.allowances(*ACCURACY_TABLES)
LOSSES = settings.darrm.tables.allowances(*LOSS_TABLES)
SHAPES = {name: config["darrm"][name] for name in SHAPE_FIGURES if config["darrm"][name]}


# All of the paper that this workflow reproduces.
rule darrm:
    input:
        targets.paper_files(settings, "darrm"),


rule optimize_gamma:
    message:
        "Optimising gamma, K = {wildcards.K}, m = {wildcards.m:.7}, epsilon = {wildcards.epsilon}, Delta = {wildcards.Delta}, prior {wildcards.prior},{wildcards.prior_end}"
    output:
        f"results/darrm/gamma/{darrm.GAMMA_POINT}.json",
    params:
        code=fingerprint("optimize_gamma.py"),
        point=files.point(darrm.GAMMA_POINT),
        solver=config["solver"],
    log:
        f"logs/optimize_gamma/{darrm.GAMMA_POINT}.log",
    benchmark:
        f"results/benchmarks/optimize_gamma/{darrm.GAMMA_POINT}.tsv"
    script:
        "../scripts/optimize_gamma.py"


rule search_gnmax_sigma:
    message:
        "Searching GNMax's sigma, epsilon = {wildcards.epsilon}, delta = {wildcards.delta}"
    output:
        f"results/darrm/privacy/{darrm.SIGMA_POINT}.csv",
    params:
        code=fingerprint("search_gnmax_sigma.py"),
        point=files.point(darrm.SIGMA_POINT),
        search=lookup(within=config, dpath="darrm/sigma_search"),
    log:
        f"logs/search_gnmax_sigma/{darrm.SIGMA_POINT}.log",
    benchmark:
        f"results/benchmarks/search_gnmax_sigma/{darrm.SIGMA_POINT}.tsv"
    localrule: True
    script:
        "../scripts/search_gnmax_sigma.py"


# Of all ensembles on a data set in one job: labels need the votes of each, and casting them takes less
# than importing PyTorch.
use rule cast_votes as cast_darrm_votes with:
    message:
        "Casting the votes of DaRRM's ensembles on {wildcards.dataset}"
    input:
        dataset="results/datasets/{dataset}.npz",
        teachers=lambda wc: [
            file
            for ensemble in settings.darrm.ensembles()
            for file in files.teachers(
                slice_names(ensemble["K"], config["teachers"]["per_job"]), wc.dataset, **ensemble
            )
        ],
    output:
        darrm.votes(settings.darrm, "{dataset}").values(),
    log:
        "logs/cast_darrm_votes/{dataset}.log",
    benchmark:
        "results/benchmarks/cast_darrm_votes/{dataset}.tsv"
    wildcard_constraints:
        dataset="|".join(settings.darrm.label_datasets()),


ruleorder: cast_darrm_votes > cast_votes


# The labels of every paper: PATE's and NZC's rules differ from this one in what they read. Here the
# proof is among it: no label leaves before the accountant has confirmed what the teachers cost. (Not
# ancient(): Snakemake 9.27 then overlooks changed parameters of a job whose ancient input reruns.)
rule release_labels:
    message:
        "Releasing DaRRM's labels on {wildcards.dataset}, m = {wildcards.m}"
    input:
        unpack(lambda wc: darrm.label_inputs(settings.darrm, wc.dataset, int(wc.m))),
    output:
        table="results/darrm/labels/dataset={dataset},m={m}.csv",
        labels="results/darrm/labels/dataset={dataset},m={m}.npz",
    params:
        code=fingerprint("release_labels.py", "private_ensembles.papers.darrm.experiment"),
        paper="darrm",
        name="{dataset}",
        seed=config["seed"],
        noise=config["noise"],
        settings=lambda wc: settings.darrm.label_experiment(wc.dataset, int(wc.m)),
    log:
        "logs/release_labels/dataset={dataset},m={m}.log",
    benchmark:
        "results/benchmarks/release_labels/dataset={dataset},m={m}.tsv"
    script:
        "../scripts/release_labels.py"


rule tabulate_label_accuracy:
    message:
        "Tabulating the accuracy of released labels, DaRRM's tables 1, 6, 8 and 10"
    input:
        **{item: darrm.labels(settings.darrm, m) for item, m in ACCURACY.items()},
    output:
        means=shown(
            "results/darrm/tables/{item}.csv", "accuracy", "DaRRM", "Accuracy", item=ACCURACY
        ),
        by_training=collect("results/darrm/tables/{item}_by_training.csv", item=ACCURACY),
    params:
        code=fingerprint("tabulate_label_accuracy.py"),
        m=ACCURACY,
    log:
        "logs/tabulate_label_accuracy/accuracy.log",
    benchmark:
        "results/benchmarks/tabulate_label_accuracy/accuracy.tsv"
    localrule: True
    script:
        "../scripts/tabulate_label_accuracy.py"


rule tabulate_privacy_loss:
    message:
        "Tabulating the total privacy loss, DaRRM's tables 2, 5, 7 and 9"
    output:
        shown("results/darrm/tables/{item}.csv", "privacy_loss", "DaRRM", "Privacy", item=LOSSES),
    params:
        code=fingerprint("tabulate_privacy_loss.py"),
        m=LOSSES,
        K=lookup(within=config, dpath="darrm/K"),
        queries=lookup(within=config, dpath="darrm/queries"),
        delta_prime=lookup(within=config, dpath="darrm/delta_prime"),
        datasets=settings.darrm.teacher_costs(),
        search=lookup(within=config, dpath="darrm/sigma_search"),
    log:
        "logs/tabulate_privacy_loss/losses.log",
    benchmark:
        "results/benchmarks/tabulate_privacy_loss/losses.tsv"
    localrule: True
    script:
        "../scripts/tabulate_privacy_loss.py"


# Each search carries its budget in its name; several data sets may share one.
rule tabulate_gnmax_sigma:
    message:
        "Tabulating GNMax's sigma, DaRRM's table4"
    input:
        lambda wc: darrm.sigmas(settings.darrm, config["darrm"]["tables"]["table4"]),
    output:
        shown("results/darrm/tables/table4.csv", "sigma", "DaRRM", "Privacy"),
    params:
        code=fingerprint("tabulate_gnmax_sigma.py"),
        m=lookup(within=config, dpath="darrm/tables/table4"),
        datasets=lambda wc: settings.darrm.paper_query_costs(config["darrm"]["tables"]["table4"]),
    log:
        "logs/tabulate_gnmax_sigma/table4.log",
    benchmark:
        "results/benchmarks/tabulate_gnmax_sigma/table4.tsv"
    localrule: True
    script:
        "../scripts/tabulate_gnmax_sigma.py"


rule draw_gamma_shapes:
    message:
        "Drawing the shapes and errors of gamma, DaRRM's figures 2, 6, 7 and 8"
    input:
        **{
            name: darrm.gammas(settings.darrm, shape_points(settings.darrm, name))
            for name in SHAPES
        },
    output:
        png=shown(
            "results/darrm/figures/{item}.png", "figure2", "DaRRM", "Noise functions", item=SHAPES
        ),
        pdf=collect("results/darrm/figures/{item}.pdf", item=SHAPES),
        data=collect("results/darrm/tables/{item}.csv", item=SHAPES),
        region=shown(
            "results/darrm/figures/{item}_region.png",
            "feasible_region",
            "DaRRM",
            "Noise functions",
            item=SHAPES,
        ),
        region_pdf=collect("results/darrm/figures/{item}_region.pdf", item=SHAPES),
        region_data=collect("results/darrm/tables/{item}_region.csv", item=SHAPES),
    params:
        code=fingerprint("draw_gamma_shapes.py"),
        settings=SHAPES,
        prior=lookup(within=config, dpath="darrm/prior"),
    log:
        "logs/draw_gamma_shapes/shapes.log",
    benchmark:
        "results/benchmarks/draw_gamma_shapes/shapes.tsv"
    localrule: True
    script:
        "../scripts/draw_gamma_shapes.py"


rule draw_sigma_search:
    message:
        "Drawing the search for GNMax's sigma, DaRRM's figure10"
    output:
        png=shown("results/darrm/figures/figure10.png", "figure10", "DaRRM", "Privacy"),
        pdf="results/darrm/figures/figure10.pdf",
        data="results/darrm/tables/figure10.csv",
    params:
        code=fingerprint("draw_sigma_search.py"),
        datasets=settings.darrm.paper_query_costs(config["darrm"]["figure10"]["m"]),
        search=lookup(within=config, dpath="darrm/sigma_search"),
    log:
        "logs/draw_sigma_search/figure10.log",
    benchmark:
        "results/benchmarks/draw_sigma_search/figure10.tsv"
    localrule: True
    script:
        "../scripts/draw_sigma_search.py"


rule study_objectives:
    message:
        "Comparing DaRRM's Monte-Carlo objectives with the exact one"
    output:
        png=shown("results/darrm/figures/objectives.png", "objectives", "DaRRM", "Noise functions"),
        pdf="results/darrm/figures/objectives.pdf",
        data="results/darrm/tables/objectives.csv",
    params:
        code=fingerprint("study_objectives.py"),
        settings=lookup(within=config, dpath="darrm/objectives"),
        seed=config["seed"],
        solver=config["solver"],
    log:
        "logs/study_objectives/objectives.log",
    benchmark:
        "results/benchmarks/study_objectives/objectives.tsv"
    resources:
        mem_mb=growing(900),
    script:
        "../scripts/study_objectives.py"
