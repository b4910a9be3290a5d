"""Verdicts of ptxas on instructions and modules, and those of the front end, for the scripts in this folder.

A verdict of ptxas is '+' (accepted), '-' (rejected) or '!' (ptxas crashed or did not end, so there is none). A run of
ptxas judges many instructions at once, because it reports errors by line. All verdicts are stored in a file, so that a
run that was interrupted continues where it ended."""

import collections
import concurrent.futures
import functools
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = {  # target: the first PTX version (times 10) that has it, if ptxas may be older
    'sm_75': 0,
    'sm_80': 0,
    'sm_86': 0,
    'sm_89': 0,
    'sm_90': 0,
    'sm_90a': 0,
    'sm_100': 0,
    'sm_100a': 0,
    'sm_100f': 0,
    'sm_103a': 0,
    'sm_107': 94,
    'sm_107a': 94,
    'sm_107f': 94,
    'sm_110a': 0,
    'sm_120': 0,
    'sm_120a': 0,
    'sm_120f': 0,
    'sm_121a': 0,
}
OLDEST = 75  # the lowest target of ptxas 13
ACCEPTED, REJECTED, NONE = '+', '-', '!'
CRASH = 'crash'
UNIT = 1000  # instructions between two updates of the store
BATCH = 250  # of one run that parses
GROUP = 40  # of one run that compiles
LIMIT, LIMIT_ALONE, LIMIT_MODULE = 5, 0.2, 60  # seconds of processor time of a run; most take a few hundredths
PROGRESS = 20  # seconds between reports

THREAD = threading.local()
# Instructions that compile in a run of their own: ptxas may not end if an operand is not an address.
ALONE = re.compile(r'\[%p|^cvta|!%p9|-%r9|WARP_SZ')

# An instruction in the frame. `compiled`: it must also compile; else it is enough that ptxas parses it.
Question = collections.namedtuple('Question', 'target version form operands compiled')


def release(ptxas):
    """Returns the release of ptxas 13 as a pair of numbers."""
    out = subprocess.run([ptxas, '--version'], check=True, capture_output=True, text=True).stdout
    m = re.search(r'release (13)\.(\d+)', out)
    if not m:
        sys.exit(ptxas + ': ptxas 13 is needed')
    return int(m.group(1)), int(m.group(2))


def newest_version(ptxas):
    """Returns the newest PTX version (times 10): 9.0 belongs to release 13.0, 9.5 to release 13.5."""
    return 90 + release(ptxas)[1]


def known_differences(ptxas):
    """Returns the regular expressions of legality.known that apply to this ptxas."""
    lines = [x.rstrip('\n').split('    #')[0] for x in open(os.path.join(HERE, 'legality.known')) if x[0] not in '#>\n']
    entries = [re.fullmatch(r'(?:(\d+\.\d+): )?(.*)', x).groups() for x in lines]
    return [re.compile(x) for only, x in entries if only in (None, '%d.%d' % release(ptxas))]


class Store:
    """Verdicts in a file: lines with a digest of the question and the verdict."""

    def __init__(self, path):
        self.path, self.known = path, {}
        if path and os.path.exists(path):
            for line in open(path):
                if line.endswith('\n') and line.count(' ') == 1:
                    digest, verdict = line.split()
                    self.known[digest] = verdict

    def get(self, digest):
        return self.known.get(digest)

    def put(self, verdicts):
        self.known.update(verdicts)
        if self.path:
            with open(self.path, 'a') as f:
                f.writelines('%s %s\n' % v for v in verdicts.items())

    def correct(self, digest, verdict):
        if self.get(digest) != verdict:
            self.put({digest: verdict})


def digest_of(*parts):
    return hashlib.sha1('\n'.join(str(p) for p in parts).encode()).hexdigest()[:16]


class Progress:
    """Prints at times how much of the work is done."""

    def __init__(self, what, total):
        self.what, self.total, self.done = what, total, 0
        self.began = self.said = time.monotonic()

    def step(self, n=1):
        self.done += n
        now = time.monotonic()
        if now - self.said < PROGRESS:
            return
        self.said = now
        left = (now - self.began) / self.done * (self.total - self.done)
        print(
            '%s: %d of %d, about %d:%02d minutes left' % (self.what, self.done, self.total, left // 60, left % 60),
            file=sys.stderr,
            flush=True,
        )


def frame_of(version, target):
    """Returns the text of frame.ptx before and after a function's instruction, by whether it is in the .func."""
    b128 = '.reg .b128 %q<240>;' if version >= 83 and int(re.sub(r'\D', '', target)) >= 70 else ''
    text = open(os.path.join(HERE, 'frame.ptx')).read()
    text = text.replace('@VERSION', '%d.%d' % divmod(version, 10)).replace('@TARGET', target).replace('@B128', b128)
    return {
        True: text.replace('@FUNC', '@HERE').replace('@ENTRY', ''),
        False: text.replace('@ENTRY', '@HERE').replace('@FUNC', ''),
    }


def run_with_limit(command, seconds, folder):
    """Returns the output and the exit status; -1 if the process used more processor time, or much more time."""
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace'
    )
    for _ in range(40):
        try:
            out, _ = process.communicate(timeout=seconds)
            return out, process.returncode
        except subprocess.TimeoutExpired:
            with open('/proc/%d/stat' % process.pid) as f:
                used = f.read().rsplit(')', 1)[1].split()[11:13]
            if sum(int(ticks) for ticks in used) > seconds * os.sysconf('SC_CLK_TCK'):
                break
    process.kill()
    process.communicate()
    return '', -1


def folder_of_thread():
    """Returns a temporary folder, which the thread uses again and again."""
    if not hasattr(THREAD, 'folder'):
        THREAD.folder = tempfile.TemporaryDirectory(dir='/dev/shm' if os.path.isdir('/dev/shm') else None)
    return THREAD.folder.name


def write_file(folder, name, frame, instruction):
    """Each function has another name, because the files are one program."""
    with open(os.path.join(folder, name), 'w') as f:
        f.write(frame.replace('@HERE', instruction).replace(' k(', ' k%s(' % name))


def run_ptxas(program, version, target, lines, only_parse=False):
    """Runs ptxas on the lines (form, operands), each in a file of its own, in the frame. Returns a dictionary from
    index to message, the whole output, and the exit status (negative after a crash, or if it does not end)."""
    frames = frame_of(version, target)
    first_line = {kind: text[: text.index('@HERE')].count('\n') + 1 for kind, text in frames.items()}
    names = [str(k) for k in range(len(lines))]
    folder = folder_of_thread()
    for name, (form, operands) in zip(names, lines):
        write_file(folder, name, frames['[f' in operands], '%s %s;' % (form, operands))
    if only_parse:  # an error prevents code generation
        write_file(folder, 'last', frames[False], 'bogus.instruction %r0;')
        names.append('last')
    seconds = LIMIT if len(lines) > 1 else LIMIT_ALONE
    out, status = run_with_limit([program, '-arch=' + target, *names, '-o', os.devnull], seconds, folder)
    if re.search(r'Internal compiler error|\(C7308\)', out):  # C7308: registers of an instruction overlap
        status = -1
    bad = {}
    for m in re.finditer(r'^ptxas (\d+), line (\d+); (?:error|fatal) *: (.*)', out, re.M):
        k = int(m.group(1))
        # after a syntax error, the first instruction of the next file may get the rest of the modifiers
        if int(m.group(2)) >= first_line['[f' in lines[k][1]]:
            bad.setdefault(k, m.group(3))
    return bad, out, status


def parse(program, version, target, lines):
    """Returns the invalid lines."""
    bad, out, status = run_ptxas(program, version, target, lines, True)
    if 'bogus' in out:
        return bad
    if len(lines) > 1:  # some lines crash ptxas
        return halves(parse, program, version, target, lines)
    return {0: CRASH if status < 0 else bad.get(0, 'no end')}


def generate(program, version, target, lines):
    """Returns the lines that ptxas parses but does not compile; CRASH for lines that crash it."""
    if not lines:
        return {}
    bad, _, status = run_ptxas(program, version, target, lines)
    if status == 0:
        return {}
    if len(lines) == 1:
        return {0: CRASH if status < 0 else bad.get(0, 'no code')}
    if not bad:
        return halves(generate, program, version, target, lines)
    # ptxas turns a form into a function with the types of the first use. Later uses may fail for this reason alone.
    bad = {i: m for i in bad for m in generate(program, version, target, [lines[i]]).values()}
    back = [i for i in range(len(lines)) if i not in bad]
    rest = (
        generate(program, version, target, [lines[i] for i in back])
        if len(back) < len(lines)
        else halves(generate, program, version, target, lines)
    )
    bad.update({back[i]: m for i, m in rest.items()})
    return bad


def halves(judge, program, version, target, lines):
    half = len(lines) // 2
    bad = judge(program, version, target, lines[:half])
    bad.update({half + i: m for i, m in judge(program, version, target, lines[half:]).items()})
    return bad


def must_compile(question):
    # 32-bit cvta parses, but no longer compiles
    return question.compiled or re.match(r'cvta\b.*\.u32', question.form)


def judge_unit(program, questions):
    """Returns the verdicts, a string, on questions with one target and version."""
    target, version = questions[0].target, questions[0].version
    lines = [(q.form, q.operands) for q in questions]
    bad = {}
    for i in range(0, len(lines), BATCH):
        bad.update({i + k: m for k, m in parse(program, version, target, lines[i : i + BATCH]).items()})
    parsed = [k for k, q in enumerate(questions) if k not in bad and must_compile(q)]
    alone = [k for k in parsed if ALONE.search(' '.join(lines[k]))]
    others = sorted(set(parsed) - set(alone))
    for group in [[k] for k in alone] + [others[i : i + GROUP] for i in range(0, len(others), GROUP)]:
        bad.update({group[k]: m for k, m in generate(program, version, target, [lines[k] for k in group]).items()})
    return ''.join(NONE if bad.get(k) == CRASH else REJECTED if k in bad else ACCEPTED for k in range(len(lines)))


def judge_alone(program, question):
    """Returns the verdict of a run of its own, and the message."""
    q = question
    if not must_compile(q):
        bad = parse(program, q.version, q.target, [(q.form, q.operands)])
        return (NONE if bad.get(0) == CRASH else REJECTED if bad else ACCEPTED), bad.get(0, '')
    found, out, status = run_ptxas(program, q.version, q.target, [(q.form, q.operands)])
    if status == 0:
        return ACCEPTED, ''
    if status < 0:
        return NONE, CRASH
    return REJECTED, found.get(0, out.strip().split('\n')[0])


def units_of(questions):
    """Returns lists of questions with the same target and version."""
    groups = collections.defaultdict(list)
    for q in questions:
        groups[q.target, q.version].append(q)
    return [g[i : i + UNIT] for g in groups.values() for i in range(0, len(g), UNIT)]


def in_parallel(jobs, units, judge, progress):
    """Yields each unit with what judge(unit) returns, when it is done."""
    progress.total += len(units)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        unit_of = {pool.submit(judge, u): u for u in units}
        for done in concurrent.futures.as_completed(unit_of):
            yield unit_of[done], done.result()
            progress.step()


def judge_questions(program, jobs, store, questions, progress):
    """Returns a dictionary from question to verdict."""
    name = '%d.%d' % release(program)
    digests = {q: digest_of(name, *q) for q in questions}
    units = units_of([q for q in questions if store.get(digests[q]) is None])
    for unit, verdicts in in_parallel(jobs, units, lambda u: judge_unit(program, u), progress):
        store.put({digests[q]: v for q, v in zip(unit, verdicts)})
    return {q: store.get(digests[q]) for q in questions}


def architecture_for(module):
    """Returns the target that the module names, or the lowest one of ptxas, which compiles older ones, too."""
    m = re.search(r'sm_(\d+)[af]?', module)
    return m.group(0) if m and int(m.group(1)) >= OLDEST else 'sm_%d' % OLDEST


def run_module(program, module, options=()):
    """Returns the verdict of ptxas on a whole module, and the messages."""
    with tempfile.NamedTemporaryFile('w', suffix='.ptx') as f:
        f.write(module + '\n')
        f.flush()
        try:
            out = subprocess.run(
                [program, '-arch=' + architecture_for(module), *options, f.name, '-o', os.devnull],
                capture_output=True,
                text=True,
                timeout=LIMIT_MODULE,
                errors='replace',
            )
        except subprocess.TimeoutExpired:
            return NONE, CRASH
    said = out.stdout + out.stderr
    if out.returncode == 0:
        return ACCEPTED, ''
    if not options and re.search('Unresolved extern|--compile-only', said):
        return run_module(program, module, ['-c'])
    if out.returncode < 0 or not re.search(', line |In ABI compilation', said):
        return NONE, CRASH
    return REJECTED, said


def judge_module(program, module):
    """Returns the verdict, and the first message."""
    verdict, said = run_module(program, module)
    messages = [x for x in said.split('\n') if re.search('error|fatal', x)]
    return verdict, re.sub(r'ptxas \S+, ', '', messages[0]).strip() if messages else said


HEADER = re.compile(r'(\.version \S+ \.target \S+ \.address_size 64) (.*)')


def judge_joined(program, modules):
    """Returns the verdicts, a string, on modules with the same header and one entry k. Judges them as one module, and
    again without those that have errors, until there is none."""
    if len(modules) == 1:
        return judge_module(program, modules[0])[0]
    lines = [HEADER.match(modules[0]).group(1)]
    lines += [HEADER.match(m).group(2).replace('.entry k(', '.entry k%d(' % k) for k, m in enumerate(modules)]
    verdict, messages = run_module(program, '\n'.join(lines))
    if verdict == ACCEPTED:
        return ACCEPTED * len(modules)
    bad = {int(n) - 2 for n in re.findall(r', line (\d+); (?:error|fatal)', messages)}
    bad &= set(range(len(modules)))
    if not bad:
        half = len(modules) // 2
        return judge_joined(program, modules[:half]) + judge_joined(program, modules[half:])
    good = [m for k, m in enumerate(modules) if k not in bad]
    rest = iter(judge_joined(program, good) if good else '')
    return ''.join(judge_module(program, m)[0] if k in bad else next(rest) for k, m in enumerate(modules))


def judge_modules(program, jobs, store, modules, progress, joined=False):
    """Returns a dictionary from module to verdict. `joined`: judge_joined() accepts the modules."""
    name = '%d.%d' % release(program)
    digests = {m: digest_of(name, m) for m in modules}
    groups = collections.defaultdict(list)
    for m, digest in digests.items():
        if store.get(digest) is None:
            groups[HEADER.match(m).group(1) if joined else m].append(m)
    units = [g[i : i + GROUP] for g in groups.values() for i in range(0, len(g), GROUP)]
    for unit, verdicts in in_parallel(jobs, units, lambda u: judge_joined(program, u), progress):
        store.put({digests[m]: v for m, v in zip(unit, verdicts)})
    return {m: store.get(digest) for m, digest in digests.items()}


def judge_front_end(program, lines):
    """Returns the front end's verdict on each line of verdicts.c: None if it is accepted, else the message."""
    out = subprocess.run(
        [program, os.path.join(HERE, 'frame.ptx')], input='\n'.join(lines) + '\n', capture_output=True, text=True
    ).stdout.split('\n')
    return [None if o == 'ok' else o for o in out[: len(lines)]]


def judge_questions_by_front_end(program, questions):
    lines = ['%s %d ? %s %s;' % (q.target[3:], q.version, q.form, q.operands) for q in questions]
    return dict(zip(questions, judge_front_end(program, lines)))


def judge_modules_by_front_end(program, modules):
    return dict(zip(modules, judge_front_end(program, ['module 0 ? ' + m for m in modules])))


class Report:
    """Compares verdicts, prints the differences and counts. `args` are those of add_arguments()."""

    def __init__(self, args):
        self.args, self.known = args, known_differences(args.ptxas)
        self.counts = collections.defaultdict(collections.Counter)
        self.total = collections.Counter()

    def compare(self, groups, line, accepted, ours, message):
        """`line` describes the question in the words of legality.known; `ours` is the front end's error or None;
        message() returns that of ptxas. `groups` are the names under which the question is counted."""
        why = None
        different = accepted != (ours is None)
        if different:
            why = self.reason(line)
        for count in [self.total] + [self.counts[g] for g in groups]:
            count['all'] += 1
            count['accepted'] += accepted
            count['known'] += why is not None
            count['others'] += different and why is None
        if different and (why is None or self.args.show_known):
            print('%s%s   -- %s' % (why + '\t' if why else '', line, ours or message()), flush=True)

    def reason(self, line):
        """Returns the expression of legality.known that explains the difference. Those for modules begin so."""
        module = line.startswith('module ')
        known = [k for k in self.known if k.pattern.startswith('module ') == module]
        return next((k.pattern for k in known if k.search(line)), None)

    def compare_questions(self, questions, store, progress, groups):
        """Each difference is confirmed by a run of its own, since a run on a loaded machine may have ended too early.
        groups(question) returns the names for compare(). Returns the verdicts of ptxas."""
        args, name = self.args, '%d.%d' % release(self.args.ptxas)
        theirs = judge_questions(args.ptxas, args.jobs, store, questions, progress)
        ours = judge_questions_by_front_end(args.front_end, questions)
        for q in questions:
            verdict, alone = theirs[q], functools.lru_cache(lambda q=q: judge_alone(args.ptxas, q))
            if verdict != NONE and (verdict == ACCEPTED) != (ours[q] is None):
                theirs[q] = verdict = alone()[0]
                store.correct(digest_of(name, *q), verdict)
            if verdict != NONE:
                line = '%s %s %s %s;' % (q.target, 'extra' if ours[q] is None else 'missing', q.form, q.operands)
                self.compare(groups(q), line, verdict == ACCEPTED, ours[q], lambda a=alone: a()[1])
        return theirs

    def compare_modules(self, modules, store, progress, joined=False):
        """The same for whole modules."""
        args, name = self.args, '%d.%d' % release(self.args.ptxas)
        theirs = judge_modules(args.ptxas, args.jobs, store, modules, progress, joined)
        ours = judge_modules_by_front_end(args.front_end, list(theirs))
        for m, verdict in theirs.items():
            if verdict != NONE and (verdict == ACCEPTED) != (ours[m] is None):
                theirs[m] = verdict = judge_module(args.ptxas, m)[0]
                store.correct(digest_of(name, m), verdict)
            if verdict != NONE:
                line = 'module %s %s' % ('extra' if ours[m] is None else 'missing', m)
                self.compare((), line, verdict == ACCEPTED, ours[m], lambda m=m: judge_module(args.ptxas, m)[1])
        return {m: (theirs[m], ours[m]) for m in theirs}

    def print_counts(self, what):
        for group, count in sorted(self.counts.items()):
            self.print_count(group, what, count)
        self.print_count('all', what, self.total)

    @staticmethod
    def print_count(name, what, count):
        print(
            '%s: %d %s, %d accepted by ptxas, %d known differences, %d others'
            % (name, count['all'], what, count['accepted'], count['known'], count['others']),
            file=sys.stderr,
        )


def add_arguments(parser):
    parser.add_argument('--ptxas', default='ptxas')
    parser.add_argument('--front-end', default='tests/isa/verdicts', help='the program made from verdicts.c')
    parser.add_argument('--jobs', type=int, default=2, help='runs of ptxas at the same time')
    parser.add_argument('--store', metavar='FILE', help='keep the verdicts of ptxas in this file, and use those in it')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument(
        '--show-known',
        action='store_true',
        help='also print the differences that legality.known lists, each after the line that matches it',
    )
