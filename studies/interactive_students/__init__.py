"""What a student between two rounds gains over one round at the same cost (docs/pate.md)."""
