"""`python -m ptxi ...` runs the command `ptxi ...`.

It looks for the command in the package, in the build directory of the source tree, and in PATH, in this order. The
environment variable PTXI_COMMAND, if it is set, gives the path instead. The command replaces the Python process, so its
output and exit status are passed on unchanged.
"""
import os
import pathlib
import shutil
import sys
from typing import List, Optional


def find() -> Optional[str]:
    """Return the path of the command, or None if it is not found."""
    explicit = os.environ.get('PTXI_COMMAND')
    here = pathlib.Path(__file__).resolve().parent
    places = [pathlib.Path(explicit)] if explicit else [here / 'bin' / 'ptxi', here.parents[2] / 'build' / 'ptxi']
    for p in places:
        if p.is_file() and os.access(p, os.X_OK):
            return str(p)
    return None if explicit else shutil.which('ptxi')


def main(arguments: List[str]) -> int:
    """Replace this process by the command. Return 127 if the command is not found."""
    command = find()
    if command is None:
        sys.stderr.write('python -m ptxi: cannot find the command ptxi; '
                         'install libptxi, or set PTXI_COMMAND to its path\n')
        return 127
    sys.stdout.flush()
    os.execv(command, ['ptxi', *arguments])


def run() -> int:
    """Run the command with the arguments of this process, as the script `ptxi` of an installed package."""
    return main(sys.argv[1:])


if __name__ == '__main__':
    sys.exit(run())
