#!/usr/bin/env python3
"""Executes the code blocks of all pages, and compares what they print with the pages.

Usage: run_blocks.py [--update] SOURCE_DIR BUILD_DIR [PAGE...]

The blocks of a page run in order in one directory, which has a copy of samples/ and of tests/docs/files/. A block

    ```LANGUAGE title="NAME"    is written to the file NAME
    ```console                  lines with $ are commands, the others what they print
    ```sh                       is a script that must succeed
    ```python                   is a program that must succeed; a block ```text after it is what it prints

and any other block is an error, as is an indented one. Addresses are compared as ADDRESS. Commands of ROOT_PAGES are
for the top of the source tree, with a build in ./build. Pages of the tutorial begin with the files of TUTORIAL. A
comment before a block says what is special:

    <!-- needs: THING... -->        if a thing is missing, the block is skipped, with a message
    <!-- not executed: REASON -->   one of REASONS. Of commands and Python the syntax is checked, and that the targets
                                    of make and the scripts exist. The number of such blocks without figures is
                                    printed, and must be UNEXECUTED

--update writes the outputs to the pages.
"""
import ast
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

REASONS = {
    'figure': 'a picture, a formula or a grammar',
    'output': 'depends on the compiler or on the machine',
    'excerpt': 'part of a program of the reader, or of another project',
    'installs': 'changes the machine',
    'long': 'takes minutes or needs a GPU; other targets execute it',
}
UNEXECUTED = 16
NOT_RUN = object()  # in place of what a program prints: it was skipped, and the block after it, too
TUTORIAL = 'doc/tutorial/first-kernel.md'
ROOT_PAGES = 'README.md', 'add-an-instruction.md', 'use-the-command.md', 'CONTRIBUTING.md'
FENCE = re.compile(r'^```(\w*)( title="([^"]+)")?$')


def find_modules(*names):
    """Whether Python has all these modules."""
    code = f'import {", ".join(names)}'
    return subprocess.run([sys.executable, '-c', code], stderr=subprocess.DEVNULL).returncode == 0


def available(thing, build):
    """Whether a thing that a block needs is available."""
    if thing == 'shared':
        return (build / 'lib/ptxi/libcuda.so.1').exists()
    if thing == 'unit-tests':
        return (build / 'tests/unit/exec/arith/test_alu').exists()
    if thing == 'installed':  # tests/packages/install.sh sets it
        return 'CMAKE_PREFIX_PATH' in os.environ
    if thing == 'gtest':
        test = 'echo "#include <gtest/gtest.h>" | c++ -fsyntax-only -x c++ -'
        return subprocess.run(test, shell=True, stderr=subprocess.DEVNULL).returncode == 0
    if thing == 'check':
        return subprocess.run(['pkg-config', '--exists', 'check'], stderr=subprocess.DEVNULL).returncode == 0
    if thing in ('nvcc', 'cmake'):
        return shutil.which(thing) is not None
    return find_modules(thing)


def missing_names(text, page, build):
    """Return the targets of make and the scripts of this project in commands that do not exist."""
    text = re.sub(r' #.*', '', text)
    makefile = (build / 'Makefile').read_text()
    top = next(p for p in page.resolve().parents if (p / 'configure.ac').exists())
    calls = re.findall(r'(?:^|&& )make ([^&|#\n]*)', text, re.M)
    names = [w for words in calls for w in words.split() if re.fullmatch(r'\w[\w./-]*', w)]
    names += re.findall(r'(?:^|\s)((?:\.ci|tests)/[\w./-]+|\./bootstrap)', text)
    return [n for n in names
            if not (top / n).is_file() and not re.search(rf'^{re.escape(n)}(\$\(EXEEXT\))?:', makefile, re.M)]


def plain(text):
    """Return a text without what differs from run to run."""
    return re.sub(r'0x[0-9a-f]{6,}', '0xADDRESS', text.rstrip('\n'))


def run(command, directory, stdin=None):
    """Return the exit status of a command, and what it prints."""
    done = subprocess.run(command, cwd=directory, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=300)
    return done.returncode, done.stdout


class Page:
    """A page with blocks to be executed. `lines` becomes its text with the outputs of this run."""

    def __init__(self, path, directory, build):
        self.path, self.directory, self.build = path, directory, build
        self.lines, self.executed, self.skipped, self.errors = [], 0, [], []
        self.unexecuted = []

    def check_indented(self):
        """Report blocks that are indented, outside of lists: nothing says what they are."""
        inside, blank, in_list = False, True, False
        for number, line in enumerate(self.path.read_text().splitlines(), 1):
            inside ^= line.startswith('```')
            if not inside and blank and not in_list and re.match(r' {4} *\S', line):
                self.errors.append(f'{self.path}:{number}: an indented block; use ``` and a language')
            if line and not line.startswith(' '):
                in_list = bool(re.match(r'([-*]|\d+\.) ', line))
            blank = not line

    def run(self):
        """Execute all blocks."""
        self.check_indented()
        printed, needs, reason, block, fence = None, [], None, None, None
        for number, line in enumerate(self.path.read_text().splitlines(), 1):
            if block is not None:
                if line != '```':
                    block.append(line)
                    continue
                if reason:
                    self.check_unexecuted(fence, block, reason, number)
                else:
                    printed = self.execute(fence, block, needs, number, printed)
                needs, reason, block = [], None, None
                continue
            if line.startswith('```'):
                fence, block = FENCE.match(line), []
                if not fence:
                    self.errors.append(f'{self.path}:{number}: not a known kind of block: {line}')
                    return
            elif line.startswith('<!-- needs: '):
                needs = line[len('<!-- needs: '):].split()[:-1]
            elif line.startswith('<!-- not executed: '):
                reason = line.split()[3]
            self.lines.append(line)

    def check_unexecuted(self, fence, block, reason, number):
        """Check the reason and the syntax of a block that is not executed."""
        if reason != 'figure':
            self.unexecuted.append(reason)
        self.lines += block + ['```']
        if reason not in REASONS:
            self.errors.append(f'{self.path}:{number}: {reason} is not one of {", ".join(REASONS)}')
        try:
            if fence[1] == 'python':
                ast.parse('\n'.join(block))
        except SyntaxError as error:
            self.errors.append(f'{self.path}:{number}: {error}')
        if fence[1] in ('sh', 'console'):
            commands = block if fence[1] == 'sh' else [line[2:] for line in block if line.startswith('$ ')]
            message = run(['sh', '-n'], self.directory, '\n'.join(commands) + '\n')[1]
            if message or not commands:
                self.errors.append(f'{self.path}:{number}: {message or "no command"}')
            for name in missing_names('\n'.join(commands), self.path, self.build):
                self.errors.append(f'{self.path}:{number}: there is no {name}')

    def execute(self, fence, block, needs, number, printed):
        """Execute one block, and add its lines. Return what it prints if a block with that must follow."""
        missing = [n for n in needs if not available(n, self.build)]
        kind, name = fence[1], fence[3]
        if name:
            (self.directory / name).write_text('\n'.join(block) + '\n')
        if missing:
            self.skipped.append(f'{self.path.name}:{number}: needs {", ".join(missing)}')
            self.lines += block + ['```']
            return NOT_RUN
        if kind == 'text' and printed is NOT_RUN:
            pass
        elif kind == 'console':
            block = self.commands(block, number)
        elif kind == 'text' and printed is not None:
            block = self.compared(block, printed.rstrip('\n').split('\n'), number)
        elif kind in ('python', 'sh') and not name:
            self.lines += block + ['```']
            return self.program([sys.executable, '-'] if kind == 'python' else ['sh', '-e'], block, number)
        elif kind == 'python' and needs:
            self.program([sys.executable, name], [], number)
        elif not name:
            self.errors.append(f'{self.path}:{number}: a block of the kind {kind!r} without a title is not executed')
        self.lines += block + ['```']
        return None

    def program(self, command, block, number):
        """Execute a program, which must succeed. Return what it prints."""
        status, printed = run(command, self.directory, '\n'.join(block) + '\n')
        self.executed += 1
        if status:
            self.errors.append(f'{self.path}:{number}: the block fails with exit status {status}:\n{printed}')
        return printed

    def commands(self, block, number):
        """Run the commands of a block. Return its lines with what they print."""
        result = []
        for command in (line for line in block if line.startswith('$ ')):
            result.append(command)
            result += [x for x in run(['sh', '-c', command[2:]], self.directory)[1].rstrip('\n').split('\n') if x]
            self.executed += 1
        return self.compared(block, result, number)

    def compared(self, block, result, number):
        """Compare the lines of a block with those of this run, and return the right ones."""
        if plain('\n'.join(block)) == plain('\n'.join(result)):
            return block
        self.errors.append('\n'.join([f'{self.path}:{number}: the page has', *block, 'but this run printed', *result]))
        return result


def write_titled(page, directory):
    """Write the blocks of a page that have a title."""
    for name, text in re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', page.read_text(), re.M | re.S):
        (directory / name).write_text(text)


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
    os.environ['PTXI_CACHE_DIR'] = str(directory / 'cache')
    for name in ('python', 'python3'):
        (directory / name).write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (directory / name).chmod(0o755)
    (directory / 'libptxi.pc').write_text(f'Name: libptxi\nDescription: build\nVersion: 0\n'
                                          f'Libs: -L{build}/.libs -lptxi\nCflags: -I{source}/include\n'
                                          f'driverdir={build}/lib/ptxi\n')


def main(arguments):
    """Execute the pages. Return the exit status."""
    update = arguments[:1] == ['--update']
    source, build = (pathlib.Path(a).resolve() for a in arguments[update:update + 2])
    pages = [pathlib.Path(a) for a in arguments[update + 2:]]
    every = not pages
    pages = pages or sorted([*source.glob('*.md'), *(source / 'doc').rglob('*.md')])
    executed, failed, unexecuted = 0, False, collections.Counter()
    with tempfile.TemporaryDirectory() as top:
        environment(source, build, pathlib.Path(top))
        for path in pages:
            directory = pathlib.Path(top) / path.stem
            shutil.copytree(source / 'tests/docs/files', directory)
            shutil.copytree(source / 'samples', directory / 'samples')
            if path.parent.name == 'tutorial':
                write_titled(source / TUTORIAL, directory)
            if path.name in ROOT_PAGES:
                (directory / 'build').symlink_to(build)
                for name in ('bindings', 'libptxi', 'tests'):
                    (directory / name).symlink_to(source / name)
            page = Page(path, directory, build)
            page.run()
            executed += page.executed
            unexecuted.update(page.unexecuted)
            for message in page.skipped:
                print('skipped:', message)
            if update and page.errors:
                path.write_text('\n'.join(page.lines) + '\n')
            for message in page.errors:
                print(message)
            failed = failed or bool(page.errors)
    print(f'{executed} blocks and commands of {len(pages)} pages executed')
    print('not executed:', ', '.join(f'{n} {reason} ({REASONS.get(reason)})' for reason, n in unexecuted.items()))
    if every and unexecuted.total() != UNEXECUTED:
        print(f'{unexecuted.total()} blocks are not executed; UNEXECUTED is {UNEXECUTED}')
        failed = True
    return 1 if failed or not executed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
