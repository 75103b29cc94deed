"""Where randomness comes from: seeded streams, and exact samplers for noise nobody may know.

Knows nothing of privacy: what noise proves is said by `accounting` and `mechanisms`. May import no
other package of the house.
"""
