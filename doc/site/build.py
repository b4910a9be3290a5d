#!/usr/bin/env python3
"""Builds the web site, or the man page.

Usage: build.py site SOURCE_DIR COMMAND OUT_DIR   OUT_DIR/html is the site; warnings of mkdocs are errors
       build.py man SOURCE_DIR COMMAND            print ptxi.1

COMMAND is the program `ptxi`, whose help is the reference of the command. The C reference is made from the comments in
ptxi.h, the Python reference from the docstrings of the package.
"""
import ast
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys

PYTHON_PAGES = ('module', 'device', 'memory', 'stream', 'inline', 'compiler', 'checks', 'testing', 'errors',
                'pytest_plugin')


# ---- comments as pages

def escaped(text):
    """Return a line of a comment for Markdown."""
    parts = re.split('(`[^`]*`)', text)
    return ''.join(p if p.startswith('`') else re.sub(r'([*<\\[])', r'\\\1', p) for p in parts)


def kind_of(line, before):
    """Return what a line of a comment is: blank, code, a parameter, a result, an error, or text that goes on."""
    text = line.strip()
    if not text:
        return 'blank'
    if text.startswith('>>>') or (line.startswith('    ') and before in ('blank', 'code', 'head')):
        return 'code'
    if before == 'code' and not line.startswith(' ') and not text.startswith('@'):
        return 'code'
    if re.match(r'`[^`]+`(, `[^`]+`)* {1,}\S', text) and not line.startswith('   '):
        return 'parameter'
    if text.startswith('@return'):
        return 'return'
    return 'error' if re.match(r'PTXI_ERROR_\w+ {2,}\S', text) else 'text'


def prose(text):
    """Return a comment or docstring as Markdown: paragraphs, parameters and errors as lists, examples as code."""
    page, before = [], 'head'
    for line in text.split('\n'):
        kind = kind_of(line, before)
        words = escaped(re.sub(' +', ' ', line.strip()))
        if kind != 'code' and before == 'code':
            page.append('```\n')
        if kind == 'code':
            page.append((line if before == 'code' else f'\n```text\n{line}'))
        elif kind == 'parameter':
            name = re.match(r'(`[^`]+`(?:, `[^`]+`)*) (.*)', words)
            page.append(('' if before == 'list' else '\n') + f'- {name[1]}: {name[2]}')
        elif kind == 'return':
            page.append('\n**Returns** ' + words[len('@return '):])
        elif kind == 'error':
            name = words.split(' ', 1)
            page.append(('' if before == 'list' else '\n') + f'- `{name[0]}`: {name[1]}')
        elif kind == 'text':
            goes_on = before in ('text', 'return') or (before == 'list' and line.startswith('  '))
            page.append(('  ' if before == 'list' and goes_on else '' if goes_on else '\n') + words)
        else:
            page.append('')
        before = 'list' if kind in ('parameter', 'error') or (kind == 'text' and before == 'list' and goes_on) else kind
    return '\n'.join(page + ['```' if before == 'code' else '']) + '\n'


# ---- ptxi.h

def comment_text(comment):
    """Return the text of a C comment without its decoration."""
    return re.sub(r'^ \* ?', '', re.sub(r'\s*\*/\s*$', '', re.sub(r'^/\*!? ?', '', comment)), flags=re.M)


def wrapped(declaration):
    """Return a declaration with one parameter in a line, if it is long."""
    line = re.sub(r'\s+', ' ', declaration)
    if len(line) <= 60:
        return line
    head, parameters = line.split('(', 1)
    return f'{head}(\n    ' + ',\n    '.join(re.split(r', (?![^()]*\))', parameters))


def function_page(name, comment, declaration):
    """Return the section of one function."""
    text = comment_text(comment).split('\n', 1)
    return f'### {name}\n\n```c\n{wrapped(re.sub("^PTXI_API ", "", declaration))}\n```\n\n{prose("".join(text[1:]))}'


def rules(lines):
    """Return the rules for all calls as Markdown: " Word  text", which goes on in lines with more indentation."""
    page = []
    for line in lines:
        rule = re.match(r' (\w+) {1,2}(.*)', line)
        words = (rule[2] if rule else line).strip()
        error = re.match(r'(PTXI_ERROR_\w+) +(.*)', words)
        if rule:
            page.append(f'\n**{rule[1]}** ' + ('' if error else escaped(words)))
        if error:
            page.append(('\n' if rule else '') + f'- `{error[1]}`: {escaped(error[2])}')
        elif not rule:
            page.append(('  ' if page[-1].startswith(('-', '  ')) else '') + escaped(words))
    return '\n'.join(page)


def header_comment(text):
    """Return the comment at the head of ptxi.h as Markdown: paragraphs, an example, and the rules for all calls."""
    page = []
    for paragraph in text.split('\n\n'):
        lines = paragraph.split('\n')
        if all(line.startswith('  ') for line in lines):
            page.append('```c title="In short"\n' + '\n'.join(line[2:] for line in lines) + '\n```')
        elif any(line.startswith(' ') for line in lines):
            page.append(escaped(lines[0]) + '\n' + rules(lines[1:]))
        else:
            page.append('\n'.join(map(escaped, lines)))
    return '\n\n'.join(page) + '\n'


def c_reference(header):
    """Return the page of the C API: all functions, in the sections of the header."""
    head = comment_text(header[:header.index('#ifndef')].strip())
    parts = re.split(r'^/\* ---- (.*?) -+ \*/$', header, flags=re.M)
    page = ['# C API\n', 'Made from the comments in `ptxi.h`.\n', header_comment(head)]
    pattern = re.compile(r'(/\*! (\w+)\(\) :.*?\*/)\n(PTXI_API .*?;)', re.S)
    for title, body in zip(parts[1::2], parts[2::2]):
        functions = pattern.findall(body)
        if functions:
            page.append(f'## {title[0].upper()}{title[1:]}\n')
            page += [function_page(name, comment, declaration) for comment, name, declaration in functions]
    return '\n'.join(page)


# ---- docstrings

def signature(node):
    """Return the head of a function, or of a class."""
    if isinstance(node, ast.ClassDef):
        return f'class {node.name}'
    return f'{node.name}({ast.unparse(node.args)})'


def docstring(node):
    """Return a docstring as Markdown."""
    return prose(ast.get_docstring(node))


def is_documented(node):
    """Whether the reference has this node."""
    kinds = ast.FunctionDef, ast.ClassDef
    return isinstance(node, kinds) and not node.name.startswith('_') and ast.get_docstring(node)


def python_reference(package):
    """Return the page of the Python package."""
    page = ['# Python\n', 'Made from the docstrings of the package. `ptxi.load` is in the module `module`, and so on;\n'
            'all names but those of `testing` and of the plugin are in `ptxi` itself.\n']
    for name in PYTHON_PAGES:
        tree = ast.parse((package / f'{name}.py').read_text())
        page.append(f'## {name}\n\n{docstring(tree)}')
        for node in filter(is_documented, tree.body):
            page.append(f'### {node.name}\n\n```python\n{signature(node)}\n```\n\n{docstring(node)}')
            for inner in filter(is_documented, getattr(node, 'body', ())):
                page.append(f'```python\n{signature(inner)}\n```\n\n{docstring(inner)}')
    return '\n'.join(page)


# ---- the command

def help_of(command, *words):
    """Return a help text of the command."""
    return subprocess.run([command, 'help', *words], stdout=subprocess.PIPE, check=True, text=True).stdout


def commands(command):
    """Return the names of the commands that the help lists."""
    return re.findall(r'^  (\w+)  +\S', help_of(command), re.M)


def command_reference(command):
    """Return the page of the command."""
    page = [f'# The command\n\nThis is what `ptxi help` prints.\n\n```text\n{help_of(command)}\n```\n']
    page += [f'## ptxi {name}\n\n```text\n{help_of(command, name)}\n```\n' for name in commands(command)]
    return '\n'.join(page)


def man_page(source, command):
    """Return ptxi.1."""
    def quoted(text):
        text = text.replace('\\', '\\e').replace('-', '\\-')
        return '.nf\n' + re.sub(r"^(?=[.'])", r'\\&', text, flags=re.M) + '.fi\n'

    header = (source / 'include/ptxi.h').read_text()
    version = '.'.join(re.findall(r'^#define PTXI_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)', header, re.M))
    page = [f'.TH PTXI 1 "" "libptxi {version}" "User Commands"\n.SH NAME\n'
            'ptxi \\- run and check NVIDIA PTX on the CPU\n.SH SYNOPSIS\n', quoted(help_of(command))]
    for name in commands(command):
        page.append(f'.SH PTXI {name.upper()}\n{quoted(help_of(command, name))}')
    return ''.join(page)


# ---- the site

def links(text, name):
    """Return a page with the links of its place in the site."""
    if name != 'README.md':
        return text.replace('](doc/', '](')
    return text


NEEDS = {'shared': 'the shared library', 'installed': 'an installed libptxi'}


def with_needs(text):
    """Replace the comments on what a block needs by a sentence."""
    def sentence(found):
        return f'*Needs {html.escape(", ".join(NEEDS.get(word, word) for word in found[1].split()))}.*\n'
    return re.sub(r'^<!-- needs: (.*?)-->$', sentence, text, flags=re.M)


def with_bars(text):
    """Remove the backslash of \\| in the code of tables. GitHub needs it, and mkdocs would show it."""
    def row(found):
        return re.sub('`[^`]*`', lambda code: code[0].replace('\\|', '|'), found[0])
    return re.sub(r'^\|.*$', row, text, flags=re.M)


def collect(source, command, docs):
    """Write the pages to the directory that mkdocs reads."""
    pages = {p.relative_to(source / 'doc'): p for p in (source / 'doc').rglob('*.md')}
    pages.update({pathlib.Path(f'{name.lower()}.md'): source / f'{name}.md'
                  for name in ('CONTRIBUTING', 'CHANGES', 'SECURITY')})
    for name, path in pages.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(with_bars(with_needs(links(path.read_text(), path.name))))
    (docs / 'reference/c-api.md').write_text(c_reference((source / 'include/ptxi.h').read_text()))
    (docs / 'reference/python.md').write_text(python_reference(source / 'bindings/python/ptxi'))
    (docs / 'reference/command.md').write_text(command_reference(command))
    for picture in (source / 'doc').rglob('*.svg'):
        (docs / picture.relative_to(source / 'doc').parent).mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, docs / picture.relative_to(source / 'doc'))
    for name in ('site.css', 'iframe-worker.js'):
        shutil.copy(source / 'doc/site' / name, docs)


def build(source, command, out):
    """Build the site. Warnings, such as links to nothing, are errors."""
    out.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(out / 'docs', ignore_errors=True)
    (out / 'docs').mkdir()
    collect(source, command, out / 'docs')
    shutil.copy(source / 'doc/site/mkdocs.yml', out)
    environment = {**os.environ, 'NO_MKDOCS_2_WARNING': '1', 'DISABLE_MKDOCS_2_WARNING': 'true'}
    return subprocess.run([sys.executable, '-m', 'mkdocs', 'build', '--strict', '--clean', '-q', '-f',
                           str(out / 'mkdocs.yml')], env=environment).returncode


def main(arguments):
    """Run the command line. Return the exit status."""
    what, source = arguments[0], pathlib.Path(arguments[1]).resolve()
    command = str(pathlib.Path(arguments[2]).resolve())
    if what == 'man':
        sys.stdout.write(man_page(source, command))
        return 0
    return build(source, command, pathlib.Path(arguments[3]).resolve())


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
