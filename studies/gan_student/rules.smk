# Whether PATE's kind of student, a GAN, learns more from few labels than the workflow's.
TABLES.append("results/studies/tables/gan_student.csv")


rule compare_gan_student:
    message:
        "Training a GAN beside the workflow's student on the authors' labels"
    input:
        dataset=main.files.dataset(main.settings.pate.tasks[asked.gan_student.task].dataset),
        labels=main.files.dataset(AUTHORS_LABELS[asked.gan_student.task]),
    output:
        shown("results/studies/tables/gan_student.csv"),
    params:
        code=fingerprint("gan_student/compare_gan_student.py"),
        settings=asked.gan_student.to_dict(),
    log:
        "logs/compare_gan_student/gan_student.log",
    benchmark:
        "results/benchmarks/compare_gan_student/gan_student.tsv"
    resources:
        mem_mb=main.growing(1400),
        runtime=60,
    script:
        "compare_gan_student.py"
