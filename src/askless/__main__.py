"""`python -m askless` is `askless`."""

import sys

from askless.cli import main

if __name__ == "__main__":
    sys.exit(main())
