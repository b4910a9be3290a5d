#!/bin/sh
# Writes the initial fuzzing corpus to a directory: small files of the source tree, functions of large files, and
# instructions accepted by ptxas, a few per kernel. Usage: seeds.sh SOURCE_TREE FOLDER
set -eu
top=$1 to=$2
mkdir -p "$to"

for f in "$top"/tests/errors/*.ptx "$top"/tests/errors/run/*.ptx "$top"/samples/*.ptx \
    "$top"/tests/bench/*.ptx "$top"/tests/cuda/*.ptx "$top"/tests/fuzz/corpus/*; do
    [ "$(wc -c < "$f")" -lt 12000 ] && cp "$f" "$to/$(basename "$f")" || awk -v out="$to/$(basename "$f" .ptx)" '
        /^\.(version|target|address_size)/ { head = head $0 "\n" }
        /^(\.visible |\.weak )?\.(entry|func)/ { text = ""; inside = 1 }
        inside { text = text $0 "\n" }
        /^}/ {
            if (inside && length(text) < 8000 && n < 12) {
                file = out "." ++n ".ptx"
                printf "%s%s", head, text > file
                close(file)
            }
            inside = 0
        }
    ' "$f"
done

# Register names are those of tests/isa/frame.ptx. Registers have meaningful values.
awk -v out="$to/isa" '
    function finish() { if (n) { print "label: exit;\n}" > file; close(file) } n = 0 }
    $3 != "+" || /\[f/ { next }
    n == 6 || $1 $2 != group { finish() }
    {
        if (!n++) {
            group = $1 $2; file = out "." ++files ".ptx"
            printf ".version %d.%d\n.target sm_%s\n", $2 / 10, $2 % 10, $1 > file
            print ".address_size 64\n.const .b64 cvar[4];\n.func callee() { ret; }" > file
            print ".entry k(.param .u64 p, .param .align 16 .b8 kparam[128])\n{" > file
            print ".reg .pred %p<40>;\n.reg .b8 %b<60>;\n.reg .b16 %h<60>;" > file
            print ".reg .b32 %r<90>;\n.reg .b64 %d<60>;\n.reg .b128 %q<60>;" > file
            print ".local .align 16 .b8 lvar[128];\n.shared .align 16 .b8 svar[128];" > file
            print "table: .branchtargets label;\nld.param.u64 %d40, [p];\nadd.u64 %d41, %d40, 16;" > file
            print "mov.u64 %d16, %d40;\nmov.u32 %r16, %tid.x;\nmov.u32 %r24, %laneid;\nmov.u32 %r32, 5;" > file
            print "mov.u32 %r40, -1;\ncvt.u16.u32 %h16, %r16;\nsetp.lt.u32 %p32, %r16, 7;" > file
        }
        sub(/^[^ ]+ [^ ]+ [^ ]+ /, ""); print > file
    }
    END { finish() }
' "$top/tests/isa/verdicts.txt"
