"""How right the labels that PATE's authors released are, and their student (docs/students.md)."""
