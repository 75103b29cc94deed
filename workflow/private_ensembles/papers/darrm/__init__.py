"""DaRRM (Jiang, Zhang and Joshi, 2024): one folder from its settings to its tables and figures.

The mathematics is in `darrm.mathematics`.
"""
