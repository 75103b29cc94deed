"""The laws: how a label comes out of the votes of a query."""
