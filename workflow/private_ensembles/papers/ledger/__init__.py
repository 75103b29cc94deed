"""The privacy ledger: what every mechanism claims, what is proven, what is exact.

Looks at no votes, draws nothing and knows no files.
"""
