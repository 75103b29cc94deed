"""Teachers: models, DP-SGD and plain training, accounting, voting; knows nothing of mechanisms."""
