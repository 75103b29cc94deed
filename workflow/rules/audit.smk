# The audit: what every mechanism claims, what is proven, and what is true.


# The ledger and its figure, where the configuration asks for them.
rule audit:
    input:
        AUDIT,


# input: the optimised gammas in the order of params.settings["budgets"]. output: ledger (CSV), png,
# pdf (claimed against exact), totals (CSV: Q labels, three compositions). params: settings (budgets,
# student_score, totals, pate: noise by task, dpbag: votes and noise, nzc: pool and delta by task,
# mechanism); the published tables that code counts are PATE's Table 1 and DPBag's Table 6.
rule audit_mechanisms:
    message:
        "Auditing every mechanism, exactly"
    input:
        [gamma_file(**budget) for budget in settings.gammas()],
    output:
        ledger=report(
            "results/privacy_ledger.csv",
            caption="../report/ledger.rst",
            category="Audit",
        ),
        png=report(
            "results/audit/figures/claimed_exact.png",
            caption="../report/claimed_exact.rst",
            category="Audit",
        ),
        pdf="results/audit/figures/claimed_exact.pdf",
        totals=report(
            "results/audit/tables/totals.csv",
            caption="../report/audit_totals.rst",
            category="Audit",
        ),
    params:
        code=fingerprint("audit_mechanisms.py", also="../published/?[ap][bt]*_table[16].csv"),
        settings=settings.ledger(),
    log:
        "logs/audit_mechanisms/privacy_ledger.log",
    benchmark:
        "results/benchmarks/audit_mechanisms/privacy_ledger.tsv"
    threads: 1
    resources:
        mem_mb=growing(900),
        runtime=20,
    script:
        "../scripts/audit_mechanisms.py"
