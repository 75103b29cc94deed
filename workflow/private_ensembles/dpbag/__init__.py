"""DPBag: votes of teachers bagged over several partitions, at a cost personal to each record.

The mathematics of that paper alone. May import the floors up to `votes`.
"""
