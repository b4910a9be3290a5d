#!/bin/sh
# Prints the folder that has bin/ptxas and the headers of CCCL: newest-ptxas.sh VENV. It is $PTXI_TOOLKIT, or the one
# of the packages nvidia-cuda-nvcc and nvidia-cuda-cccl in the virtual environment VENV, which is made if it is missing.
set -e
venv=${1:?"usage: newest-ptxas.sh VENV"}
if [ -z "$PTXI_TOOLKIT" ]; then
    if [ -z "$(find "$venv" -name ptxas 2> /dev/null)" ]; then # also after an interrupted installation
        "${PYTHON3:-python3}" -m venv "$venv" >&2
        "$venv/bin/pip" install -q nvidia-cuda-nvcc nvidia-cuda-cccl >&2
    fi
    PTXI_TOOLKIT=$(dirname "$(dirname "$(find "$venv" -name ptxas | head -n 1)")")
fi
[ -x "$PTXI_TOOLKIT/bin/ptxas" ] || { echo "newest-ptxas.sh: no bin/ptxas in '$PTXI_TOOLKIT'" >&2; exit 1; }
echo "$PTXI_TOOLKIT"
