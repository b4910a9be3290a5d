#!/usr/bin/env python3
"""Draws the plots of doc/explanation/performance.md from files that `ptxi-bench --json FILE` wrote.

Usage: plots.py OUT_DIR FILE...    writes speed.svg, scaling.svg and families.svg, and scale.svg of
doc/reference/scale.md

Each file is a series of its own, named after its host and its tier. A plot leaves out files without its data. That
of scale.svg comes from tests/scale/measure.py. Needs matplotlib; `make plots` installs it in a virtual environment.
"""
import json
import pathlib
import re
import statistics
import sys

import matplotlib

matplotlib.use('svg')
from matplotlib import pyplot  # noqa: E402  (the backend must be chosen first)
from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: E402

# The same data gives the same bytes.
matplotlib.rcParams.update({'svg.hashsalt': 'libptxi', 'svg.fonttype': 'none', 'font.size': 9,
                            'font.family': 'sans-serif', 'axes.spines.top': False, 'axes.spines.right': False,
                            'savefig.facecolor': 'white'})
COLOURS = ('#2e7d32', '#1565c0', '#ef6c00', '#6a1b9a', '#c62828', '#00838f', '#9e9d24', '#5d4037', '#455a64',
           '#ad1457')
PANELS = 2  # in a row
GROUPS = ('benchmark kernels', 'other kernels', 'untuned kinds', 'kinds of samples')


def plain(value, _position=None):
    """Return a number of an axis."""
    return f'{value:g}'


def label(data):
    """Return the name of a series."""
    host = re.sub(r'\((R|TM)\)| CPU.*| Processor.*| \d+-Core.*', '', data['host']).strip()
    return f'{host}, {data["processors"]} cores, {data["tier"]}'


def save(figure, path):
    """Write a figure without the date, and without spaces at the ends of lines."""
    figure.savefig(path, metadata={'Date': None}, bbox_inches='tight')
    pyplot.close(figure)
    path.write_text(''.join(line.rstrip() + '\n' for line in path.read_text().splitlines()))


def speed(series, path):
    """Draw the time of each kernel as a ratio to native C."""
    series = [data for data in series if data['kernels']]
    rows = sorted((r for r in series[0]['kernels']), key=lambda r: (GROUPS.index(r['group']), r['native_ms'] / r['ms']))
    height = 0.8 / len(series)
    figure, axes = pyplot.subplots(figsize=(7, 1 + len(rows) * (0.14 + 0.1 * len(series))))
    ends = [i for i, (a, b) in enumerate(zip(rows, rows[1:])) if a['group'] != b['group']]
    for k, data in enumerate(series):
        ratios = {r['kernel']: r['ms'] / r['native_ms'] for r in data['kernels']}
        places = [i + (k - (len(series) - 1) / 2) * height for i in range(len(rows))]
        axes.barh(places, [ratios.get(r['kernel'], 1) - 1 for r in rows], height * 0.9, left=1,
                  color=COLOURS[k % len(COLOURS)], label=label(data))
    axes.set_xscale('log')
    axes.xaxis.set_major_locator(matplotlib.ticker.FixedLocator([0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]))
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.axvline(1, color='black', linewidth=0.8)
    for end in ends:
        axes.axhline(end + 0.5, color='grey', linewidth=0.5, linestyle=':')
    axes.set_yticks(range(len(rows)), [r['kernel'] for r in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel('time of the kernel / time of the same work in C (gcc -O3 -march=native), one worker')
    axes.grid(axis='x', color='lightgrey', linewidth=0.5)
    axes.set_axisbelow(True)
    axes.legend(loc='lower center', bbox_to_anchor=(0.5, 1), frameon=False)
    save(figure, path)


def scaling(series, path):
    """Draw the speed with several workers, relative to one."""
    series = [data for data in series if data['scaling']]
    rows = max(1, -(-len(series) // PANELS))
    figure, panels = pyplot.subplots(rows, PANELS, figsize=(3.5 * PANELS, 3.3 * rows), squeeze=False,
                                     layout='constrained')
    for axes in panels.flat[len(series):]:
        axes.set_visible(False)
    for axes, data in zip(panels.flat, series):
        most = max(r['workers'] for r in data['scaling'])
        for n, kernel in enumerate(dict.fromkeys(r['kernel'] for r in data['scaling'])):
            points = [(1, 1)] + [(r['workers'], r['speedup']) for r in data['scaling'] if r['kernel'] == kernel]
            axes.plot(*zip(*points), marker='o', markersize=3, label=kernel,
                      color=COLOURS[n % len(COLOURS)])
        means = [(n, statistics.geometric_mean(r['c_speedup'] for r in data['scaling'] if r['workers'] == n))
                 for n in sorted({r['workers'] for r in data['scaling']})]
        axes.plot(*zip((1, 1), *means), color='black', linestyle='--', label='C, on as many threads')
        axes.plot([1, most], [1, most], color='grey', linestyle=':', label='as many times')
        axes.set_xscale('log', base=2)
        axes.set_yscale('log', base=2)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(plain))
            axis.set_minor_formatter(NullFormatter())
        axes.set_xlabel('workers')
        axes.set_ylabel('speed, relative to one worker')
        axes.set_title(label(data), fontsize=9)
        axes.grid(color='lightgrey', linewidth=0.5)
    names = {name: line for axes in panels.flat for line, name in zip(*axes.get_legend_handles_labels())}
    figure.legend(names.values(), names.keys(), frameon=False, fontsize=8, ncols=4, loc='outside lower center')
    save(figure, path)


def families(series, path):
    """Draw the cost of each form of an instruction, in a row for its family."""
    series = [data for data in series if data['families']]
    names = list(dict.fromkeys(r['family'] for r in series[0]['families']))
    figure, axes = pyplot.subplots(figsize=(7, 1 + len(names) * (0.1 + 0.1 * len(series))))
    for k, data in enumerate(series):
        shift = (k - (len(series) - 1) / 2) * 0.8 / len(series)
        for i, name in enumerate(names):
            costs = [r['ns'] for r in data['families'] if r['family'] == name]
            if not costs:
                continue
            axes.plot(costs, [i + shift] * len(costs), '|', color=COLOURS[k % len(COLOURS)],
                      markersize=7, alpha=0.6)
            axes.plot(statistics.median(costs), i + shift, 'o', color=COLOURS[k % len(COLOURS)],
                      markersize=4, label=label(data) if i == 0 else None)
    axes.set_xscale('log')
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel('ns for one instruction of a warp (32 lanes); a bar is a form, the dot the median of the family')
    axes.grid(color='lightgrey', linewidth=0.5)
    axes.set_axisbelow(True)
    axes.legend(loc='lower center', bbox_to_anchor=(0.5, 1), frameon=False)
    save(figure, path)


def scale(data, path):
    """Draw the cost of giving out tasks to many workers, and of merging many windows."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(7, 2.6))
    tasks = {int(n): seconds * 1e6 for n, seconds in data['schedule'].items()}
    left.plot(list(tasks), list(tasks.values()), 'o-', color=COLOURS[0], markersize=4)
    left.set_xlabel('simulated workers')
    left.set_title('sweep: CPU time for each task, in µs', fontsize=9)
    launch = data['merge']['launch']
    parts = {int(n): 100 * seconds / launch for n, seconds in data['merge']['windows'].items()}
    right.plot(list(parts), list(parts.values()), 'o-', color=COLOURS[1], markersize=4, label='merge')
    right.axhline(100 * data['merge']['take'] / launch, color=COLOURS[2], linewidth=1, label='taking the changes')
    right.axhline(5, color='grey', linewidth=1, linestyle='--')
    right.set_xlabel('windows')
    right.set_title(f'16 MiB of changes, in % of {launch:.1f} s of launches', fontsize=9)
    right.legend(frameon=False, fontsize=8, loc='center left', bbox_to_anchor=(0, 0.45))
    for axes in (left, right):
        axes.set_xscale('log')
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(FuncFormatter(plain))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(color='lightgrey', linewidth=0.5)
    save(figure, path)


def main(arguments):
    """Run the command line. Return the exit status."""
    out = pathlib.Path(arguments[0])
    files = [json.loads(pathlib.Path(name).read_text()) for name in arguments[1:]]
    series = [data for data in files if 'kernels' in data]
    for data in files:
        if 'schedule' in data:
            scale(data, out / 'scale.svg')
    if not series:
        return 0
    for draw in (speed, scaling, families):
        draw(series, out / f'{draw.__name__}.svg')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
