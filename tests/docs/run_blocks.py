#!/usr/bin/env python3
"""Executes the code blocks of the tutorial and the how-to guides, and compares what they print with the pages.

Usage: run_blocks.py [--update] SOURCE_DIR BUILD_DIR [PAGE...]

The blocks of a page run in order in one directory, which has a copy of samples/. A block

    ```LANGUAGE title="NAME"    is written to the file NAME
    ```console                  lines with $ are commands, the others what they print
    ```python                   is a program; a block ```text after it is what it prints

and any other block is an error. Addresses are compared as ADDRESS. A comment `<!-- needs: THING... -->` before a block
names what it needs; if that is missing, the block is skipped, with a message. --update writes the outputs to the pages.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r'^```(\w*)( title="([^"]+)")?$')


def find_modules(*names):
    """Whether Python has all these modules."""
    code = f'import {", ".join(names)}'
    return subprocess.run([sys.executable, '-c', code], stderr=subprocess.DEVNULL).returncode == 0


def available(thing, build):
    """Whether a thing that a block needs is available."""
    if thing == 'shared':
        return (build / 'lib/ptxi/libcuda.so.1').exists()
    if thing == 'installed':  # tests/packages/install.sh sets it
        return 'CMAKE_PREFIX_PATH' in os.environ
    if thing in ('nvcc', 'cmake'):
        return shutil.which(thing) is not None
    return find_modules(thing)


def plain(text):
    """Return a text without what differs from run to run."""
    return re.sub(r'0x[0-9a-f]{6,}', '0xADDRESS', text.rstrip('\n'))


def run(command, directory, stdin=None):
    """Return what a command prints."""
    return subprocess.run(command, cwd=directory, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=300).stdout


class Page:
    """A page with blocks to be executed. `lines` becomes its text with the outputs of this run."""

    def __init__(self, path, directory, build):
        self.path, self.directory, self.build = path, directory, build
        self.lines, self.executed, self.skipped, self.errors = [], 0, [], []

    def run(self):
        """Execute all blocks."""
        printed, needs, block, fence = None, [], None, None
        for number, line in enumerate(self.path.read_text().splitlines(), 1):
            if block is not None:
                if line != '```':
                    block.append(line)
                    continue
                printed = self.execute(fence, block, needs, number, printed)
                needs, block = [], None
                continue
            if line.startswith('```'):
                fence, block = FENCE.match(line), []
                if not fence:
                    self.errors.append(f'{self.path}:{number}: not a known kind of block: {line}')
                    return
            elif line.startswith('<!-- needs: '):
                needs = line[len('<!-- needs: '):].split()[:-1]
            self.lines.append(line)

    def execute(self, fence, block, needs, number, printed):
        """Execute one block, and add its lines. Return what it prints if a block with that must follow."""
        missing = [n for n in needs if not available(n, self.build)]
        kind, name = fence[1], fence[3]
        if name:
            (self.directory / name).write_text('\n'.join(block) + '\n')
        if missing:
            self.skipped.append(f'{self.path.name}:{number}: needs {", ".join(missing)}')
        elif kind == 'console':
            block = self.commands(block, number)
        elif kind == 'text' and printed is not None:
            block = self.compared(block, printed.rstrip('\n').split('\n'), number)
        elif kind == 'python':
            self.executed += 1
            printed = run([sys.executable, '-'], self.directory, '\n'.join(block)) if not needs and not name else None
            if name and needs:
                self.commands(['$ python3 ' + name], number, any_output=True)
            self.lines += block + ['```']
            return printed
        elif not name:
            self.errors.append(f'{self.path}:{number}: a block of the kind {kind!r} without a title is not executed')
        self.lines += block + ['```']
        return None

    def commands(self, block, number, any_output=False):
        """Run the commands of a block. Return its lines with what they print."""
        result = []
        for command in (line for line in block if line.startswith('$ ')):
            result.append(command)
            result += [x for x in run(['sh', '-c', command[2:]], self.directory).rstrip('\n').split('\n') if x]
            self.executed += 1
        return block if any_output else self.compared(block, result, number)

    def compared(self, block, result, number):
        """Compare the lines of a block with those of this run, and return the right ones."""
        if plain('\n'.join(block)) == plain('\n'.join(result)):
            return block
        self.errors.append('\n'.join([f'{self.path}:{number}: the page has', *block, 'but this run printed', *result]))
        return result


def environment(source, build, directory):
    """Set the variables with which blocks find the build."""
    os.environ.update(
        PATH=f'{build}:{directory}:{os.environ["PATH"]}', SOURCE=str(source),
        PYTHONPATH=str(source / 'bindings/python'),
        PTXI_LIBRARY=str(build / '.libs/libptxi.so'), PTXI_COMMAND=str(build / 'ptxi'), NO_COLOR='1',
        PYTEST_ADDOPTS='-p ptxi.pytest_plugin -p no:cacheprovider',
        PKG_CONFIG_PATH=str(directory), LD_LIBRARY_PATH=f'{build / ".libs"}', PYTHONDONTWRITEBYTECODE='1')
    for name in [n for n in os.environ if n.startswith('PTXI_') and n not in ('PTXI_LIBRARY', 'PTXI_COMMAND')]:
        del os.environ[name]
    (directory / 'python3').write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (directory / 'python3').chmod(0o755)
    (directory / 'libptxi.pc').write_text(f'Name: libptxi\nDescription: build\nVersion: 0\n'
                                          f'Libs: -L{build}/.libs -lptxi\nCflags: -I{source}/include\n')


def main(arguments):
    """Execute the pages. Return the exit status."""
    update = arguments[:1] == ['--update']
    source, build = (pathlib.Path(a).resolve() for a in arguments[update:update + 2])
    pages = [pathlib.Path(a) for a in arguments[update + 2:]] or sorted((source / 'doc').glob('[th][uo]*/*.md'))
    executed, failed = 0, False
    with tempfile.TemporaryDirectory() as top:
        environment(source, build, pathlib.Path(top))
        for path in pages:
            directory = pathlib.Path(top) / path.stem
            directory.mkdir()
            shutil.copytree(source / 'samples', directory / 'samples')
            page = Page(path, directory, build)
            page.run()
            executed += page.executed
            for message in page.skipped:
                print('skipped:', message)
            if update and page.errors:
                path.write_text('\n'.join(page.lines) + '\n')
            for message in page.errors:
                print(message)
            failed = failed or bool(page.errors)
    print(f'{executed} blocks and commands of {len(pages)} pages executed')
    return 1 if failed or not executed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
