"""PATE's Table 2 as it is printed, typed a second time: for tests of more than one file."""

from private_ensembles.papers.pate.mathematics.table2 import PrintedRow, Sanitisation

ROWS = {
    "MNIST": PrintedRow(2.00, 1e-5, (Sanitisation(14, 0.0329, 0.0618, 6.23),)),
    "SVHN": PrintedRow(4.96, 1e-6, (Sanitisation(7.5, 0.0533, 0.0717, 4.88),)),
    "Adult": PrintedRow(1.68, 1e-5, (Sanitisation(15.5, 0.0310, 0.0332, 7.92),)),
    "Glyph": PrintedRow(2.07, 1e-8, (Sanitisation(20.5, 0.0205, 0.0128, 11.9),)),
    "Glyph, two rounds": PrintedRow(
        0.837,
        1e-8,
        (Sanitisation(50, 0.009, 0.00278, 26.4), Sanitisation(50, 0.008, 0.00088, 38.7)),
    ),
}
