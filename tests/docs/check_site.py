#!/usr/bin/env python3
"""Checks a built site as a reader uses it.

Usage: check_site.py SOURCE_DIR SITE_DIR   SITE_DIR has docs/ and html/, as doc/site/build.py makes them

- Each of GOALS is on the first page, in words, and at most two clicks in the text lead to a page that shows how.
  run_blocks.py executes the blocks of that page; here only few of them may be marked as not executed.
- Links and pictures of all pages exist, with their anchors, and pictures have a text.
- Each page is at most two clicks in the text away, or in the menu.
- Declarations in the C reference compile beside ptxi.h, as does its example; signatures in the Python reference parse,
  and its examples are run as doctests by tests/python.
- The search finds something in a page that is opened as a file, if there is Chromium.
"""
import ast
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

# What a reader wants, in the words of the first page; the page that shows how; and a command or call on it.
GOALS = (
    ('run a kernel', 'tutorial/first-kernel.html', 'ptxi run'),
    ('test kernels in CI', 'howto/test-with-pytest.html', '--ptxi-check'),
    ('find a race', 'howto/find-a-race.html', '--check=race'),
    ('run a program that was made for a GPU', 'reference/runtime.html', 'ptxi exec'),
    ('embed the library', 'howto/embed.html', 'ptxiLaunchKernel'),
    ('read what an error means', 'howto/read-an-error.html', 'is out of bounds'),
    ('add an instruction', 'howto/add-an-instruction.html', 'make check'),
)
CLICKS = 2
failures = []


def expect(true, what):
    """Note a failure."""
    if not true:
        failures.append(what)


class Page(html.parser.HTMLParser):
    """Links, anchors, pictures and text of a page; of links, those in the article and those in the menu."""

    def __init__(self, path):
        super().__init__()
        self.article, self.menu, self.anchors, self.pictures, self.text = [], [], set(), [], []
        self.rows, self.depth = [], 0
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.depth += tag == 'article'
        self.anchors.update(attributes[k] for k in ('id', 'name') if attributes.get(k))
        if tag == 'a' and attributes.get('href'):
            (self.article if self.depth else self.menu).append(attributes['href'])
            if self.depth and self.rows:
                self.rows[-1][1].append(attributes['href'])
        elif tag == 'img':
            self.pictures.append((attributes.get('src', ''), attributes.get('alt')))
        elif tag == 'tr':
            self.rows.append(['', []])

    def handle_endtag(self, tag):
        self.depth -= tag == 'article'

    def handle_data(self, data):
        if self.depth:
            self.text.append(data)
            if self.rows:
                self.rows[-1][0] += data


def target(name, link):
    """Return the page and the anchor of a link, or (None, None) if it leaves the site."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc or link.startswith('//'):
        return None, None
    path = urllib.parse.unquote(parts.path)
    path = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
    return 'index.html' if path == '.' else path, urllib.parse.unquote(parts.fragment)


def check_links(pages, site):
    """Links and pictures lead to something."""
    for name, page in pages.items():
        for link in page.article + page.menu:
            path, anchor = target(name, link)
            if path is None:
                continue
            expect((site / path).exists(), f'{name}: no {path}')
            if path in pages and anchor:
                expect(anchor in pages[path].anchors or anchor == '__skip', f'{name}: no {path}#{anchor}')
        for source, alt in page.pictures:
            path = target(name, source)[0]
            expect(path is None or (site / path).exists(), f'{name}: no picture {source}')
            expect(alt, f'{name}: the picture {source} has no text')


def clicks(pages, menu):
    """Return the number of clicks from the first page to each page."""
    far, edge = {'index.html': 0}, ['index.html']
    while edge:
        name = edge.pop(0)
        for link in pages[name].article + (pages[name].menu if menu else []):
            path = target(name, link)[0]
            if path in pages and path not in far:
                far[path] = far[name] + 1
                edge.append(path)
    return far


def check_goals(pages, source):
    """Each goal is found, and its page is executed."""
    far = clicks(pages, menu=False)
    for words, path, command in GOALS:
        rows = [links for text, links in pages['index.html'].rows if text.strip().startswith(words)]
        expect(len(rows) == 1, f'index.html: no row begins with "{words}"')
        expect(any(path in [target('index.html', link)[0] for link in links] for links in rows),
               f'index.html: "{words}" does not lead to {path}')
        expect(far.get(path, 99) <= CLICKS, f'{path}: more than {CLICKS} clicks away')
        expect(path in pages and command in ''.join(pages[path].text), f'{path}: it does not show {command}')
        text = (source / 'doc' / path.replace('.html', '.md')).read_text()
        executed = len(re.findall(r'^```(?:console|sh|python)', text, re.M)) - text.count('<!-- not executed: ')
        expect(executed > 0, f'{path}: no command is executed')


def fenced(text, language):
    """Return the blocks of a language."""
    return re.findall(rf'^```{language}\n(.*?)^```$', text, re.M | re.S)


def check_reference(source, docs):
    """The code in the generated pages is valid."""
    page = (docs / 'reference/c-api.md').read_text()
    example = re.search(r'^```c title="In short"\n(.*?)^```$', page, re.M | re.S)
    expect(example, 'c-api.md: no example')
    code = ['#include <ptxi.h>', '#include <stdio.h>', *fenced(page, 'c'), 'void example(size_t bytes, void **params)',
            '{', 'ptxiDevice dev; ptxiContext ctx; ptxiModule mod; ptxiFunction f; ptxiDevicePtr p;',
            example[1] if example else '', '}']
    done = subprocess.run([os.environ.get('CC', 'cc'), '-std=gnu11', '-Wall', '-Werror', '-fsyntax-only',
                           '-I', str(source / 'include'), '-x', 'c', '-'], input='\n'.join(code), text=True,
                          capture_output=True)
    expect(not done.returncode, f'c-api.md: {done.stderr[:500]}')
    blocks = fenced((docs / 'reference/python.md').read_text(), 'python')
    for block in blocks:
        text = block.strip()
        ast.parse(text + ': ...' if text.startswith('class ') else f'def {text}: ...')
    return len(fenced(page, 'c')), len(blocks)


def check_search(site):
    """Open the first page as a file, with a search. Return what was found, in words."""
    browser = shutil.which('chromium') or shutil.which('google-chrome')
    if not browser:
        return 'no browser, search not tried'
    with tempfile.TemporaryDirectory() as profile:
        page = subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', f'--user-data-dir={profile}',
                               '--virtual-time-budget=20000', '--dump-dom', f'{(site / "index.html").as_uri()}?q=race'],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120).stdout
    found = re.search(r'([0-9]+) matching documents', page)
    expect(found, 'index.html as a file: the search finds nothing')
    return f'search: {found[0] if found else "nothing"}'


def main(arguments):
    """Check. Return the exit status."""
    source, out = (pathlib.Path(a).resolve() for a in arguments)
    site = out / 'html'
    names = [str(p.relative_to(site)) for p in site.rglob('*.html') if p.name != '404.html']
    pages = {name: Page(site / name) for name in names}
    check_links(pages, site)
    check_goals(pages, source)
    far = clicks(pages, menu=True)
    for name in pages:
        expect(far.get(name, 99) <= CLICKS, f'{name}: more than {CLICKS} clicks away')
    functions, signatures = check_reference(source, out / 'docs')
    search = check_search(site)
    print('\n'.join(failures) or f'{len(pages)} pages, {len(GOALS)} goals within {CLICKS} clicks; {functions} '
          f'declarations and {signatures} signatures are valid; {search}')
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
