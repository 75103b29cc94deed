"""How many labels DPBag's budgets buy if the teachers' intercept is penalised (docs/dpbag.md)."""
