"""How much of the proven epsilon adversaries see on real teachers (docs/audit.md)."""
