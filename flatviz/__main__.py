"""Run `flatviz` as `python -m flatviz`."""

import sys

if not sys.flags.safe_path:
    sys.path.append(sys.path.pop(0))  # the current folder, whose torch.py is not meant

from flatviz.cli import main

sys.exit(main())
