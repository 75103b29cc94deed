"""How right labels are by each law of noise at one budget for all of them (docs/many-labels.md)."""
