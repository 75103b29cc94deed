"""Whether PATE's kind of student, a GAN, learns more from few labels (docs/pate.md)."""
