#!/bin/sh
# Runs the kernels of ptx95 on a machine with a GPU of sm_90: on-gpu.sh [VENV]. It needs Python. ptxas 13.5 is that of
# $PTXI_TOOLKIT or of the virtual environment VENV, see tests/isa/newest-ptxas.sh.
set -e
here=$(cd "$(dirname "$0")" && pwd)
toolkit=$(sh "$here/../isa/newest-ptxas.sh" "${1:-toolkit}")
python3 "$here/ptx95.py" --ptxas "$toolkit/bin/ptxas"
