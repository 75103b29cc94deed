"""How many labels DPBag's budgets buy if the teachers' intercept is free (docs/dpbag.md)."""
