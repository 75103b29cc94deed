"""Students: models trained on public inputs and released labels alone."""
