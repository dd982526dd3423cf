"""`python -m fitdoctor` is the command `fitdoctor`."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        # The command has no folder of the user's there: a `random.py` of theirs would be imported in place of Python's.
        del sys.path[0]

    from fitdoctor.cli import main

    sys.exit(main())
