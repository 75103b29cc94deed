"""Let every teacher of each ensemble, from all its slices, vote once on every test image."""

from itertools import groupby

from private_ensembles.base import files
from private_ensembles.labels.votes import Votes, write_votes
from private_ensembles.training.data.images import read_labelled_images
from private_ensembles.training.teachers.device import choose_device
from private_ensembles.training.teachers.ensemble_file import load_slices
from private_ensembles.training.teachers.voting import cast_votes

with files.job(snakemake) as job:
    dataset = read_labelled_images(job.input.dataset)
    device = choose_device(job.params.device, job.threads)
    ensembles = groupby(job.input.teachers, lambda path: path.split(",slice=")[0])
    for (_, slices), output in zip(ensembles, job.output, strict=True):
        teachers, facts = load_slices(list(slices))
        meter = job.meter(len(teachers), "teachers")
        votes = cast_votes(
            teachers,
            dataset.test_images,
            model=facts["training"]["model"],
            pixel_max=dataset.pixel_max,
            n_classes=dataset.n_classes,
            device=device,
            meter=meter,
        )
        meter.finish()
        facts |= {"queries": "all test images, in order", "release": "not for release: no noise"}
        write_votes(output, Votes(dataset.n_classes, dataset.test_labels, votes, provenance=facts))
        right = votes == dataset.test_labels[:, None]
        job.log.info("mean accuracy of a teacher (not for release): %.4f", right.mean())
