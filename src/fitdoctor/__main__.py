"""`python -m fitdoctor` is the command `fitdoctor`."""

import sys

from fitdoctor.cli import main

if __name__ == "__main__":
    sys.exit(main())
