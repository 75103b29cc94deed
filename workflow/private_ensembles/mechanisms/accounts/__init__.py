"""What labels cost, and which noise keeps a budget, one file per proof.

`published`: as the papers have it. `improved`: Rényi divergences, converted better. `analytic`:
exactly for the noisy counts. `label`: for what labels release. `given`: noise that a configuration
gives, not found for a budget. `private_teachers`: the teachers' own privacy. `thresholds`: checks
before a law. The other files hold what several proofs share.
"""
