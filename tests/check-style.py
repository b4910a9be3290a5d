#!/usr/bin/env python3
"""Figures about the style of the sources, and the limits that CONTRIBUTING.md gives.

Usage: check-style.py [SOURCE_DIR]             check the limits; exit status 1 and the offending lines
       check-style.py --figures [SOURCE_DIR]   print all figures as a table
       check-style.py --list KIND [SOURCE_DIR] print the findings of a kind: long, conditional, macro, function, marker
"""
import os
import re
import statistics
import sys

COLUMNS = 120        # of a line; tabs count as 4
CONDITIONALS = 60    # lines with two or more ?: in the library, the command and the bindings
MACRO_LINES = 30     # of one macro
DIRECTORIES = ("libptxi", "include", "bindings", "tools", "tests", "samples", "doc")
LIBRARY = ("libptxi", "include", "bindings", "tools")
C_SUFFIXES = (".c", ".h", ".def", ".cu", ".cpp")
MARKERS = {
    "who, whose": r"\b(who|whose|whom)\b",
    "what is": r"\bwhat is\b",
    "behind": r"\bbehind\b",
    "stands, lies": r"\b(stands?|lies?)\b",
}
TOKEN = re.compile(r'(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.S)


def files(top, directories):
    for directory in directories:
        for path, names, found in os.walk(os.path.join(top, directory)):
            names[:] = sorted(n for n in names if not n.startswith(".") and n != "__pycache__")
            for name in sorted(found):
                yield os.path.join(path, name)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def code_of(text):
    """The text with comments and strings replaced by blanks, so that all positions remain."""
    return TOKEN.sub(lambda m: blank(m.group()), text)


def comments_of(text):
    return [m.group("comment") for m in TOKEN.finditer(text) if m.group("comment")]


def long_lines(top):
    for path in files(top, DIRECTORIES):
        if not path.endswith(C_SUFFIXES + (".py", ".sh", ".awk", ".md", ".inc")) or ".gen." in path:
            continue
        if path.endswith(".md") and "instructions.md" in path:
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            if path.endswith(".md") and (line.startswith("|") or "](" in line):
                continue
            if len(line.expandtabs(4)) > COLUMNS:
                yield "%s:%d: %d columns" % (os.path.relpath(path, top), number, len(line.expandtabs(4)))


def conditionals(top):
    for path in files(top, LIBRARY):
        if path.endswith(C_SUFFIXES):
            for number, line in enumerate(code_of(read(path)).splitlines(), 1):
                if line.count("?") > 1:
                    yield "%s:%d: %d conditionals" % (os.path.relpath(path, top), number, line.count("?"))


def macros(top):
    for path in files(top, LIBRARY):
        if path.endswith((".c", ".h")) and not path.endswith("ptxi.h"):  # other programs read its lists
            for m in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:[^\n]*\\\n)+", code_of(read(path)), re.M):
                lines = m.group().count("\n") + 1
                if lines > MACRO_LINES:
                    start = read(path)[:m.start()].count("\n") + 1
                    yield "%s:%d: %s has %d lines" % (os.path.relpath(path, top), start, m.group(1), lines)


def functions(top):
    """(lines, name) of each function. Its body is between two braces in the first column."""
    for path in files(top, ("libptxi", "tools", "bindings")):
        if not path.endswith(".c") and not path.endswith(".h"):
            continue
        lines = code_of(read(path)).splitlines()
        begin = None
        for number, line in enumerate(lines):
            if line.startswith("{") and number and re.search(r"[)\]\w] *$", lines[number - 1]) \
                    and not lines[number - 1].startswith(("struct", "enum", "union", "typedef")):
                begin = number
            elif line.startswith("}") and begin is not None:
                yield number - begin - 1, "%s:%d" % (os.path.relpath(path, top), begin + 1)
                begin = None


def comment_words(top):
    words, text = 0, []
    for path in files(top, ("libptxi", "include", "tools")):
        if path.endswith(C_SUFFIXES):
            for comment in comments_of(read(path)):
                words += len(re.findall(r"[A-Za-z']+", comment))
                text.append((os.path.relpath(path, top), comment))
    return words, text


def marked(top):
    for path, comment in comment_words(top)[1]:
        for name, pattern in MARKERS.items():
            for m in re.finditer(pattern, comment, re.I):
                yield "%s: %s: ...%s..." % (path, name, " ".join(comment[max(0, m.start() - 40):m.end() + 40].split()))


def figures(top):
    lengths = sorted(n for n, _ in functions(top))
    words, text = comment_words(top)
    asserts = sum(len(re.findall(r"\b(?:ptxi_assert|PTXI_ASSERT|assert)\s*\(", code_of(read(p))))
                  for p in files(top, ("libptxi", "tools")) if p.endswith((".c", ".h")))
    rows = [("functions", len(lengths)),
            ("function length, median", statistics.median(lengths)),
            ("function length, 90 %", lengths[len(lengths) * 9 // 10]),
            ("function length, longest", lengths[-1]),
            ("functions over 40 lines", sum(n > 40 for n in lengths)),
            ("lines over %d columns" % COLUMNS, sum(1 for _ in long_lines(top))),
            ("lines with nested conditionals", sum(1 for _ in conditionals(top))),
            ("macros over %d lines" % MACRO_LINES, sum(1 for _ in macros(top))),
            ("assertions", asserts),
            ("words of comment", words)]
    for name, pattern in MARKERS.items():
        count = sum(len(re.findall(pattern, c, re.I)) for _, c in text)
        rows.append(("%r per 1000 words" % name, "%.2f" % (1000 * count / words)))
    for name, value in rows:
        print("%-34s %s" % (name, value))


def main(args):
    kind = None
    if args[:1] == ["--figures"]:
        args = args[1:]
        figures(args[0] if args else os.environ.get("top_srcdir", "."))
        return 0
    if args[:1] == ["--list"]:
        kind, args = args[1], args[2:]
    top = args[0] if args else os.environ.get("top_srcdir", ".")
    lists = {"long": long_lines, "conditional": conditionals, "macro": macros, "marker": marked,
             "function": lambda t: ("%s: %d lines" % (name, n) for n, name in functions(t) if n > 40)}
    if kind:
        for line in lists[kind](top):
            print(line)
        return 0
    bad = list(long_lines(top)) + list(macros(top))
    nested = list(conditionals(top))
    if len(nested) > CONDITIONALS:
        bad += nested + ["%d lines with nested conditionals, at most %d are allowed" % (len(nested), CONDITIONALS)]
    for line in bad:
        print(line)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
