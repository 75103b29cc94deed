"""What labels cost, and which noise keeps a budget.

`gaussian_counts` and `laplace_counts`: noisy counts, as the papers charge them (`paper`), and for
Gaussian noise exactly (`analytic`). `label`: for what labels release. `given`: noise that a
configuration gives, not found for a budget. `private_teachers`: the teachers' own privacy.
`thresholds`: checks before a law.
"""
