"""What a number in a table rests on, and so who may see it: the values of the column `release`.

The module has strings alone, for tables and caches, and imports nothing.
"""

# Votes carry no noise and are private data, and so is what is computed from them.
NOT_FOR_RELEASE = "not for release"
FUNCTION_OF_VOTES = f"{NOT_FOR_RELEASE}: a function of votes without noise"
FREE_OF_VOTES = "free of votes"
PUBLIC = "public: no function of the data"
