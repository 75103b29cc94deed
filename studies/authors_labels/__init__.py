"""How right the labels that PATE's authors released are, and their student (docs/pate.md)."""
