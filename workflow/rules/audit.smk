# The audit: what every mechanism claims, what is proven, and what is true.


# The ledger and its figure, if the configuration asks for them.
rule audit:
    input:
        targets.audit_files(settings)["ledger"],
        targets.audit_files(settings)["figures"],


# params.gammas says which noise function a budget has, because names of budgets are no names of
# inputs. The figure shows what is claimed beside what is exact; the totals are of many labels. The
# published tables count as code.
rule audit_mechanisms:
    message:
        "Auditing every mechanism, exactly"
    input:
        targets.audited_gammas(settings).values(),
    output:
        ledger=shown("results/privacy_ledger.csv", "ledger", "Audit"),
        png=shown("results/audit/figures/claimed_exact.png", "claimed_exact", "Audit"),
        pdf="results/audit/figures/claimed_exact.pdf",
        totals=shown("results/audit/tables/totals.csv", "audit_totals", "Audit"),
    params:
        code=fingerprint(
            "audit/audit_mechanisms.py",
            data_files=[
                "published/pate_table1.csv",
                "published/dpbag_table6.csv",
                "published/pate.yaml",
            ],
        ),
        gammas=targets.audited_gammas(settings),
        settings=settings.ledger(),
    log:
        "logs/audit_mechanisms/privacy_ledger.log",
    benchmark:
        "results/benchmarks/audit_mechanisms/privacy_ledger.tsv"
    resources:
        mem_mb=growing(900),
    script:
        "../scripts/audit/audit_mechanisms.py"
