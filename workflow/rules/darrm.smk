# DaRRM: noise functions, released labels, and the tables and figures of the paper.


# All of the paper that this workflow reproduces.
rule darrm:
    input:
        "results/darrm/privacy/teachers.csv",
        [labels_file(dataset, m) for dataset in LABEL_DATASETS for m in LABEL_ALLOWANCES],
        collect("results/darrm/tables/{item}.csv", item=ALL_TABLES),
        collect("results/darrm/figures/{item}.png", item=FIGURES),


# params: point (dict: K, m, epsilon, Delta, delta, prior), solver.
rule optimize_gamma:
    message:
        "Optimising gamma, K = {wildcards.K}, m = {wildcards.m}, epsilon = {wildcards.epsilon}"
    output:
        f"results/darrm/gamma/{GRID_POINT}.json",
    params:
        code=fingerprint("optimize_gamma.py"),
        point=lambda wc: parse_instance(GRID_POINT.format(**dict(wc.items()))),
        solver=config["solver"],
    log:
        f"logs/optimize_gamma/{GRID_POINT}.log",
    benchmark:
        f"results/benchmarks/optimize_gamma/{GRID_POINT}.tsv"
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=20,
    script:
        "../scripts/optimize_gamma.py"


# params: point (dict: mechanism, K, epsilon, delta), search (order_max, order_step).
rule search_gnmax_sigma:
    message:
        "Searching GNMax's sigma, epsilon = {wildcards.epsilon}, delta = {wildcards.delta}"
    output:
        f"results/darrm/privacy/{GNMAX_POINT}.csv",
    params:
        code=fingerprint("search_gnmax_sigma.py"),
        point=lambda wc: parse_instance(GNMAX_POINT.format(**dict(wc.items()))),
        search=config["darrm"]["sigma_search"],
    log:
        f"logs/search_gnmax_sigma/{GNMAX_POINT}.log",
    benchmark:
        f"results/benchmarks/search_gnmax_sigma/{GNMAX_POINT}.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(200),
        runtime=10,
    script:
        "../scripts/search_gnmax_sigma.py"


# input: private_votes, plain_votes (lists in the order of settings["training_seeds"]), gamma, sigma,
# and proof: no label leaves before the accountant has confirmed what the teachers cost. (Not
# ancient(): Snakemake 9.27 then overlooks changed parameters of a job whose ancient input reruns.)
# output: table (CSV), labels (npz). params: dataset, seed, noise, settings (dict: stand_in, K, m, epsilon,
# Delta, epsilon_query, delta_query, delta_gamma, queries, draws, training_seeds).
rule release_labels:
    message:
        "Releasing labels on {wildcards.dataset} with m = {wildcards.m}"
    input:
        private_votes=lambda wc: [
            votes_file(wc.dataset, "private", seed) for seed in config["darrm"]["training_seeds"]
        ],
        plain_votes=lambda wc: [
            votes_file(wc.dataset, "plain", seed) for seed in config["darrm"]["training_seeds"]
        ],
        gamma=lambda wc: gamma_file(config["darrm"]["K"], int(wc.m), *teacher_cost(wc.dataset)),
        sigma=lambda wc: sigma_file(wc.dataset, int(wc.m)),
        proof="results/darrm/privacy/teachers.csv",
    output:
        table="results/darrm/labels/dataset={dataset},m={m}.csv",
        labels="results/darrm/labels/dataset={dataset},m={m}.npz",
    params:
        code=fingerprint("release_labels.py"),
        dataset="{dataset}",
        seed=config["seed"],
        noise=config["noise"],
        settings=lambda wc: settings.darrm.label_experiment(wc.dataset, int(wc.m)),
    log:
        "logs/release_labels/dataset={dataset},m={m}.log",
    benchmark:
        "results/benchmarks/release_labels/dataset={dataset},m={m}.tsv"
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=10,
    script:
        "../scripts/release_labels.py"


# input: list of the label tables, one per data set.
rule tabulate_label_accuracy:
    message:
        "Tabulating the accuracy of released labels, {wildcards.accuracy_table}"
    input:
        lambda wc: [labels_file(dataset, TABLES[wc.accuracy_table]) for dataset in LABEL_DATASETS],
    output:
        report(
            "results/darrm/tables/{accuracy_table}.csv",
            caption="../report/accuracy.rst",
            category="DaRRM",
            subcategory="Accuracy",
        ),
    params:
        code=fingerprint("tabulate_label_accuracy.py"),
        m=lambda wc: TABLES[wc.accuracy_table],
    log:
        "logs/tabulate_label_accuracy/{accuracy_table}.log",
    benchmark:
        "results/benchmarks/tabulate_label_accuracy/{accuracy_table}.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(300),
        runtime=10,
    script:
        "../scripts/tabulate_label_accuracy.py"


# params: m, K, queries, delta_prime, datasets (by name: stand_in, epsilon, Delta of one teacher,
# epsilon_query, delta_query of one label), search (order_max, order_step: GNMax's total).
rule tabulate_privacy_loss:
    message:
        "Tabulating the total privacy loss, {wildcards.loss_table}"
    output:
        report(
            "results/darrm/tables/{loss_table}.csv",
            caption="../report/privacy_loss.rst",
            category="DaRRM",
            subcategory="Privacy",
        ),
    params:
        code=fingerprint("tabulate_privacy_loss.py"),
        m=lambda wc: TABLES[wc.loss_table],
        K=config["darrm"]["K"],
        queries=config["darrm"]["queries"],
        delta_prime=config["darrm"]["delta_prime"],
        datasets=lambda wc: settings.darrm.query_costs(TABLES[wc.loss_table]),
        search=config["darrm"]["sigma_search"],
    log:
        "logs/tabulate_privacy_loss/{loss_table}.log",
    benchmark:
        "results/benchmarks/tabulate_privacy_loss/{loss_table}.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(300),
        runtime=10,
    script:
        "../scripts/tabulate_privacy_loss.py"


# input: the sigma searches, named by data set is impossible ("fashion-mnist" is no identifier), so
# they are in the order of params.datasets (by name: stand_in, epsilon, Delta, epsilon_query,
# delta_query). params: m.
rule tabulate_gnmax_sigma:
    message:
        "Tabulating GNMax's sigma, table4"
    input:
        [sigma_file(dataset, TABLES.get("table4", 1)) for dataset in config["darrm"]["datasets"]],
    output:
        report(
            "results/darrm/tables/table4.csv",
            caption="../report/sigma.rst",
            category="DaRRM",
            subcategory="Privacy",
        ),
    params:
        code=fingerprint("tabulate_gnmax_sigma.py"),
        m=TABLES.get("table4", 1),
        datasets=settings.darrm.paper_query_costs(TABLES.get("table4", 1)),
    log:
        "logs/tabulate_gnmax_sigma/table4.log",
    benchmark:
        "results/benchmarks/tabulate_gnmax_sigma/table4.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(300),
        runtime=10,
    script:
        "../scripts/tabulate_gnmax_sigma.py"


# input: the optimised gammas, one per m (or per number of subsamples) of the figure's settings, in
# that order. output: png, pdf, data. params: settings (subsamples, delta_prime: Figure 6), prior.
rule draw_gamma_shapes:
    message:
        "Drawing the shapes and errors of gamma, {wildcards.shape_figure}"
    input:
        lambda wc: [gamma_file(**p) for p in shape_points(settings.darrm, wc.shape_figure)],
    output:
        png=report(
            "results/darrm/figures/{shape_figure}.png",
            caption="../report/figure2.rst",
            category="DaRRM",
            subcategory="Noise functions",
        ),
        pdf="results/darrm/figures/{shape_figure}.pdf",
        data="results/darrm/tables/{shape_figure}.csv",
    params:
        code=fingerprint("draw_gamma_shapes.py"),
        settings=lambda wc: config["darrm"][wc.shape_figure],
        prior=config["darrm"]["prior"],
    log:
        "logs/draw_gamma_shapes/{shape_figure}.log",
    benchmark:
        "results/benchmarks/draw_gamma_shapes/{shape_figure}.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(400),
        runtime=10,
    script:
        "../scripts/draw_gamma_shapes.py"


# output: png, pdf, data. params: datasets (by name: stand_in, epsilon, Delta, epsilon_query,
# delta_query), search (order_max, order_step).
rule draw_sigma_search:
    message:
        "Drawing the search for GNMax's sigma, figure10"
    output:
        png=report(
            "results/darrm/figures/figure10.png",
            caption="../report/figure10.rst",
            category="DaRRM",
            subcategory="Privacy",
        ),
        pdf="results/darrm/figures/figure10.pdf",
        data="results/darrm/tables/figure10.csv",
    params:
        code=fingerprint("draw_sigma_search.py"),
        datasets=settings.darrm.paper_query_costs(config["darrm"]["figure10"]["m"]),
        search=config["darrm"]["sigma_search"],
    log:
        "logs/draw_sigma_search/figure10.log",
    benchmark:
        "results/benchmarks/draw_sigma_search/figure10.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=growing(300),
        runtime=10,
    script:
        "../scripts/draw_sigma_search.py"


# output: png, pdf, data. params: settings (K (list), m, epsilon, Delta, draws (list), repetitions),
# seed, solver.
rule study_objectives:
    message:
        "Comparing the paper's Monte-Carlo objectives with the exact one"
    output:
        png=report(
            "results/darrm/figures/objectives.png",
            caption="../report/objectives.rst",
            category="DaRRM",
            subcategory="Noise functions",
        ),
        pdf="results/darrm/figures/objectives.pdf",
        data="results/darrm/tables/objectives.csv",
    params:
        code=fingerprint("study_objectives.py"),
        settings=config["darrm"]["objectives"],
        seed=config["seed"],
        solver=config["solver"],
    log:
        "logs/study_objectives/objectives.log",
    benchmark:
        "results/benchmarks/study_objectives/objectives.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=20,
    script:
        "../scripts/study_objectives.py"
