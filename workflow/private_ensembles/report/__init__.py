"""Tables, figures and the page that shows them.

The top floor: sees tables and knows nothing of how they were computed. May import `configuration`,
`published`, and from `mechanisms` their labels.
"""
