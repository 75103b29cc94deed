"""How a label comes out of the counts of votes, one file per law.

A law answers: Pr[label] with its error, how often the right label comes out, how it is drawn from
a source, and what less noise is. It knows no budget: what labels cost is said by `accounts`.
"""
