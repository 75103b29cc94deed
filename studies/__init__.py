"""Our own questions beyond the papers, a folder for each (studies/README.md)."""
