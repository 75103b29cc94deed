"""Read UCI Adult (Becker, Kohavi 1996; adult.names describes it), believing nothing unchecked.

Each line is a record: 14 attributes and the income class, separated by a comma and a space, with
"?" for a missing value. adult.test has a first line that is not a record, and a full stop after
each class. What a feature means is fixed here, from adult.names, and not read off the records: the
columns do not depend on who is in the data.
"""

import numpy as np

from private_ensembles.training.data.tabular import TabularDataset

# The attributes in the order of the file. Numeric ones have a range that is known without the
# records: the sample was drawn with age > 16, hours > 0 and weight > 1 (adult.names), and the
# survey codes age up to 90 and hours with two digits, education with 16 levels, gains with five
# digits and losses with four. The upper end of the weights is ours. Scaling clips what is beyond.
# Categorical ones have all their values; "?" is one if adult.data may have it.
ATTRIBUTES = {
    "age": (17, 90),
    "workclass": (
        "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, "
        "Never-worked, ?"
    ),
    "fnlwgt": (1, 2_000_000),
    "education": (
        "Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th, 7th-8th, "
        "12th, Masters, 1st-4th, 10th, Doctorate, 5th-6th, Preschool"
    ),
    "education-num": (1, 16),
    "marital-status": (
        "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent, "
        "Married-AF-spouse"
    ),
    "occupation": (
        "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, "
        "Handlers-cleaners, Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, "
        "Priv-house-serv, Protective-serv, Armed-Forces, ?"
    ),
    "relationship": "Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried",
    "race": "White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black",
    "sex": "Female, Male",
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 9_999),
    "hours-per-week": (1, 99),
    "native-country": (
        "United-States, Cambodia, England, Puerto-Rico, Canada, Germany, "
        "Outlying-US(Guam-USVI-etc), India, Japan, Greece, South, China, Cuba, Iran, Honduras, "
        "Philippines, Italy, Poland, Jamaica, Vietnam, Mexico, Portugal, Ireland, France, "
        "Dominican-Republic, Laos, Ecuador, Taiwan, Haiti, Columbia, Hungary, Guatemala, "
        "Nicaragua, Scotland, Thailand, Yugoslavia, El-Salvador, Trinadad&Tobago, Peru, Hong, "
        "Holand-Netherlands, ?"
    ),
}
NUMERIC = {name: range_ for name, range_ in ATTRIBUTES.items() if isinstance(range_, tuple)}
CATEGORICAL = {
    name: tuple(values.split(", ")) for name, values in ATTRIBUTES.items() if name not in NUMERIC
}
CLASSES = ("<=50K", ">50K")
MAX_LINE = 1 << 10  # characters; the longest record has 150


def feature_names():
    """Return the names of the 108 features, text (108,).

    Numeric attributes keep their names; the others become `attribute=value`.
    """
    names = [*NUMERIC]
    for name, values in CATEGORICAL.items():
        names += [f"{name}={value}" for value in values]
    return np.array(names)


def load_adult(name, train, test):
    """Read the records of UCI Adult, not shuffled.

    Labels are 1 for an income of more than 50,000 dollars. A missing value is a value of its own.

    Args:
        name: The name of the data set.
        train: The path of adult.data.
        test: The path of adult.test.

    Returns:
        LabelledRecords.

    Raises:
        ValueError: A file is not as described; the message names the file and the line.
        OSError: A file cannot be read.
    """
    names = feature_names()
    bounds = np.zeros((2, len(names)), np.float32)
    bounds[1] = 1
    bounds[:, : len(NUMERIC)] = np.transpose(list(NUMERIC.values()))
    train_features, train_labels = read_adult_file(train)
    test_features, test_labels = read_adult_file(test)
    return TabularDataset(
        name,
        train_features,
        train_labels,
        test_features,
        test_labels,
        feature_names=names,
        lower=bounds[0],
        upper=bounds[1],
        n_classes=len(CLASSES),
    )


def read_adult_file(path):
    """Read the features and labels of one file.

    Returns:
        Features, float32 (N, 108), in the order of `feature_names`, and labels, uint8 (N,).

    Raises:
        ValueError: The file is not as described; the message names the file and the line.
        OSError: The file cannot be read.
    """
    rows, labels = [], []
    columns = {}
    for attribute, values in CATEGORICAL.items():
        start = len(NUMERIC) + sum(len(CATEGORICAL[other]) for other in columns)
        columns[attribute] = {value: start + i for i, value in enumerate(values)}
    with open(path, encoding="ascii", errors="replace", newline="\n") as file:
        number = 0
        while line := file.readline(MAX_LINE):
            number += 1
            # The first line of adult.test is a remark, and both files end with an empty line.
            if not line.strip() or (number == 1 and line.startswith("|")):
                continue
            where = f"{path}: line {number}"
            numbers, ones, label = _parse_record(line, columns, where)
            rows.append((numbers, ones))
            labels.append(label)
    if not rows:
        raise ValueError(f"{path}: holds no record")
    features = np.zeros((len(rows), len(NUMERIC) + sum(map(len, CATEGORICAL.values()))), np.float32)
    features[:, : len(NUMERIC)] = [numbers for numbers, _ in rows]
    ones = np.array([ones for _, ones in rows])
    features[np.arange(len(rows))[:, None], ones] = 1
    return features, np.array(labels, np.uint8)


def _parse_record(line, columns, where):
    """Return the numbers of a line, the columns in which it has a one, and its label."""
    fields = [field.strip() for field in line.split(",")]
    if len(fields) != len(ATTRIBUTES) + 1:
        raise ValueError(f"{where}: {len(fields)} fields: expected {len(ATTRIBUTES) + 1}")
    values = dict(zip(ATTRIBUTES, fields, strict=False))
    numbers = []
    for attribute in NUMERIC:
        # Digits alone: int() would also take "1_0", and seven keep the number exact in float32.
        if not (values[attribute].isdecimal() and len(values[attribute]) <= 7):
            raise ValueError(f"{where}: {attribute} = {values[attribute]!r}: expected a number")
        numbers.append(int(values[attribute]))
    ones = []
    for attribute, column_of in columns.items():
        if values[attribute] not in column_of:
            raise ValueError(f"{where}: {attribute} = {values[attribute]!r}: is not a known value")
        ones.append(column_of[values[attribute]])
    income = fields[-1].removesuffix(".")
    if income not in CLASSES:
        raise ValueError(f"{where}: class {fields[-1]!r}: expected {' or '.join(CLASSES)}")
    return numbers, ones, CLASSES.index(income)
