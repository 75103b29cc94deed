"""How often a label is right by each mechanism on the same votes at one budget (docs/pate.md)."""
