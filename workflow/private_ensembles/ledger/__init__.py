"""The privacy ledger: what every mechanism claims, what is proven, what is exact; certificates.

Looks at no votes, draws nothing and knows no files. May import the floors up to
`papers`.
"""
