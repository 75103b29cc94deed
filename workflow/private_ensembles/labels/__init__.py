"""Votes in, labels out: every way to make labels of votes, and what they cost.

`registry` is the list of mechanisms, of facts only; `laws` and `accounts` are what it puts
together, `mechanism` does so, `release_gate` says whether labels may leave and draws them, and
`planner` says which is best. The planner, own votes, the ledger, the audit and all tables are loops
over the registry. docs/add.md shows how to add one. Knows neither papers nor
configuration. May import `base`, `accounting` and `audit`.
"""
