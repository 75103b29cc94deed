"""What the votes of PATE's own ensembles cost, for whoever has them (docs/pate.md)."""
