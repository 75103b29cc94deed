"""invink (InvisibleInk): the clip for 500 tokens, and what they are said to cost."""

import json
import math
from importlib.metadata import distribution

EPSILON, DELTA, TOKENS, REFERENCES, TEMPERATURE = 3.0, 1e-6, 500, 7, 1.0
package = distribution("invink")
text = package.locate_file("invink/utils.py").read_text(encoding="utf-8")
# The package loads transformers and models, and the file's other functions need Python 3.12. Its
# last functions are the accountant and need nothing.
accountant = {"math": math}
exec(text[text.index("def cdp_delta(") :], accountant)
batch = REFERENCES + 1  # with the public prompt
clip = accountant["get_clip"](EPSILON, TOKENS, TEMPERATURE, batch, DELTA)
claimed = accountant["get_epsilon"](TOKENS, clip, batch, TEMPERATURE, DELTA)
print(
    json.dumps(
        {
            "version": package.version,
            "tokens": TOKENS,
            "delta": DELTA,
            "range": 2 * clip / (REFERENCES * TEMPERATURE),
            "claimed": claimed,
        }
    )
)
