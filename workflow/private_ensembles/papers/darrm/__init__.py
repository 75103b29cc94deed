"""DaRRM's sections: accuracies of its labels, its tables, its figures' data and its simulations.

The mathematics is in `darrm`. May import what `papers` may.
"""
