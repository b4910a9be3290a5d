#!/usr/bin/env python3
"""Checks the container file, the action and the notebook: their syntax, and that of the shell commands in them.
Usage: ci_files.py SOURCE_DIR"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '.')
INSTRUCTIONS = {'FROM', 'SHELL', 'RUN', 'COPY', 'WORKDIR', 'USER', 'ENTRYPOINT', 'CMD'}
failures = []


def expect(true, what):
    """Note a failure."""
    if not true:
        failures.append(what)


def check_shell(shell, text, where):
    """Let the shell, and shellcheck if there is one, read a script."""
    done = subprocess.run([shell, '-n'], input=text, capture_output=True, text=True)
    expect(not done.returncode, f'{where}: {done.stderr}')
    if shutil.which('shellcheck'):
        done = subprocess.run(['shellcheck', '-S', 'warning', '-s', shell, '-'], input=text, capture_output=True,
                              text=True)
        expect(not done.returncode, f'{where}: {done.stdout}')


def instructions(text):
    """Yield the instructions of a container file and their arguments."""
    text = re.sub(r'^\s*#.*\n', '', text, flags=re.M).replace('\\\n', ' ')
    for line in text.splitlines():
        if line.strip():
            yield line.split(None, 1)


def check_container():
    """The container file: known instructions, JSON forms, stages, shell commands."""
    stages, last = set(), None
    for name, rest in instructions((TOP / 'packages/container/Dockerfile').read_text()):
        expect(name in INSTRUCTIONS, f'Dockerfile: {name}')
        if name == 'FROM':
            stages.update(re.findall(r' AS (\w+)$', rest))
            last = rest
        elif name == 'RUN':
            check_shell('sh', rest + '\n', 'Dockerfile')
        elif name in ('SHELL', 'ENTRYPOINT', 'CMD'):
            expect(isinstance(json.loads(rest), list), f'Dockerfile: {rest}')
        elif name == 'COPY':
            for stage in re.findall(r'--from=(\w+)', rest):
                expect(stage in stages, f'Dockerfile: no stage {stage}')
    expect(last, 'Dockerfile: no FROM')


def check_action():
    """The action: structure, inputs that exist, shell commands."""
    try:
        import yaml
    except ImportError:
        print('action.yml: not checked, because Python has no yaml')
        return
    text = (TOP / 'action.yml').read_text()
    action = yaml.safe_load(text)
    for key in ('name', 'description', 'inputs', 'runs'):
        expect(key in action, f'action.yml: no {key}')
    expect(action['runs']['using'] == 'composite', 'action.yml: it is not composite')
    for name in re.findall(r'\$\{\{ *inputs\.([\w-]+) *\}\}', text):
        expect(name in action['inputs'], f'action.yml: no input {name}')
    for name in action['inputs'].values():
        expect(name.get('description') and ('default' in name or name.get('required')), f'action.yml: {name}')
    for step in action['runs']['steps']:
        expect(step.get('shell') == 'bash', f'action.yml: a step without a shell: {step}')
        expect('${{' not in step['run'], 'action.yml: an expression in a script, which an input could leave')
        check_shell('bash', step['run'], f"action.yml: {step['name']}")


def check_notebook():
    """The notebook has no outputs, which would change with each execution."""
    notebook = json.loads((TOP / 'samples/notebook.ipynb').read_text())
    expect(notebook['nbformat'] == 4, 'notebook: its format')
    for cell in notebook['cells']:
        expect(not cell.get('outputs') and not cell.get('execution_count'), f"notebook: outputs of {cell['id']}")


check_container()
check_action()
check_notebook()
print('\n'.join(failures) or 'the container file, the action and the notebook: ok')
sys.exit(bool(failures))
