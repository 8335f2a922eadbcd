"""`python -m flatviz` is `flatviz`."""

import sys

from flatviz.cli import main

sys.exit(main())
