"""What `from private_ensembles import ...` offers beside the mathematics: calls with plain numbers.

One function for each question of a user, with keyword arguments, checked where they enter. May
import every floor below; loads what a call needs when it is made.
"""
