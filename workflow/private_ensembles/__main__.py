"""python -m private_ensembles: the command `private-ensembles` if no script is installed."""

import sys

from private_ensembles.command.main import main

if __name__ == "__main__":
    sys.exit(main())
