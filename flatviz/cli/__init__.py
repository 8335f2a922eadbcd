"""The `flatviz` command.

A subcommand is loaded when it is called, so that `flatviz doctor` runs where torch is broken.
"""

import importlib
import io
import sys
from collections.abc import Sequence

import click

import flatviz

COMMANDS = ("tour", "lab", "compare", "run", "docs", "doctor", "export")


class _Commands(click.Group):
    """Load each subcommand as `command` of the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names of the commands, in the order of `--help`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Load a command."""
        return importlib.import_module(f"flatviz.cli.{name}").command if name in COMMANDS else None


@click.command(
    cls=_Commands, context_settings=dict(help_option_names=["-h", "--help"], max_content_width=110)
)
@click.version_option(flatviz.__version__, prog_name="flatviz", message="%(prog)s %(version)s")
def group() -> None:
    """Train Bayesian neural networks, measure how flat they are, and look at them."""


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
