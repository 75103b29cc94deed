# DaRRM: noise functions, released labels, and the tables and figures of the paper.
from private_ensembles.base.parameter_names import NUMBER
from private_ensembles.papers.darrm import targets as darrm
from private_ensembles.papers.darrm.grid_points import prior_points, shape_points
from private_ensembles.papers.darrm.section import ACCURACY_TABLES, LOSS_TABLES, SHAPE_FIGURES

# These are the tables of this run, each with its m. All of them take less time than starting a job.
ACCURACY = settings.darrm.tables.allowances(*ACCURACY_TABLES)
LOSSES = settings.darrm.tables.allowances(*LOSS_TABLES)
SHAPES = {name: config["darrm"][name] for name in SHAPE_FIGURES if config["darrm"][name]}


wildcard_constraints:
    m=NUMBER,
    epsilon=NUMBER,
    Delta=NUMBER,
    delta=NUMBER,
    prior=r"[a-z-]+:[\d.]+",
    prior_end=r"[\d.]+",


# This makes all of the paper that this workflow reproduces.
rule darrm:
    input:
        targets.paper_files(settings, "darrm"),


# This needs no data, so the paper's data sets are accounted for whatever is run.
rule account_teachers:
    message:
        "Accounting for the privacy of one private teacher of each data set"
    output:
        darrm.TEACHERS_COST,
    params:
        code=fingerprint("darrm/account_teachers.py"),
        K=lookup(within=config, dpath="darrm/K"),
        datasets=settings.darrm.accounting(),
    log:
        "logs/account_teachers/teachers.log",
    benchmark:
        "results/benchmarks/account_teachers/teachers.tsv"
    localrule: True
    resources:
        mem_mb=growing(800),
    script:
        "../scripts/darrm/account_teachers.py"


rule optimize_gamma:
    message:
        "Optimising gamma, K = {wildcards.K}, m = {wildcards.m:.7}, epsilon = {wildcards.epsilon}, Delta = {wildcards.Delta}, prior {wildcards.prior},{wildcards.prior_end}"
    output:
        f"results/darrm/gamma/{darrm.GAMMA_POINT}.json",
    params:
        code=fingerprint("darrm/optimize_gamma.py"),
        point=files.make_point_reader(darrm.GAMMA_POINT),
        solver=config["solver"],
    log:
        f"logs/optimize_gamma/{darrm.GAMMA_POINT}.log",
    benchmark:
        f"results/benchmarks/optimize_gamma/{darrm.GAMMA_POINT}.tsv"
    script:
        "../scripts/darrm/optimize_gamma.py"


rule search_gnmax_sigma:
    message:
        "Searching GNMax's sigma, epsilon = {wildcards.epsilon}, delta = {wildcards.delta}"
    output:
        f"results/darrm/privacy/{darrm.SIGMA_POINT}.csv",
    params:
        code=fingerprint("darrm/search_gnmax_sigma.py"),
        point=files.make_point_reader(darrm.SIGMA_POINT),
        search=lookup(within=config, dpath="darrm/sigma_search"),
    log:
        f"logs/search_gnmax_sigma/{darrm.SIGMA_POINT}.log",
    benchmark:
        f"results/benchmarks/search_gnmax_sigma/{darrm.SIGMA_POINT}.tsv"
    localrule: True
    script:
        "../scripts/darrm/search_gnmax_sigma.py"


# One job casts the votes of all ensembles on a data set: labels need the votes of each, and casting
# them takes less time than importing PyTorch.
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
        darrm.vote_files(settings.darrm, "{dataset}").values(),
    log:
        "logs/cast_darrm_votes/{dataset}.log",
    benchmark:
        "results/benchmarks/cast_darrm_votes/{dataset}.tsv"
    wildcard_constraints:
        dataset="|".join(settings.darrm.label_datasets()),


ruleorder: cast_darrm_votes > cast_votes


# This releases the labels of every paper: PATE's and NZC's rules differ from it in what they read. Here
# the proof is an input: no label leaves before the accountant has confirmed what the teachers cost. (It
# is not ancient(): Snakemake 9.27 would overlook changed parameters of a job whose ancient input
# reruns.)
rule release_labels:
    message:
        "Releasing DaRRM's labels on {wildcards.dataset}, m = {wildcards.m}"
    input:
        unpack(lambda wc: darrm.label_inputs(settings.darrm, wc.dataset, int(wc.m))),
    output:
        table="results/darrm/labels/dataset={dataset},m={m}.csv",
        labels="results/darrm/labels/dataset={dataset},m={m}.npz",
    params:
        code=fingerprint("darrm/release_labels.py", "private_ensembles.papers.darrm.experiment"),
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
        "../scripts/darrm/release_labels.py"


rule tabulate_label_accuracy:
    message:
        "Tabulating the accuracy of released labels, DaRRM's tables 1, 6, 8 and 10"
    input:
        **{item: darrm.label_files(settings.darrm, m) for item, m in ACCURACY.items()},
    output:
        means=shown(
            "results/darrm/tables/{item}.csv", "accuracy", "DaRRM", "Accuracy", item=ACCURACY
        ),
        by_training=collect("results/darrm/tables/{item}_by_training.csv", item=ACCURACY),
    params:
        code=fingerprint("darrm/tabulate_label_accuracy.py"),
        m=ACCURACY,
    log:
        "logs/tabulate_label_accuracy/accuracy.log",
    benchmark:
        "results/benchmarks/tabulate_label_accuracy/accuracy.tsv"
    localrule: True
    script:
        "../scripts/darrm/tabulate_label_accuracy.py"


rule tabulate_privacy_loss:
    message:
        "Tabulating the total privacy loss, DaRRM's tables 2, 5, 7 and 9"
    output:
        shown("results/darrm/tables/{item}.csv", "privacy_loss", "DaRRM", "Privacy", item=LOSSES),
    params:
        code=fingerprint("darrm/tabulate_privacy_loss.py"),
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
        "../scripts/darrm/tabulate_privacy_loss.py"


# Each search carries its budget in its name; several data sets may share one.
rule tabulate_gnmax_sigma:
    message:
        "Tabulating GNMax's sigma, DaRRM's table4"
    input:
        lambda wc: darrm.sigma_files(settings.darrm, config["darrm"]["tables"]["table4"]),
    output:
        shown("results/darrm/tables/table4.csv", "sigma", "DaRRM", "Privacy"),
    params:
        code=fingerprint("darrm/tabulate_gnmax_sigma.py"),
        m=lookup(within=config, dpath="darrm/tables/table4"),
        datasets=lambda wc: settings.darrm.paper_query_costs(config["darrm"]["tables"]["table4"]),
    log:
        "logs/tabulate_gnmax_sigma/table4.log",
    benchmark:
        "results/benchmarks/tabulate_gnmax_sigma/table4.tsv"
    localrule: True
    script:
        "../scripts/darrm/tabulate_gnmax_sigma.py"


rule draw_gamma_shapes:
    message:
        "Drawing the shapes and errors of gamma, DaRRM's figures 2, 6, 7 and 8"
    input:
        **{
            name: darrm.gamma_files(settings.darrm, shape_points(settings.darrm, name))
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
        code=fingerprint("darrm/draw_gamma_shapes.py"),
        settings=SHAPES,
        prior=lookup(within=config, dpath="darrm/prior"),
    log:
        "logs/draw_gamma_shapes/shapes.log",
    benchmark:
        "results/benchmarks/draw_gamma_shapes/shapes.tsv"
    localrule: True
    script:
        "../scripts/darrm/draw_gamma_shapes.py"


rule draw_sigma_search:
    message:
        "Drawing the search for GNMax's sigma, DaRRM's figure10"
    output:
        png=shown("results/darrm/figures/figure10.png", "figure10", "DaRRM", "Privacy"),
        pdf="results/darrm/figures/figure10.pdf",
        data="results/darrm/tables/figure10.csv",
    params:
        code=fingerprint("darrm/draw_sigma_search.py"),
        datasets=settings.darrm.paper_query_costs(config["darrm"]["figure10"]["m"]),
        search=lookup(within=config, dpath="darrm/sigma_search"),
    log:
        "logs/draw_sigma_search/figure10.log",
    benchmark:
        "results/benchmarks/draw_sigma_search/figure10.tsv"
    localrule: True
    script:
        "../scripts/darrm/draw_sigma_search.py"


rule study_objectives:
    message:
        "Comparing DaRRM's Monte-Carlo objectives with the exact one"
    output:
        png=shown("results/darrm/figures/objectives.png", "objectives", "DaRRM", "Noise functions"),
        pdf="results/darrm/figures/objectives.pdf",
        data="results/darrm/tables/objectives.csv",
    params:
        code=fingerprint("darrm/study_objectives.py"),
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
        "../scripts/darrm/study_objectives.py"


# The sweeps go beyond the paper and run on request only: they take about three minutes on two cores
# with the default grid.
rule sweeps:
    input:
        collect("results/darrm/figures/{item}.png", item=["sweeps", "noiseless"]),


# A run may have what either table needs, what both need, or neither.
rule tabulate_simulations:
    message:
        "Tabulating the parameters of Figure 6, DaRRM's table3, and what double subsampling costs"
    output:
        composition=shown(
            "results/darrm/tables/{item}.csv",
            "table3",
            "DaRRM",
            "Noise functions",
            item=["table3"] * bool(config["darrm"]["figure6"]),
        ),
        amplification=shown(
            "results/darrm/tables/{item}.csv",
            "amplification",
            "DaRRM",
            "Noise functions",
            item=["amplification"] * bool(darrm.pure_shapes(settings.darrm)),
        ),
    params:
        code=fingerprint("darrm/tabulate_simulations.py"),
        composition=lookup(within=config, dpath="darrm/figure6"),
        amplification=[config["darrm"][name] for name in darrm.pure_shapes(settings.darrm)],
    log:
        "logs/tabulate_simulations/tables.log",
    benchmark:
        "results/benchmarks/tabulate_simulations/tables.tsv"
    localrule: True
    resources:
        mem_mb=growing(1000),
    script:
        "../scripts/darrm/tabulate_simulations.py"


# U and P are the noise functions optimised for either prior.
rule draw_prior_shapes:
    message:
        "Drawing gammas optimised for different priors, DaRRM's figure9"
    input:
        U=lambda wc: darrm.gamma_files(settings.darrm, prior_points(settings.darrm, "U")),
        P=lambda wc: darrm.gamma_files(settings.darrm, prior_points(settings.darrm, "P")),
    output:
        png=shown("results/darrm/figures/figure9.png", "figure9", "DaRRM", "Noise functions"),
        pdf="results/darrm/figures/figure9.pdf",
        data="results/darrm/tables/figure9.csv",
    params:
        code=fingerprint("darrm/draw_prior_shapes.py"),
        actual=lambda wc: config["darrm"]["figure9"]["actual"],
    log:
        "logs/draw_prior_shapes/figure9.log",
    benchmark:
        "results/benchmarks/draw_prior_shapes/figure9.tsv"
    localrule: True
    resources:
        mem_mb=growing(1000),
    script:
        "../scripts/darrm/draw_prior_shapes.py"


rule solve_sweep:
    message:
        "Sweeping over m at K = {wildcards.K}, epsilon = {wildcards.epsilon}, Delta = {wildcards.Delta}"
    output:
        f"results/darrm/sweeps/{darrm.SWEEP_POINT}.json",
    params:
        code=fingerprint("darrm/solve_sweep.py"),
        point=files.make_point_reader(darrm.SWEEP_POINT),
        m=lambda wc: settings.darrm.sweeps.allowances(int(wc.K)),
        prior=lookup(within=config, dpath="darrm/sweeps/prior"),
        solver=config["solver"],
    log:
        f"logs/solve_sweep/{darrm.SWEEP_POINT}.log",
    benchmark:
        f"results/benchmarks/solve_sweep/{darrm.SWEEP_POINT}.tsv"
    resources:
        mem_mb=growing(2000),
        runtime=60,
    script:
        "../scripts/darrm/solve_sweep.py"


rule check_double_subsampling:
    message:
        "Checking double subsampling for all teachers, K = {wildcards.K}"
    output:
        "results/darrm/sweeps/double_subsampling,K={K}.csv",
    params:
        code=fingerprint("darrm/check_double_subsampling.py"),
        K=lambda wc: int(wc.K),
        settings=lookup(within=config, dpath="darrm/sweeps/double_subsampling"),
    log:
        "logs/check_double_subsampling/K={K}.log",
    benchmark:
        "results/benchmarks/check_double_subsampling/K={K}.tsv"
    resources:
        mem_mb=growing(1000),
    script:
        "../scripts/darrm/check_double_subsampling.py"


# One figure shows the benefit of gamma_opt, and one where no noise is needed.
rule draw_sweeps:
    message:
        "Drawing the sweeps"
    input:
        points=darrm.sweep_files(settings.darrm),
        double_subsampling=collect(
            "results/darrm/sweeps/double_subsampling,K={K}.csv",
            K=lookup(within=config, dpath="darrm/sweeps/double_subsampling/K"),
        ),
    output:
        png="results/darrm/figures/sweeps.png",
        pdf="results/darrm/figures/sweeps.pdf",
        noiseless_png="results/darrm/figures/noiseless.png",
        noiseless_pdf="results/darrm/figures/noiseless.pdf",
        data="results/darrm/tables/sweeps.csv",
        noiseless="results/darrm/tables/noiseless.csv",
        double_subsampling="results/darrm/tables/double_subsampling.csv",
    params:
        code=fingerprint("darrm/draw_sweeps.py"),
    log:
        "logs/draw_sweeps/sweeps.log",
    benchmark:
        "results/benchmarks/draw_sweeps/sweeps.tsv"
    localrule: True
    resources:
        mem_mb=growing(1000),
    script:
        "../scripts/darrm/draw_sweeps.py"
