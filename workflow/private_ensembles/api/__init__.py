"""What `from private_ensembles import ...` offers beside the mathematics: calls with plain numbers.

There is one function for each question of a user, with keyword arguments that are checked at once.
It may import every floor below, and loads what a call needs when the call is made.
"""
