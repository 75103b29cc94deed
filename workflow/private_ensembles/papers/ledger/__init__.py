"""The privacy ledger: what every mechanism claims, what is proven, what is exact.

The ledger looks at no votes, draws nothing and knows no files.
"""
