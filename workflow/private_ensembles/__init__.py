"""What K teachers' votes may release, at what privacy cost, and how often the label is right.

Imports nothing: a script that needs `darrm` must not pay for, nor depend on, `teachers`.
"""

__version__ = "0.1.0"
