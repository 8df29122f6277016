"""Where the process starts: a sandbox worker first, if the verb will need one, then everything else."""

from __future__ import annotations


def main() -> None:
    """Run the `interp` command."""
    from interp import early

    early.start()
    from interp.command import main as run

    early.end(run)


if __name__ == "__main__":
    main()
