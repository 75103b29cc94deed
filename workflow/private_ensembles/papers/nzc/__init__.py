"""NZC's sections: what is claimed of its labels, what is true, and how often they are right.

The mathematics is in `nzc`. May import what `papers` may, and asks the queries of `papers.pate`.
"""
