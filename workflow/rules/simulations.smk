# DaRRM's simulations around the optimal gamma (appendix D.1), and sweeps beyond them.


# Beyond the paper, on request only: about three minutes on two cores with the default grid.
rule sweeps:
    input:
        collect("results/darrm/figures/{item}.png", item=["sweeps", "noiseless"]),


# Of what both tables need, a run may have either, or neither.
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
        code=fingerprint("tabulate_simulations.py"),
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
        "../scripts/tabulate_simulations.py"


# U and P: the noise functions optimised for either prior.
rule draw_prior_shapes:
    message:
        "Drawing gammas optimised for different priors, DaRRM's figure9"
    input:
        U=lambda wc: darrm.gammas(settings.darrm, prior_points(settings.darrm, "U")),
        P=lambda wc: darrm.gammas(settings.darrm, prior_points(settings.darrm, "P")),
    output:
        png=shown("results/darrm/figures/figure9.png", "figure9", "DaRRM", "Noise functions"),
        pdf="results/darrm/figures/figure9.pdf",
        data="results/darrm/tables/figure9.csv",
    params:
        code=fingerprint("draw_prior_shapes.py"),
        actual=lambda wc: config["darrm"]["figure9"]["actual"],
    log:
        "logs/draw_prior_shapes/figure9.log",
    benchmark:
        "results/benchmarks/draw_prior_shapes/figure9.tsv"
    localrule: True
    resources:
        mem_mb=growing(1000),
    script:
        "../scripts/draw_prior_shapes.py"


rule solve_sweep:
    message:
        "Sweeping over m at K = {wildcards.K}, epsilon = {wildcards.epsilon}, Delta = {wildcards.Delta}"
    output:
        f"results/darrm/sweeps/{darrm.SWEEP_POINT}.json",
    params:
        code=fingerprint("solve_sweep.py"),
        point=files.point(darrm.SWEEP_POINT),
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
        "../scripts/solve_sweep.py"


rule check_double_subsampling:
    message:
        "Checking double subsampling for all teachers, K = {wildcards.K}"
    output:
        "results/darrm/sweeps/double_subsampling,K={K}.csv",
    params:
        code=fingerprint("check_double_subsampling.py"),
        K=lambda wc: int(wc.K),
        settings=lookup(within=config, dpath="darrm/sweeps/double_subsampling"),
    log:
        "logs/check_double_subsampling/K={K}.log",
    benchmark:
        "results/benchmarks/check_double_subsampling/K={K}.tsv"
    resources:
        mem_mb=growing(1000),
    script:
        "../scripts/check_double_subsampling.py"


# One figure of the benefit of gamma_opt, one of where no noise is needed, and the data of both.
rule draw_sweeps:
    message:
        "Drawing the sweeps"
    input:
        points=darrm.sweeps(settings.darrm),
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
        code=fingerprint("draw_sweeps.py"),
    log:
        "logs/draw_sweeps/sweeps.log",
    benchmark:
        "results/benchmarks/draw_sweeps/sweeps.tsv"
    localrule: True
    resources:
        mem_mb=growing(1000),
    script:
        "../scripts/draw_sweeps.py"
