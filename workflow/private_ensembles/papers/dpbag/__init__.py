"""DPBag's sections: thirds of a table, bagged votes, label counts and students.

The mathematics is in `papers.dpbag.mathematics`. May import what `papers` may.
"""
