"""`python -m ptxi ...` is the command `ptxi ...`: the one that the package brings, that of the source tree's build, or the
first in PATH; PTXI_COMMAND names another. It is run in place of Python, so that its output and exit status are the same."""
import os
import pathlib
import shutil
import sys
from typing import List, Optional


def find() -> Optional[str]:
    """The command's file, or None."""
    explicit = os.environ.get('PTXI_COMMAND')
    here = pathlib.Path(__file__).resolve().parent
    places = [pathlib.Path(explicit)] if explicit else [here / 'bin' / 'ptxi', here.parents[2] / 'build' / 'ptxi']
    for p in places:
        if p.is_file() and os.access(p, os.X_OK):
            return str(p)
    return None if explicit else shutil.which('ptxi')


def main(arguments: List[str]) -> int:
    command = find()
    if command is None:
        sys.stderr.write('python -m ptxi: the command ptxi is not there: install libptxi, or set PTXI_COMMAND\n')
        return 127
    sys.stdout.flush()
    os.execv(command, ['ptxi', *arguments])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
