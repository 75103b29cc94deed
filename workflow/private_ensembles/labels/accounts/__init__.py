"""Accounts: what labels of each law cost together, and which noise keeps a budget."""
