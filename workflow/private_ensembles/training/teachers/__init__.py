"""Teachers: models, DP-SGD and plain training, accounting, voting. They know no data sets."""
