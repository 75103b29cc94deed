"""Every way to make labels of votes: a law of a label, with an account of what labels cost.

`registry` is the list, of facts only; `laws`, `checks` and `accounts` are what it puts together,
`mechanism` does so, and `release` says whether labels may leave and draws them. The planner, own
votes, the ledger, the audit and all tables are loops over the registry. docs/add-a-mechanism.md
shows how to add one. Knows neither files nor configuration. May import `noise`, `accounting`,
`audit`, `votes` and the papers' mathematics.
"""
