#!/usr/bin/env python3
"""Checks that the directories of the library depend on each other in one direction, and that no files depend on each
other in a cycle.

Usage: check-layers.py [SOURCE_DIR [BUILD_DIR]]   check; exit status 1 and a list of violations
       check-layers.py --svg [SOURCE_DIR]         print a picture of the layers for doc/

Two kinds of dependencies are checked: includes, read from the source, and references to symbols of other files, read by
nm from the objects in BUILD_DIR (skipped, with a message, if there are none). The table LAYERS is the only list of
directories: a directory that is not in it is an error.
"""
import os
import re
import subprocess
import sys
from collections import defaultdict

FILES = 35  # in a subdirectory of compile/, exec/ or api/

# Bottom to top: directory, its purpose, the directories that it may use. "compile" covers compile/ and its
# subdirectories.
LAYERS = [
    ("base", "arenas, strings, messages, CPU level", ""),
    ("num", "formats, rounding, approximations", "base"),
    ("isa", "the instruction table, bytecode", "base num"),
    ("parse", "text to syntax tree, checks", "base num isa"),
    ("fatbin", "fat binaries, and files that contain them", "base isa"),
    ("compile/ir", "intermediate form, control flow, liveness", "base num isa parse"),
    ("compile/lower", "syntax tree to IR", "base num isa parse compile/ir"),
    ("compile/optimize", "passes on the IR", "base num isa parse compile/ir"),
    ("compile/contract", "mul and add to fma, as ptxas does", "base num isa parse compile/ir"),
    ("compile/codegen", "registers, bytecode, listings", "base num isa parse compile/ir"),
    ("compile", "runs the passes",
     "base num isa parse compile/ir compile/lower compile/optimize compile/contract compile/codegen"),
    ("exec/memmap", "which host memory kernels may access", "base"),
    ("exec/engine", "warps, dispatch, divergence, calls", "base num isa exec/memmap"),
    ("exec/memory", "loads, stores, atomics", "base num isa exec/memmap exec/engine exec/arith"),
    ("exec/arith", "arithmetic and conversions", "base num isa exec/engine"),
    ("exec/finding", "findings of the sanitizers", "base isa exec/engine"),
    ("exec/check", "sanitizers: shadow memory, order of accesses",
     "base num isa exec/memmap exec/engine exec/memory exec/arith exec/finding"),
    ("exec/track", "which memory launches read and write",
     "base num isa exec/memmap exec/engine exec/memory exec/arith exec/finding exec/check"),
    ("exec/init", "uninitialised values: shadows of memory and registers",
     "base isa exec/memmap exec/engine exec/memory exec/finding exec/check"),
    ("exec/texture", "textures and surfaces",
     "base num isa exec/memmap exec/engine exec/memory exec/arith exec/finding exec/check exec/init"),
    ("exec/matrix", "mma, wmma, wgmma, ldmatrix",
     "base num isa exec/memmap exec/engine exec/memory exec/arith exec/finding exec/check exec/init exec/track"),
    ("exec/sync", "barriers, votes, shuffles",
     "base num isa exec/memmap exec/engine exec/memory exec/arith exec/finding exec/check exec/init"),
    ("exec/async", "cp.async, bulk copies, TMA, mbarrier",
     "base num isa exec/memmap exec/engine exec/memory exec/arith exec/finding exec/check exec/init exec/track "
     "exec/sync"),
    ("exec/tcgen05", "tensor memory",
     "base num isa exec/memmap exec/engine exec/memory exec/arith exec/finding exec/check exec/init exec/matrix "
     "exec/sync exec/async"),
    ("exec/builtin", "printf, assert, malloc of kernels",
     "base num isa exec/memmap exec/engine exec/memory exec/arith"),
    ("native", "machine code for hot functions", "base isa exec/memmap exec/engine exec/memory exec/track exec/sync"),
    ("exec/sched", "workers, clusters, schedules", "base num isa exec native"),
    ("api/error", "results, reports of failures", "base parse exec/engine"),
    ("api/observe", "what PTXI_REPORT and PTXI_STATS print", "base api/error"),
    ("api/handle", "handles, lifetimes, calls", "base"),
    ("api/queue", "streams as queues of items", "base exec/finding exec/check api/error api/handle"),
    ("api/context", "process, threads, contexts", "base isa parse compile exec api/error api/handle api/queue"),
    ("api/ipc", "files and events that processes share", ""),
    ("api/stream", "streams and events", "base api/error api/handle api/queue api/context api/ipc"),
    ("api/memory", "heap, pools, rows of bytes",
     "base exec api/error api/observe api/handle api/queue api/context api/ipc api/stream"),
    ("api/module", "modules, libraries, functions, their bindings",
     "base num isa parse fatbin compile exec native api/error api/observe api/handle api/queue api/context "
     "api/stream api/memory"),
    ("api/check", "sanitizers: settings, reports",
     "base num isa parse compile exec api/error api/observe api/handle api/queue api/context api/stream api/memory "
     "api/module"),
    ("api/track", "changes of memory as data, and merging them",
     "base num isa parse compile exec api/error api/observe api/handle api/queue api/context api/stream api/memory "
     "api/module api/check"),
    ("api/texture", "arrays, texture and surface objects",
     "base num isa parse compile exec api/error api/observe api/handle api/queue api/context api/stream "
     "api/memory api/module"),
    ("api/launch", "descriptions of launches, running them",
     "base num isa parse compile exec native api/error api/observe api/handle api/queue api/context api/stream "
     "api/memory api/module api/check"),
    ("api/snapshot", "contexts in files",
     "base num isa parse compile exec api/error api/observe api/handle api/queue api/context api/stream api/memory "
     "api/module"),
    ("api/copy", "copies and fills",
     "base num isa parse compile exec api/error api/observe api/handle api/queue api/context api/stream "
     "api/memory api/check api/texture"),
    ("api/asm", "evaluated inline assembly",
     "base num isa parse compile exec api/error api/observe api/handle api/queue api/context api/stream api/memory "
     "api/module api/launch"),
    ("api/graph", "graphs, and streams under capture",
     "base num isa parse compile exec api/error api/observe api/handle api/queue api/context api/stream api/memory "
     "api/module api/launch"),
    ("api/submit", "work of calls: captured or queued",
     "base num isa parse compile exec api/error api/observe api/handle api/queue api/context api/stream api/memory "
     "api/module api/check api/texture api/launch api/snapshot api/copy api/graph"),
    ("api/graphexec", "executable graphs",
     "base num isa parse compile exec api/error api/observe api/handle api/queue api/context api/stream api/memory "
     "api/module api/launch api/copy api/graph api/submit"),
    ("api/devrt", "the device runtime that kernels call",
     "base num isa parse compile exec api/error api/observe api/handle api/queue api/context api/stream api/memory "
     "api/module api/launch api/graph api/graphexec"),
    ("api/inspect", "what the command shows beyond ptxi.h",
     "base num isa parse fatbin compile exec native api/error api/observe api/handle api/queue api/context "
     "api/stream api/memory api/module"),
    ("api/lifecycle", "ptxiInit, creation and destruction of contexts",
     "base num isa parse compile exec api/error api/observe api/handle api/queue api/context api/stream api/memory "
     "api/module api/check api/track api/texture api/launch api/copy api/asm api/graph api/submit api/graphexec "
     "api/devrt"),
]


def covers(allowed, directory):
    return any(directory == a or directory.startswith(a + "/") for a in allowed)


def sources(root):
    """All C files of libptxi, as (directory, path below libptxi)."""
    for directory, _, files in os.walk(root):
        for name in sorted(files):
            if name.endswith((".c", ".h", ".def")):
                path = os.path.relpath(os.path.join(directory, name), root)
                yield os.path.dirname(path), path


def layer_of(directory):
    names = [name for name, _, _ in LAYERS]
    while directory and directory not in names:
        directory = os.path.dirname(directory)
    return directory


def include_graph(root):
    graph = defaultdict(dict)
    for _, path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
                if not found:
                    continue
                name = found.group(1)
                if name == "ptxi.h" or os.path.exists(os.path.join(root, name)):
                    graph[path][name] = "%s:%d includes %s" % (path, number, name)
    return graph


def objects(root, build):
    """Object files of the library, as (path, source below libptxi). Handlers are taken from one CPU level only."""
    seen = set()
    for directory, _, files in os.walk(os.path.join(build, "libptxi")):
        for name in sorted(files):
            found = re.match(r"(?:(?:libptxi_)?core_la-|libexec_portable_la-)(.*)\.o$", name)
            below = os.path.relpath(directory, os.path.join(build, "libptxi")).replace(".libs", "")
            source = found and os.path.normpath(os.path.join(below, found.group(1) + ".c"))
            if source and source not in seen and (os.path.exists(os.path.join(root, source)) or ".gen." in source):
                seen.add(source)
                yield os.path.join(directory, name), source


def reference_graph(root, build, nm):
    defined, used = {}, defaultdict(set)
    for path, source in objects(root, build):
        output = subprocess.run([nm, path], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
        for line in output.splitlines():
            kind, symbol = line.split()[-2:]
            if not symbol.startswith("ptxi"):
                continue
            if kind == "U":
                used[source].add(symbol)
            elif kind.upper() in "TDBRVWC":
                defined[symbol] = source
    graph = defaultdict(dict)
    for source, symbols in used.items():
        for symbol in sorted(symbols):
            target = defined.get(symbol)
            if target and target != source:
                graph[source].setdefault(target, "%s uses %s of %s" % (source, symbol, target))
    return graph


def upward(graph):
    """Dependencies that the table does not allow."""
    allowed = {name: [name] + uses.split() for name, _, uses in LAYERS}
    for source, targets in graph.items():
        layer = layer_of(os.path.dirname(source))
        for target, what in targets.items():
            if target == "ptxi.h":
                if not layer.startswith("api/"):
                    yield what
            elif layer and not covers(allowed[layer], layer_of(os.path.dirname(target))):
                yield what


def cycles(graph):
    """Strongly connected components of more than one file (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in graph.get(node, ()):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            component = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def check_directions(graph):
    bad = sorted(upward(graph))
    for what in bad:
        print("not allowed: %s" % what)
    return bool(bad)


def units(*graphs):
    """One graph of all dependencies, in which a source and the header of the same name are one unit."""
    merged = defaultdict(dict)
    for graph in graphs:
        for source, targets in graph.items():
            for target, what in targets.items():
                a, b = os.path.splitext(source)[0], os.path.splitext(target)[0]
                if a != b:
                    merged[a].setdefault(b, what)
    return merged


def check_cycles(graph):
    bad = cycles(graph)
    for component in bad:
        print("%d files depend on each other: %s" % (len(component), ", ".join(component)))
        for source in component:
            for target in component:
                if target in graph[source]:
                    print("    %s" % graph[source][target])
    return bool(bad)


def check_files(root):
    bad = 0
    per_directory = defaultdict(int)
    for directory, path in sources(root):
        if not layer_of(directory):
            print("unknown directory %s: add it to the table in this script" % directory)
            bad = 1
        per_directory[directory] += 1
        with open(os.path.join(root, path), encoding="utf-8") as f:
            first = f.readline()
        if not first.startswith("/* ") and first != '#include "%s"\n' % (os.path.splitext(path)[0] + ".h"):
            print("%s does not begin with a comment that says what the file is for" % path)
            bad = 1
    for directory, count in per_directory.items():
        if count > FILES and "/" in directory:
            print("%s has %d files, at most %d are allowed" % (directory, count, FILES))
            bad = 1
    return bad


# ---- picture

BOX_WIDTH, BOX_HEIGHT, GAP = 150, 46, 14
GROUPS = [("api", "#dbe9f6"), ("exec", "#fdebd3"), ("compile", "#e2f0d9"), ("", "#eeeeee")]


def depth_of(layers):
    """The row of each layer in the picture: one above the highest layer that it uses."""
    depth = {}
    for name, _, uses in layers:
        below = [d for other, d in depth.items() if covers(uses.split(), other)]
        depth[name] = max(below, default=-1) + 1
    return depth


def used_layers(root):
    """Pairs of layers: the first includes a header of the second."""
    allowed = {name: uses.split() for name, _, uses in LAYERS}
    pairs = set()
    for source, targets in include_graph(root).items():
        for target in targets:
            a, b = layer_of(os.path.dirname(source)), layer_of(os.path.dirname(target))
            if a != b and a in allowed and covers(allowed[a], b):
                pairs.add((a, b))
    return pairs


def without_shortcuts(pairs):
    """The pairs that no path of other pairs implies."""
    below = defaultdict(set)
    for a, b in pairs:
        below[a].add(b)

    def reaches(a, b):
        return any(c == b or reaches(c, b) for c in below[a])

    return {(a, b) for a, b in pairs if not any(c != b and reaches(c, b) for c in below[a])}


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def wrapped(text, width):
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > width and lines[-1]:
            lines.append("")
        lines[-1] = (lines[-1] + " " + word).strip()
    return lines


def svg(root):
    """Prints rows of boxes, with the lowest layer at the bottom. Lines show direct uses that no longer path implies."""
    depth = depth_of(LAYERS)
    rows = defaultdict(list)
    for name, purpose, _ in LAYERS:
        rows[depth[name]].append((name, purpose))
    for layers in rows.values():
        layers.sort(key=lambda layer: (layer[0].startswith("exec"), not layer[0].startswith("compile")))
    width = max(len(r) for r in rows.values()) * (BOX_WIDTH + GAP) + GAP
    height = (max(rows) + 1) * (BOX_HEIGHT + 2 * GAP) + GAP
    place, boxes = {}, []
    for row, layers in rows.items():
        left = (width - len(layers) * (BOX_WIDTH + GAP) + GAP) / 2
        top = height - (row + 1) * (BOX_HEIGHT + 2 * GAP)
        for k, (name, purpose) in enumerate(layers):
            x = left + k * (BOX_WIDTH + GAP)
            place[name] = x + BOX_WIDTH / 2, top
            color = next(c for group, c in GROUPS if name == group or name.startswith(group + "/") or not group)
            boxes.append('<rect x="%g" y="%g" width="%d" height="%d" rx="4" fill="%s" stroke="#555"/>'
                         % (x, top, BOX_WIDTH, BOX_HEIGHT, color))
            boxes.append('<text x="%g" y="%g" font-weight="bold">%s</text>'
                         % (x + BOX_WIDTH / 2, top + 15, escape(name + "/")))
            for n, line in enumerate(wrapped(purpose, 27)[:2]):
                boxes.append('<text x="%g" y="%g" font-size="9">%s</text>'
                             % (x + BOX_WIDTH / 2, top + 28 + 11 * n, escape(line)))
    lines = []
    for a, b in sorted(without_shortcuts(used_layers(root))):
        lines.append('<line x1="%g" y1="%g" x2="%g" y2="%g" stroke="#999" stroke-width="0.7"/>'
                     % (place[a][0], place[a][1] + BOX_HEIGHT, place[b][0], place[b][1]))
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" font-family="sans-serif" '
          'font-size="12" text-anchor="middle">' % (width, height, width))
    print("<title>Layers of libptxi: each directory uses only directories below it</title>")
    print('<rect width="100%" height="100%" fill="white"/>')
    print("\n".join(lines + boxes))
    print("</svg>")


def main(args):
    if args[:1] == ["--svg"]:
        svg(os.path.join(args[1] if len(args) > 1 else os.path.join(os.path.dirname(__file__), ".."), "libptxi"))
        return 0
    top = args[0] if args else os.environ.get("top_srcdir", os.path.join(os.path.dirname(__file__), ".."))
    build = args[1] if len(args) > 1 else os.environ.get("top_builddir", ".")
    root = os.path.join(top, "libptxi")
    bad = check_files(root)
    includes = include_graph(root)
    references = reference_graph(root, build, os.environ.get("NM", "nm").split()[0])
    if not references:
        print("no objects in %s: calls are not checked" % build)
    return bad | check_directions(includes) | check_directions(references) | check_cycles(units(includes, references))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
