"""Teachers: models, DP-SGD and plain training, accounting, voting. Knows no data sets."""
