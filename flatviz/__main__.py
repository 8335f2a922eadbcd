"""Run `flatviz` as `python -m flatviz`."""

import sys

from flatviz.cli import main

sys.exit(main())
