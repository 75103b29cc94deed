# DaRRM's simulations around the optimal gamma (appendix D.1), and sweeps beyond them.


# Beyond the paper, on request only: about three minutes on two cores with the default grid.
rule sweeps:
    input:
        collect("results/darrm/figures/{item}.png", item=["sweeps", "noiseless"]),


# params: settings (K, subsamples, epsilon, Delta, delta_prime).
rule tabulate_composition:
    message:
        "Tabulating the parameters of Figure 6, table3"
    output:
        report(
            "results/darrm/tables/table3.csv",
            caption="../report/table3.rst",
            category="DaRRM",
            subcategory="Noise functions",
        ),
    params:
        code=fingerprint("tabulate_composition.py"),
        settings=config["darrm"]["figure6"],
    log:
        "logs/tabulate_composition/table3.log",
    benchmark:
        "results/benchmarks/tabulate_composition/table3.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=10,
    script:
        "../scripts/tabulate_composition.py"


# params: settings (list of K, m, epsilon: the figures of pure privacy).
rule tabulate_amplification:
    message:
        "Tabulating what double subsampling of i.i.d. teachers costs"
    output:
        report(
            "results/darrm/tables/amplification.csv",
            caption="../report/amplification.rst",
            category="DaRRM",
            subcategory="Noise functions",
        ),
    params:
        code=fingerprint("tabulate_amplification.py"),
        settings=[config["darrm"][name] for name in PURE],
    log:
        "logs/tabulate_amplification/amplification.log",
    benchmark:
        "results/benchmarks/tabulate_amplification/amplification.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=10,
    script:
        "../scripts/tabulate_amplification.py"


# input: U, P (lists: gammas optimised for each prior, in the order of m). output: png, pdf, data.
# params: actual.
rule draw_prior_shapes:
    message:
        "Drawing gammas optimised for different priors, figure9"
    input:
        U=lambda wc: [gamma_file(**point) for point in prior_points(settings.darrm, "U")],
        P=lambda wc: [gamma_file(**point) for point in prior_points(settings.darrm, "P")],
    output:
        png=report(
            "results/darrm/figures/figure9.png",
            caption="../report/figure9.rst",
            category="DaRRM",
            subcategory="Noise functions",
        ),
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
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=10,
    script:
        "../scripts/draw_prior_shapes.py"


# params: point (dict: K, epsilon, Delta), m (list), prior, solver.
rule solve_sweep:
    message:
        "Sweeping over m at K = {wildcards.K}, epsilon = {wildcards.epsilon}, Delta = {wildcards.Delta}"
    output:
        f"results/darrm/sweeps/{SWEEP_POINT}.json",
    params:
        code=fingerprint("solve_sweep.py"),
        point=lambda wc: parse_instance(SWEEP_POINT.format(**dict(wc.items()))),
        m=lambda wc: settings.darrm.sweeps.allowances(int(wc.K)),
        prior=config["darrm"]["sweeps"]["prior"],
        solver=config["solver"],
    log:
        f"logs/solve_sweep/{SWEEP_POINT}.log",
    benchmark:
        f"results/benchmarks/solve_sweep/{SWEEP_POINT}.tsv"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=60,
    script:
        "../scripts/solve_sweep.py"


# params: K, settings (m_values, epsilon, Delta).
rule check_double_subsampling:
    message:
        "Checking double subsampling for all teachers, K = {wildcards.K}"
    output:
        "results/darrm/sweeps/double_subsampling,K={K}.csv",
    params:
        code=fingerprint("check_double_subsampling.py"),
        K=lambda wc: int(wc.K),
        settings=config["darrm"]["sweeps"]["double_subsampling"],
    log:
        "logs/check_double_subsampling/K={K}.log",
    benchmark:
        "results/benchmarks/check_double_subsampling/K={K}.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=30,
    script:
        "../scripts/check_double_subsampling.py"


# input: points (JSON per K, epsilon, Delta), double_subsampling (CSV per K). output: one figure of
# the benefit of gamma_opt and one of where no noise is needed, and the data of everything.
rule draw_sweeps:
    message:
        "Drawing the sweeps"
    input:
        points=sweep_files(),
        double_subsampling=collect(
            "results/darrm/sweeps/double_subsampling,K={K}.csv",
            K=config["darrm"]["sweeps"]["double_subsampling"]["K"],
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
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=10,
    script:
        "../scripts/draw_sweeps.py"
