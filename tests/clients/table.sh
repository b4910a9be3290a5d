#!/bin/sh
# Runs the clients in the virtual environment of run.sh, and writes the table in doc/reference/clients.md:
#
#     make check-clients                      # in the build directory
#     make check-clients PTXI_CLIENTS=DIR     # with another virtual environment
#
# Rows of clients that are not installed stay as they are.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
PTXI_CLIENTS_TABLE=yes exec "$top_srcdir/tests/clients/run.sh"
