"""Tables, figures and the page that shows them.

The top floor: knows nothing of how results were computed. May import every package.
"""
