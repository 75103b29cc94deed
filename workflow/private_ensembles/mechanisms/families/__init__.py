"""What several mechanisms share: the base class and its families, formulas, the exact audit.

A mechanism itself is one file of the folder above.
"""
