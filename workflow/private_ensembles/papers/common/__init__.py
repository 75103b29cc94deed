"""What several papers share: reading of inputs, standard errors, students, the look of figures."""
