"""The pack of private few-shot examples: which rate is charged, and which one is sampled at."""

import json
from importlib.metadata import version

from llama_index.core.llama_dataset.simple import LabelledSimpleDataExample, LabelledSimpleDataset
from llama_index.packs.diff_private_simple_dataset.base import DiffPrivateSimpleDatasetPack

SPLITS, EACH, SIGMA, TOKENS, RECORDS, DRAWS = 10, 2, 0.51, 100, 120_000, 2_000


def pack(records):
    """Four labels in equal parts, as in AG News."""
    examples = [
        LabelledSimpleDataExample(reference_label=str(i % 4), text=str(i)) for i in range(records)
    ]
    data = LabelledSimpleDataset(examples=examples)
    return DiffPrivateSimpleDatasetPack(None, None, None, data, show_progress=False)


claimed = pack(RECORDS).sigma_to_eps(SIGMA, "gaussian", SPLITS * EACH, TOKENS)
small = pack(400)  # what a token sees: how often is the first record of 400 in the sample?
one_label = small._filter_dataset_by_label("0")
hits = sum(
    example.text == "0"
    for _ in range(DRAWS)
    for split in small._split_dataset(one_label, SPLITS, EACH)
    for example in split.examples
)
merged = small._add_noise({"less": 0.0, "more": 1.0}, [0.0, 0.0])
print(
    json.dumps(
        {
            "version": version("llama-index-packs-diff-private-simple-dataset"),
            "sigma": SIGMA,
            "tokens": TOKENS,
            "splits": SPLITS,
            "sampled": SPLITS * EACH,
            "records": RECORDS,
            "label_records": RECORDS // 4,
            "delta": 1 / RECORDS,
            "claimed": claimed,
            "hits": hits,
            "draws": DRAWS,
            "rate_charged": SPLITS * EACH / 400,
            "rate_of_label": SPLITS * EACH / 100,
            "right_end": small._mode_of_distribution(merged) == "more",
        }
    )
)
