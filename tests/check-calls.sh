#!/bin/sh
# Checks that every function of ptxi.h begins with API_CALL. API_CALL keeps the objects that a function looks up alive
# until it returns (see libptxi/api/handle/handle.h). The list below has the exceptions: functions that look up no
# objects, and functions that host functions call while kernels run.
set -eu
top=${top_srcdir:-$(dirname "$0")/..}

awk '
    BEGIN {
        n = split("ptxiDriverGetVersion ptxiGetVersion ptxiGetErrorName ptxiGetErrorString " \
                  "ptxiDeviceEnumerateProfile ptxiHostGetThread ptxiHostFail ptxiHostGetPointer", name, " ")
        for (i = 1; i <= n; i++)
            free[name[i]] = 1
    }
    FNR == 1 { in_head = 0 }
    /^( {4})?ptxiResult (ptxi[A-Z]|name\()/ { in_head = 1; call = $2; sub(/\(.*/, "", call) }
    in_head && /;/ { in_head = 0 }
    in_head && /^( {4})?\{/ {
        in_head = 0
        calls++
        getline
        if ($0 !~ /^ +API_CALL;/ && !(call in free)) {
            print FILENAME ":" FNR ": " call " does not begin with API_CALL"
            bad = 1
        }
    }
    END { exit bad || calls < 200 }' "$top"/libptxi/api/*/*.c
