"""DPBag's sections: thirds of a table, bagged votes, label counts and students.

The mathematics is in `dpbag`. May import what `papers` may.
"""
