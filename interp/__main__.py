"""Where the process starts: a sandbox worker first, if the verb will need one, then everything else."""

from __future__ import annotations


def main() -> None:
    """Run the `interp` command."""
    from interp import startup

    startup.start()
    from interp.command import main as run

    startup.end(run)


if __name__ == "__main__":
    main()
