"""How teachers agree if no profile is given: that of config.yaml's section `planner`."""

# 7 of 10 queries are easy; shares of right votes are Beta(20, 2) there, else Beta(2, 2); wrong
# votes are spread over the other classes by a Dirichlet of parameter 1 (`votes.synthetic`).
PROFILE = {"easy_share": 0.7, "easy": (20.0, 2.0), "hard": (2.0, 2.0), "confusion": 1.0}
