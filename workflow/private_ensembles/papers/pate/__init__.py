"""PATE's sections: which queries are asked, what they cost, what is right, and its students.

The mathematics is in `pate`. May import what `papers` may.
"""
