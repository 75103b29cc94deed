"""Files of votes as people have them. pandas and NumPy read; our code says what a cell means."""
