#!/usr/bin/env python3
"""Runs the commands of the container file and of the action in bare Debian systems, without a container engine and
without a service. Needs root and debootstrap, and Debian's archive.

Usage: hosted.py SOURCE_DIR WORK_DIR [container | action]...

SOURCE_DIR must be a clone: its committed files are used. A directory of WORK_DIR is a system; BASE.tar there, if it
exists, is an unpacked Debian to begin with. Each command runs as its file says; `sudo` and the variables of the service
are provided. After the container file, its image runs a kernel and the Python package as its user. The action runs a
program for a GPU, which must pass, and one with an error, which must fail.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOP, WORK = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
PASSED_ON = 'CONFIG_SITE', 'CCACHE_DIR'  # of the caller


def instructions(text):
    """Yield the instructions of a container file and their arguments."""
    text = re.sub(r'^\s*#.*\n', '', text, flags=re.M).replace('\\\n', ' ')
    for line in text.splitlines():
        if line.strip():
            yield line.split(None, 1)


def make_system(name):
    """Unpack a bare Debian, and return its directory."""
    root = WORK / name
    if root.exists():
        return root
    if (WORK / 'BASE.tar').exists():
        root.mkdir(parents=True)
        subprocess.run(['tar', '-xf', WORK / 'BASE.tar', '-C', root], check=True)
    else:
        subprocess.run(['debootstrap', '--variant=minbase', 'bookworm', root], check=True, stdout=subprocess.DEVNULL)
    shutil.copy('/etc/resolv.conf', root / 'etc/resolv.conf')
    if pathlib.Path('/etc/apt/apt.conf').exists():
        shutil.copy('/etc/apt/apt.conf', root / 'etc/apt/apt.conf')
    return root


def run_in(root, command, directory='/', user='root', **variables):
    """Run a command in a system. Return its exit status."""
    environment = {'PATH': PATH, 'HOME': '/root' if user == 'root' else f'/home/{user}', **variables}
    environment.update({name: os.environ[name] for name in PASSED_ON if name in os.environ})
    mounted = [root / 'proc', root / 'dev']
    subprocess.run(['mount', '-t', 'proc', 'proc', mounted[0]], check=True)
    subprocess.run(['mount', '--bind', '/dev', mounted[1]], check=True)
    inner = ['sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', directory, *command]
    try:
        return subprocess.run(['chroot', *([f'--userspec={user}'] if user != 'root' else []), root, *inner],
                              env=environment).returncode
    finally:
        for place in reversed(mounted):
            subprocess.run(['umount', place], check=True)


def copy_source(root, place):
    """Copy the committed files of the source tree."""
    (root / place).mkdir(parents=True, exist_ok=True)
    archive = subprocess.Popen(['git', '-C', TOP, 'archive', 'HEAD'], stdout=subprocess.PIPE)
    subprocess.run(['tar', '-x', '-C', root / place], stdin=archive.stdout, check=True)
    if archive.wait():
        sys.exit('git archive failed')


def must(status, what, want=0):
    """End with a message if a status is not the one that is wanted."""
    if status != want:
        sys.exit(f'{what}: exit status {status} instead of {want}')


def run_container():
    """Execute the instructions of the container file, and use its image."""
    shell, user, directory, roots, entry = ['/bin/sh', '-c'], 'root', '/', {}, []
    root = None
    for name, rest in instructions((TOP / 'packages/container/Dockerfile').read_text()):
        print(f'--- {name} {rest[:90]}', flush=True)
        if name == 'FROM':
            stage = (re.findall(r' AS (\w+)$', rest) or ['image'])[0]
            root = roots[stage] = make_system(f'container-{stage}')
            directory, user = '/', 'root'
        elif name == 'SHELL':
            shell = json.loads(rest)
        elif name == 'RUN':
            must(run_in(root, [*shell, rest], directory, user, DEBIAN_FRONTEND='noninteractive'), rest[:90])
        elif name == 'COPY' and rest.startswith('--from='):
            stage, source, target = re.match(r'--from=(\w+) /(\S+) /(\S*)$', rest).groups()
            subprocess.run(['cp', '-a', f'{roots[stage]}/{source}.', root / target], check=True)
        elif name == 'COPY':
            copy_source(root, rest.split()[1].lstrip('/'))
        elif name == 'WORKDIR':
            directory = rest.strip()
            (root / directory.lstrip('/')).mkdir(parents=True, exist_ok=True)
        elif name == 'USER':
            user = 'ptxi' if rest.strip() == '1000' else rest.strip()
        elif name == 'ENTRYPOINT':
            entry = json.loads(rest)
    for file in ('samples/lerp.ptx', 'bindings/python/examples/lerp.py'):
        shutil.copy(TOP / file, root / 'work')
    lerp = 'run lerp.ptx -b 8 -a f32[8]=ramp -a f32[8]=1 -a f32[8] -a f32=0.5 -o 2'.split()
    must(run_in(root, [*entry, *lerp], directory, user), 'a kernel in the container')
    must(run_in(root, [*entry, '--help'], directory, user), 'help in the container')
    code = 'import numpy, ptxi; print(ptxi.load("lerp.ptx"))'
    must(run_in(root, ['python3', '-c', code], directory, user), 'Python in the container')
    print('container: ok')


def step_environment(step, inputs, root):
    """Return the variables of a step, with the expressions of the service replaced."""
    values = {'github.action_path': '/action', **{f'inputs.{k}': v for k, v in inputs.items()}}
    found = {'RUNNER_TEMP': '/temp', 'GITHUB_PATH': '/temp/path', 'GITHUB_OUTPUT': '/temp/output'}
    added = (root / 'temp/path').read_text().split()
    found['PATH'] = ':'.join([*reversed(added), PATH])
    for name, value in step.get('env', {}).items():
        found[name] = re.sub(r'\$\{\{ *([\w.-]+) *\}\}', lambda m: values[m[1]], value)
    return found


def run_steps(root, steps, **inputs):
    """Execute steps of the action. Return the exit status of the last one."""
    status = 0
    for step in steps:
        print(f"--- {step['name']} {inputs}", flush=True)
        directory = '/work' if 'working-directory' in step else '/'
        status = run_in(root, ['bash', '--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', step['run']], directory,
                        **step_environment(step, inputs, root))
        if status:
            break
    return status


def run_action():
    """Execute the steps of the action with good and bad commands."""
    import yaml
    action = yaml.safe_load((TOP / 'action.yml').read_text())
    defaults = {name: value.get('default', '') for name, value in action['inputs'].items()}
    root = make_system('action')
    for place in ('temp', 'work', 'usr/local/bin'):
        (root / place).mkdir(parents=True, exist_ok=True)
    (root / 'temp/path').touch()
    sudo = root / 'usr/local/bin/sudo'
    sudo.write_text('#!/bin/sh\nexec "$@"\n')
    sudo.chmod(0o755)
    copy_source(root, 'action')
    steps = action['runs']['steps']
    must(run_steps(root, steps[:-1], **{**defaults, 'run': ''}), 'the action')
    must(run_in(root, ['cc', '-I/action/include', '-o', 'program', '/action/tests/cmd/program.c'], '/work'), 'cc')
    kernel = './program /action/tests/cmd/kernels.ptx'
    for command, check, want in ((f'{kernel} good', '', 0), (f'{kernel} good', 'memory,race', 0),
                                 (f'{kernel} good && false', 'all', 1), ('exit 3', '', 3)):
        must(run_steps(root, steps[-1:], **{**defaults, 'run': command, 'check': check}), command, want)
    status = run_steps(root, steps[-1:], **{**defaults, 'run': f'{kernel} fault', 'check': 'memory'})
    if not status:
        sys.exit('a program with an invalid access passed')
    print('action: ok')


def main():
    """Run what the command line names."""
    for what in sys.argv[3:] or ('container', 'action'):
        {'container': run_container, 'action': run_action}[what]()


if os.getuid() or not shutil.which('debootstrap'):
    print('skipped: needs root and debootstrap')
    sys.exit(77)
main()
