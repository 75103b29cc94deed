# The audit: what every mechanism claims, what is proven, and what is true.


# The ledger and its figure, if the configuration asks for them.
rule audit:
    input:
        targets.ledger(settings)["ledger"],
        targets.ledger(settings)["figures"],
        targets.adversaries(settings)["tables"],


# params.gammas says which noise function a budget has: names of budgets are no names of inputs. The
# figure shows what is claimed beside what is exact; the totals are of many labels. The published
# tables count as code.
rule audit_mechanisms:
    message:
        "Auditing every mechanism, exactly"
    input:
        files.audited_gammas(settings).values(),
    output:
        ledger=shown("results/privacy_ledger.csv", "ledger", "Audit"),
        png=shown("results/audit/figures/claimed_exact.png", "claimed_exact", "Audit"),
        pdf="results/audit/figures/claimed_exact.pdf",
        totals=shown("results/audit/tables/totals.csv", "audit_totals", "Audit"),
    params:
        code=fingerprint(
            "audit_mechanisms.py",
            also=[
                "../published/pate_table1.csv",
                "../published/dpbag_table6.csv",
                "../published/pate.yaml",
            ],
        ),
        gammas=files.audited_gammas(settings),
        settings=settings.ledger(),
    log:
        "logs/audit_mechanisms/privacy_ledger.log",
    benchmark:
        "results/benchmarks/audit_mechanisms/privacy_ledger.tsv"
    resources:
        mem_mb=growing(900),
    script:
        "../scripts/audit_mechanisms.py"


# Adversaries on our own terms: one record of one teacher is replaced, and the teacher is trained
# again. What is attacked is a part of the configuration, and null if it is left out.
rule attack_ensembles:
    message:
        "Attacking the teachers of this run by natural and poisoned records"
    input:
        **files.attacked(settings),
    output:
        table=shown("results/audit/tables/adversaries.csv", "adversaries", "Audit"),
        png=shown("results/audit/figures/adversaries.png", "adversaries", "Audit"),
        pdf="results/audit/figures/adversaries.pdf",
    params:
        **((settings.audit.attacked() if settings.audit else None) or {}),
        code=fingerprint("attack_ensembles.py"),
        seed=config["seed"],
        device=config["device"],
    log:
        "logs/attack_ensembles/adversaries.log",
    benchmark:
        "results/benchmarks/attack_ensembles/adversaries.tsv"
    priority: 1
    resources:
        mem_mb=growing(6000 if GPUS else 1800),
        gpu=GPUS,
    script:
        "../scripts/attack_ensembles.py"
