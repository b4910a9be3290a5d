#!/usr/bin/env python3
"""Runs the conformance kernels on a GPU and records the results.

    record.py [options] record PLAN OUT         OUT/cases.rec and OUT/exhaustive.rec
    record.py [options] show PLAN NAME FIRST COUNT  operands and results of some rows of the case with this name or key
    record.py [options] dump PLAN NAME FIRST COUNT FILE the first word of the results for the operands FIRST to
                                                FIRST + COUNT - 1 of a case with one operand of 32 bits
    record.py matrix PLAN OUT                   OUT/matrix.rec: the matrix instructions; --full N also writes
                                                OUT/matrix.full with the results of N instructions of each form
    record.py assemble PLAN                     no GPU: assembles everything with ptxas
    record.py merge OUT FILE...                 no GPU: merges recordings; a later record replaces an earlier one

PLAN is a directory written by the program `plan`. plan.c describes it, and recording.h describes the recordings. ptxas
assembles the kernels if it is available, otherwise the driver does. The driver is NVIDIA's, or a library with the same
calls under another prefix: --driver libptxi.so --prefix ptxi. Only Python's standard library is needed."""

import argparse
import array
import concurrent.futures
import ctypes
import itertools
import multiprocessing
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time

JIT_FMA = 24
VERSIONED = ('MemAlloc', 'MemFree', 'MemcpyHtoD', 'MemcpyDtoH', 'MemsetD8')


class Case:
    def __init__(self, plan, line):
        f = line.split(' ', 9)
        self.key, self.name = f[1], f[9]
        self.rows, self.fine, self.words = int(f[2]), int(f[3]), int(f[4])
        self.columns = [None if c == '-' else int(c) for c in f[5:9]]
        self.step = 1 if self.fine else 4099
        self.digests = self.fine // plan.fine + (self.rows - self.fine) // plan.coarse
        self.record_words = self.digests + self.words * plan.full
        self.module = None


class Exhaustive:
    def __init__(self, plan, line):
        f = line.split(' ', 4)
        self.key, self.words, self.name = f[1], int(f[2]), f[4]
        self.record_words = plan.all_digests
        self.module = None


class Matrix:
    """The output of `plan matrix`."""

    def __init__(self, directory):
        self.directory, self.forms, self.modules = directory, [], []
        lines = open(os.path.join(directory, 'matrix.txt')).read().split('\n')
        if lines[0] != 'libptxi matrix plan 2':
            sys.exit('%s: not a plan' % directory)
        for line in lines[1:]:
            f = line.split(' ', 4)
            if f[0] == 'constants':
                self.block, self.digests, self.full, self.regimes = (int(x) for x in line.split()[1:])
            elif f[0] == 'module':
                self.modules.append(f[1])
            elif f[0] == 'form':
                self.forms.append(
                    argparse.Namespace(
                        key=f[1], words=int(f[2]), blocks=int(f[3]), name=f[4], module=self.modules[-1]
                    )
                )


class Plan:
    def __init__(self, directory):
        self.directory = directory
        self.columns, self.modules, self.cases, self.exhaustive = [], [], [], []
        lines = open(os.path.join(directory, 'plan.txt')).read().split('\n')
        if lines[0] != 'libptxi conformance plan 1':
            sys.exit('%s: not a plan' % directory)
        for line in lines[1:]:
            kind = line.split(' ', 1)[0]
            if kind == 'constants':
                self.block, self.fine, self.coarse, self.full, self.all_digests, self.all_blocks, self.all_threads = (
                    int(x) for x in line.split()[1:]
                )
            elif kind == 'column':
                self.columns.append(tuple(int(x) for x in line.split()[2:]))      # bytes, rows, offset
            elif kind == 'module':
                self.modules.append(line[7:])
            elif kind in ('case', 'exhaustive'):
                item = (Case if kind == 'case' else Exhaustive)(self, line)
                item.module = self.modules[-1]
                (self.cases if kind == 'case' else self.exhaustive).append(item)

    def case(self, name):
        for c in self.cases:
            if name in (c.key, c.name):
                return c
        sys.exit('no case %s' % name)


# ---- The driver

class Failure(Exception):
    pass


class Driver:
    def __init__(self, library, prefix):
        self.library, self.prefix = ctypes.CDLL(library), prefix
        self.call('Init', ctypes.c_uint(0))
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call('DeviceGet', ctypes.byref(device), 0)
        self.call('DevicePrimaryCtxRetain', ctypes.byref(context), device)
        self.call('CtxSetCurrent', context)
        name, version = ctypes.create_string_buffer(128), ctypes.c_int()
        self.call('DeviceGetName', name, 128, device)
        self.call('DriverGetVersion', ctypes.byref(version))
        self.name = name.value.decode()
        self.version = '%d.%d' % (version.value // 1000, version.value % 1000 // 10)

    def call(self, name, *args):
        versioned = self.prefix == 'cu' and name in VERSIONED
        rc = getattr(self.library, self.prefix + name + ('_v2' if versioned else ''))(*args)
        if rc:
            raise Failure('%s%s: error %d' % (self.prefix, name, rc))

    def allocate(self, size):
        p = ctypes.c_uint64()
        self.call('MemAlloc', ctypes.byref(p), ctypes.c_size_t(size))
        self.clear(p.value, size)
        return p.value

    def free(self, p):
        self.call('MemFree', ctypes.c_uint64(p))

    def clear(self, p, size):
        self.call('MemsetD8', ctypes.c_uint64(p), ctypes.c_ubyte(0), ctypes.c_size_t(size))

    def write(self, p, data):
        self.call('MemcpyHtoD', ctypes.c_uint64(p), ctypes.c_char_p(data), ctypes.c_size_t(len(data)))

    def read(self, p, size):
        data = ctypes.create_string_buffer(size)
        self.call('MemcpyDtoH', data, ctypes.c_uint64(p), ctypes.c_size_t(size))
        return data.raw

    def load(self, image, fuse=True):
        """With NVIDIA's driver, an option of ptxas controls fusing of products and sums."""
        module, options = ctypes.c_void_p(), self.prefix == 'ptxi' and not fuse
        keys, values = (ctypes.c_int * 1)(JIT_FMA), (ctypes.c_void_p * 1)(0)
        self.call(
            'ModuleLoadDataEx',
            ctypes.byref(module),
            ctypes.c_char_p(image + b'\0'),
            ctypes.c_uint(options),
            keys,
            values,
        )
        return module

    def unload(self, module):
        self.call('ModuleUnload', module)

    def function(self, module, name):
        f = ctypes.c_void_p()
        self.call('ModuleGetFunction', ctypes.byref(f), module, name.encode())
        return f

    def launch(self, f, blocks, threads, *args):
        pointers = (ctypes.c_void_p * len(args))(*[ctypes.addressof(a) for a in args])
        self.call('LaunchKernel', f, blocks, 1, 1, threads, 1, 1, 0, None, pointers, None)

    def synchronize(self):
        self.call('CtxSynchronize')


# ---- Assembling

def fuses(module):
    return not module.startswith('apart')


def assemble(ptxas, source, out):
    """Returns None or an error message."""
    fuse = 'true' if fuses(os.path.basename(source)) else 'false'
    result = subprocess.run([ptxas, '-arch=sm_90a', '-fmad=' + fuse, source, '-o', out], capture_output=True, text=True)
    if result.returncode:
        return '%s: ptxas ends with %d: %s\n' % (source, result.returncode, (result.stdout + result.stderr)[:1000])
    return None


def assembler(args):
    return (
        None
        if args.jit or args.prefix != 'cu'
        else shutil.which(args.ptxas) or shutil.which('/usr/local/cuda/bin/ptxas')
    )


class Images:
    """The image of each module: machine code, assembled in parallel ahead of time, or the text."""

    def __init__(self, plan, ptxas, names):
        self.directory, self.jobs = plan.directory, []
        if ptxas:
            self.temporary = tempfile.TemporaryDirectory()
            self.directory = self.temporary.name
            self.pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
            self.jobs = [
                self.pool.submit(assemble, ptxas, os.path.join(plan.directory, n), os.path.join(self.directory, n))
                for n in names
            ]

    def wait(self):
        began = time.time()
        failures = [job.result() for job in self.jobs]
        if self.jobs:
            self.pool.shutdown()            # children are made by fork
        if any(failures):
            sys.exit(''.join(f for f in failures if f))
        if len(self.jobs) > 2:
            print('%d modules assembled in %.0f s' % (len(self.jobs), time.time() - began), flush=True)

    def __getitem__(self, name):
        return open(os.path.join(self.directory, name), 'rb').read()


def version_of(ptxas):
    if not ptxas:
        return 'none, by the driver'
    text = subprocess.run([ptxas, '--version'], capture_output=True, text=True).stdout
    return text.split(' V')[-1].split()[0] + ', sm_90a'


# ---- Running

class Runner:
    def __init__(self, driver, plan, images):
        self.driver, self.plan, self.images = driver, plan, images
        self.module_name = self.module = None
        self.digest = driver.function(driver.load(images['digest.ptx']), 'digest')
        data = open(os.path.join(plan.directory, 'columns.bin'), 'rb').read()
        self.columns = driver.allocate(len(data))
        driver.write(self.columns, data)
        rows = max(c.rows for c in plan.cases)
        self.output = driver.allocate(rows * 4 * max(c.words for c in plan.cases))
        self.cells = driver.allocate(rows * 16)

    def function(self, item, letter):
        if item.module != self.module_name:
            if self.module:
                self.driver.synchronize()
                self.driver.unload(self.module)
                self.module = self.module_name = None
            self.module, self.module_name = self.driver.load(self.images[item.module], fuses(item.module)), item.module
        return self.driver.function(self.module, letter + item.key)

    def launch_case(self, case, columns, output, rows):
        u64 = ctypes.c_uint64
        block = self.plan.block
        self.driver.launch(
            self.function(case, 'k'),
            rows // block,
            block,
            *[u64(c) for c in columns],
            u64(output),
            u64(self.cells),
            ctypes.c_uint(rows)
        )

    def addresses(self, case):
        return [0 if c is None else self.columns + self.plan.columns[c][2] for c in case.columns]

    def case(self, case, record):
        self.launch_case(case, self.addresses(case), self.output, case.rows)
        block = self.plan.block
        self.driver.launch(
            self.digest,
            (case.digests * 32 + block - 1) // block,
            block,
            ctypes.c_uint64(self.output),
            ctypes.c_uint64(record),
            *[ctypes.c_uint(x) for x in (case.rows, case.fine, case.words, case.step)]
        )

    def records(self, items, letter):
        """Returns the records of the items as bytes. Letter k: cases, x: exhaustive cases."""
        where = list(itertools.accumulate((4 * x.record_words for x in items), initial=0))
        memory = self.driver.allocate(where[-1])
        for item, at in zip(items, where):
            (self.case if letter == 'k' else self.exhaustive)(item, memory + at)
        self.driver.synchronize()
        data = self.driver.read(memory, where[-1])
        self.driver.free(memory)
        return [data[a:b] for a, b in zip(where, where[1:])]

    def exhaustive(self, item, record):
        self.driver.launch(
            self.function(item, 'x'),
            self.plan.all_digests * self.plan.all_blocks,
            self.plan.all_threads,
            ctypes.c_uint64(record),
            ctypes.c_uint(0),
            ctypes.c_uint(0),
        )


# A failed kernel corrupts the driver's state. Thus each module runs in a child process. If it fails, its kernels run
# one by one in new child processes. Failing kernels are reported and left out.

def groups(items, careful):
    i = 0
    while i < len(items):
        n = 1
        while not careful and i + n < len(items) and items[i + n].module == items[i].module:
            n += 1
        yield items[i:i + n]
        i += n


def child(connection, make, items, letter, careful):
    """Sends a list of records for each group, or a message on failure. Sends None at the end."""
    try:
        runner = make()
        for group in groups(items, careful):
            try:
                connection.send(runner.records(group, letter))
            except Failure as e:
                connection.send(str(e))
                if not careful or runner.driver.prefix == 'cu':
                    return
        connection.send(None)
    except Exception as e:
        connection.send(e)


def receive(connection, process, seconds):
    try:
        if connection.poll(seconds):
            return connection.recv()
        process.kill()
        return 'no end after %d s' % seconds
    except EOFError:
        return None


def started(function, *args):
    """Starts a child that runs the function. Returns it and the receiving end of a pipe.

    The sending end is the function's first argument."""
    here, there = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=function, args=(there, *args))
    process.start()
    there.close()
    return here, process


def run_part(make, items, letter, careful):
    """Returns the records from one child, up to a failure. Items that failed alone have None."""
    here, process = started(child, make, items, letter, careful)
    out = []
    while len(out) < len(items):
        answer = receive(here, process, 120)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, list):
            out += answer
        elif answer is None or not careful:
            break
        else:
            out.append(None)
            print('fails: %s: %s' % (items[len(out) - 1].name, answer), flush=True)
    here.close()
    process.join()
    return out


def run_all(make, items, letter, seconds):
    """Returns the records of the items, with None for failed items and items without time left."""
    out, began, careful_to = [], time.time(), 0
    while len(out) < len(items):
        if time.time() - began > seconds:
            print('no time for %d kernels' % (len(items) - len(out)), flush=True)
            out += [None] * (len(items) - len(out))
            break
        careful = len(out) < careful_to
        part = items[len(out):careful_to] if careful else items[len(out):]
        got = run_part(make, part, letter, careful)
        out += got
        if not careful and len(got) < len(part):
            careful_to = len(out) + len(next(groups(items[len(out):], False)))
        elif not got:
            sys.exit('nothing runs')
    print('%d kernels in %.0f s, %d fail' % (len(items), time.time() - began, out.count(None)), flush=True)
    return out


# ---- Recordings

def write_recording(path, head, items, records):
    write_records(
        path, head, [(int(item.key, 16), record) for item, record in zip(items, records) if record is not None]
    )


def write_records(path, head, keyed):
    entries, blocks, seen, total = [], [], {}, 0
    for key, record in keyed:
        if record not in seen:
            seen[record] = total // 4
            blocks.append(record)
            total += len(record)
        entries.append(struct.pack('<QI', key, seen[record]))
    with open(path, 'wb') as f:
        f.write(('libptxi recording 2\n' + head + '\n').encode())
        f.write(struct.pack('<II', len(entries), total // 4))
        f.write(b''.join(entries) + b''.join(blocks))
    print(
        '%s: %d entries, %d different records, %d bytes' % (path, len(entries), len(blocks), os.path.getsize(path)),
        flush=True,
    )


def read_records(path):
    """Returns the head and a dictionary of records. A record ends at the start of the next; records do not overlap."""
    data = open(path, 'rb').read()
    at = data.index(b'\n\n') + 2
    count, words = struct.unpack_from('<II', data, at)
    entries = [struct.unpack_from('<QI', data, at + 8 + 12 * i) for i in range(count)]
    first = at + 8 + 12 * count
    ends = dict(itertools.pairwise(sorted({where for _, where in entries} | {words})))
    head = data[:at - 1].decode().split('\n', 1)[1]
    return head, {key: data[first + 4 * where:first + 4 * ends[where]] for key, where in entries}


def merge(args):
    heads, records = [], {}
    for path in args.files:
        head, more = read_records(path)
        heads += [line for line in head.splitlines() if line not in heads]
        records.update(more)
    write_records(args.out, '\n'.join(heads) + '\n', list(records.items()))


def driver_release():
    try:
        return subprocess.run(
            ['nvidia-smi', '--query-gpu=driver_version', '--format=csv,noheader'], capture_output=True, text=True
        ).stdout.split('\n')[0]
    except OSError:
        return ''


def describe(connection, args):
    d = Driver(args.driver, args.prefix)
    connection.send('gpu %s\ndriver-api %s\n' % (d.name, d.version))


def header(args):
    here, process = started(describe, args)
    head = here.recv()
    process.join()
    release = driver_release() if args.prefix == 'cu' else ''
    return head + ('driver %s\n' % release if release else '') + 'ptxas %s\n' % version_of(assembler(args))


def record(args, plan):
    head = header(args)
    images = Images(plan, assembler(args), ['digest.ptx'] + plan.modules)
    images.wait()
    os.makedirs(args.out, exist_ok=True)
    for name, items, letter in ('cases', plan.cases, 'k'), ('exhaustive', plan.exhaustive, 'x'):
        if letter == 'k' or not args.skip_exhaustive:
            records = run_all(
                lambda: Runner(Driver(args.driver, args.prefix), plan, images), items, letter, args.seconds
            )
            write_recording(os.path.join(args.out, name + '.rec'), head, items, records)


def single(work):
    """Calls work(args, plan, case, runner) for one case in a child process that starts without a driver."""
    def run(args, plan):
        case = plan.case(args.name)
        images = Images(plan, assembler(args), ['digest.ptx', case.module])
        images.wait()
        process = multiprocessing.Process(
            target=lambda: work(args, plan, case, Runner(Driver(args.driver, args.prefix), plan, images))
        )
        process.start()
        process.join()
        if process.exitcode:
            sys.exit('fails: %s' % case.name)
    return run


@single
def show(args, plan, case, runner):
    driver, addresses = runner.driver, runner.addresses(case)
    runner.launch_case(case, addresses, runner.output, case.rows)
    driver.synchronize()
    words = struct.unpack('<%dI' % (case.words * case.rows), driver.read(runner.output, 4 * case.words * case.rows))
    sizes = [plan.columns[c][0] for c in case.columns if c is not None]
    columns = [(size, driver.read(at, size * case.rows)) for size, at in zip(sizes, addresses)]
    for row in range(args.first, min(args.first + args.count, case.rows)):
        operands = [
            '%0*x' % (2 * size, int.from_bytes(data[size * row : size * row + size], 'little'))
            for size, data in columns
        ]
        print(
            'row %d: %s -> %s'
            % (row, ' '.join(operands), ' '.join('%08x' % words[w * case.rows + row] for w in range(case.words)))
        )


@single
def dump(args, plan, case, runner):
    if [plan.columns[c][0] for c in case.columns if c is not None] != [4]:
        sys.exit('%s has not one operand of 32 bits' % case.name)
    driver, most = runner.driver, max(c.rows for c in plan.cases)
    column, output = driver.allocate(4 * most), driver.allocate(4 * most * case.words)
    with open(args.file, 'wb') as f:
        for first in range(args.first, args.first + args.count, most):  # the memory cells limit the number of rows
            count = min(most, args.first + args.count - first)
            driver.write(column, array.array('I', (x & 0xffffffff for x in range(first, first + count))).tobytes())
            runner.launch_case(case, [column, 0, 0, 0], output, most)
            driver.synchronize()
            f.write(driver.read(output, 4 * count))


def run_matrix(connection, args, plan, images, forms):
    """Sends the record and additional results of each form. Sends a message and stops on failure."""
    driver = Driver(args.driver, args.prefix)
    keep = max(plan.full, args.full)
    digests, full = driver.allocate(4 * plan.digests), driver.allocate(
        max(4, 4 * keep * max(f.words for f in plan.forms))
    )
    try:
        for name, group in itertools.groupby(forms, lambda form: form.module):
            module = driver.load(images[name], True)
            for form in group:
                driver.clear(digests, 4 * plan.digests)
                driver.launch(
                    driver.function(module, 'm' + form.key),
                    form.blocks,
                    plan.block,
                    ctypes.c_uint64(digests),
                    ctypes.c_uint64(full),
                    ctypes.c_uint(keep),
                    ctypes.c_uint(0),
                )
                driver.synchronize()
                connection.send((driver.read(digests, 4 * plan.digests), driver.read(full, 4 * keep * form.words)))
            driver.unload(module)
    except Failure as e:
        connection.send(str(e))


def matrix_part(args, plan, images, forms):
    """Returns the results of one child up to a failure, followed by None for the failed form."""
    here, process = started(run_matrix, args, plan, images, forms)
    got = []
    while len(got) < len(forms) and (not got or got[-1]):
        answer = receive(here, process, 120)
        got.append(answer if isinstance(answer, tuple) else None)
        if not got[-1]:
            print('fails: %s: %s' % (forms[len(got) - 1].name, answer), flush=True)
    process.join()
    return got


def matrix(args, plan):
    head, began = header(args), time.time()
    images = Images(plan, assembler(args), plan.modules)
    images.wait()
    got = []
    while len(got) < len(plan.forms):
        got += matrix_part(args, plan, images, plan.forms[len(got):])
        if got.count(None) > 20:
            sys.exit('too many fail')
    os.makedirs(args.out, exist_ok=True)
    write_recording(os.path.join(args.out, 'matrix.rec'), head, plan.forms,
                    [x and x[0] + x[1][:4 * plan.full * form.words] for form, x in zip(plan.forms, got)])
    if args.full:
        with open(os.path.join(args.out, 'matrix.full'), 'wb') as out:
            out.write(b''.join(x[1] for x in got if x))
    print('%d forms in %.0f s, %d fail' % (len(got), time.time() - began, got.count(None)), flush=True)


def assemble_all(args, plan):
    images = Images(plan, assembler(args) or sys.exit('no ptxas'), ['digest.ptx'] + plan.modules)
    images.wait()
    print('%d modules with %d kernels' % (len(plan.modules), len(plan.cases) + len(plan.exhaustive)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--driver', default='libcuda.so.1')
    p.add_argument('--prefix', default='cu')
    p.add_argument('--ptxas', default='ptxas')
    p.add_argument('--jit', action='store_true', help='let the driver assemble')
    sub = p.add_subparsers(dest='what', required=True)
    r = sub.add_parser('record')
    r.add_argument('plan')
    r.add_argument('out')
    r.add_argument('--skip-exhaustive', action='store_true')
    r.add_argument(
        '--seconds', type=int, default=1000000, help='for either recording: start no child later, write what there is'
    )
    sub.add_parser('assemble').add_argument('plan')
    m = sub.add_parser('matrix')
    m.add_argument('plan')
    m.add_argument('out')
    m.add_argument('--full', type=int, default=0)
    m = sub.add_parser('merge')
    m.add_argument('out')
    m.add_argument('files', nargs='+')
    for name in 'show', 'dump':
        s = sub.add_parser(name)
        s.add_argument('plan')
        s.add_argument('name')
        s.add_argument('first', type=lambda x: int(x, 0))
        s.add_argument('count', type=lambda x: int(x, 0))
    s.add_argument('file')
    args = p.parse_args()
    if args.what == 'merge':
        return merge(args)
    multiprocessing.set_start_method('fork')
    if args.what == 'matrix':
        return matrix(args, Matrix(args.plan))
    plan = Plan(args.plan)
    if args.jit:    # the driver always fuses
        plan.cases = [c for c in plan.cases if fuses(c.module)]
    {'record': record, 'show': show, 'dump': dump, 'assemble': assemble_all}[args.what](args, plan)


if __name__ == '__main__':
    main()
