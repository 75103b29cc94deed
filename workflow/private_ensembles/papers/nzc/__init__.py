"""NZC's sections: what is claimed of its labels, what is true, and how often they are right.

The mathematics is in `papers.nzc.mathematics`. May import what `papers` may, and uses the queries
of `papers.pate`.
"""
