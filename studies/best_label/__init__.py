"""Which private label of more than two classes is right most often? (docs/best-label.md)."""
