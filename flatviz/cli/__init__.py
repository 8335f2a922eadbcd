"""The `flatviz` command.

Its words are parsed and checked without torch; the module that does the work is loaded then, so
that help and errors come at once, and `flatviz doctor` runs where torch is broken.
"""

import io
import sys
from collections.abc import Sequence

import click

from flatviz.cli.commands import group


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: The words after `flatviz`; None: those of the process.

    Returns:
        The exit status: 0, 1 for bad input and failures (one line on stderr), 2 for bad options,
        130 after Ctrl-C.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # A file on Windows is rarely UTF-8, and has no λ
        if argv is None and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="namereplace")
    try:
        return group.main(words, prog_name="flatviz", standalone_mode=False) or 0
    except click.Abort:
        print(
            "\nflatviz: stopped; finished steps are kept in the cache, no half-written file is"
            " left",
            file=sys.stderr,
        )
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (ValueError, TypeError, RuntimeError, ImportError, OSError) as error:
        print(f"flatviz {words[0]}: {error}", file=sys.stderr)
        return 1
