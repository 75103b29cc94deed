"""PATE's sections: which queries are drawn, what they cost, what is right, and its students.

The mathematics is in `papers.pate.mathematics`. May import what `papers` may.
"""
