#!/bin/sh
# Runs shellcheck, ruff, pyright, mypy, clang-format and cppcheck on the files of the repository. A program that is not
# installed is skipped, unless LINT_REQUIRE is set. clang-format only checks, and not the files in .clang-format-ignore,
# most of which have tables that would lose their columns. tests/check-style.py has limits that hold for all files.
# Usage, in a checkout: lint.sh [BUILD_DIR]; cppcheck needs the headers that a build generates.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
failed=

# lint PROGRAM COMMAND: runs the command, which uses the program.
lint()
{
    if ! command -v "$1" > /dev/null; then
        echo "$1: not installed"
        [ -z "${LINT_REQUIRE-}" ] || failed="$failed $1"
        return
    fi
    if sh -c "$2"; then
        echo "$1: ok"
    else
        failed="$failed $1"
    fi
}

lint shellcheck "git ls-files '*.sh' bootstrap .ci/run | xargs shellcheck -S warning -s sh"
lint ruff "ruff check -q ."
lint pyright "cd bindings/python && pyright ptxi"
lint mypy "cd bindings/python && mypy --strict --cache-dir=/dev/null ptxi"
version=$(sed -n 's/^clang-format==//p' tests/lint-requirements.txt)
if clang-format --version 2> /dev/null | grep -qF " version $version" || [ -n "${LINT_REQUIRE-}" ]; then
    lint clang-format "git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror"
else
    echo "clang-format: version $version is not installed"
fi
lint cppcheck "cppcheck -q -j$(getconf _NPROCESSORS_ONLN) --std=c11 --enable=warning,performance,portability \
    --inline-suppr --error-exitcode=1 --suppress=missingInclude -I include -I libptxi -I '$build/libptxi' \
    libptxi/base libptxi/fatbin libptxi/parse libptxi/api/error libptxi/api/observe tools/ptxi"
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
