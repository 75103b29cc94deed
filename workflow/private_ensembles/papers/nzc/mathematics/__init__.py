"""NZC (Near-Zero-Cost, under review at ICLR 2020): immutable noisy ArgMax, its claim, the truth.

Its privacy claim is false (docs/nzc.md): nothing released by it is private.
"""
