"""Train PATE's kind of student beside the workflow's, on labels that PATE's authors released."""

import numpy as np

from private_ensembles.base import files
from private_ensembles.training.data.images import read_labelled_images
from private_ensembles.training.data.released import read_released_labels
from studies.gan_student.comparison import Pool, compare

with files.job(snakemake) as job:
    images = read_labelled_images(job.input.dataset)
    released = read_released_labels(job.input.labels)
    pool = Pool(
        images.test_images,
        images.test_labels,
        released.test_labels.astype(np.int64),
        released.train_queries,
        released.n_classes,
        images.pixel_max,
    )
    files.write_csv(job.output[0], compare(pool, job.params.settings, job.report_progress))
