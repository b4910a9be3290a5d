#!/bin/sh
# Compares the constants of ptxi.h with those of cuda.h in the CUDA toolkit: every name that both have, and the layout
# of the structures. Without a toolkit, the test is skipped.
set -eu
top=${top_srcdir:-$(dirname "$0")/..}
cuda=${CUDA_HOME:-/usr/local/cuda}/include
cc=${CC:-cc}
if [ ! -f "$cuda/cuda.h" ]; then
    echo "check-cuda-numbers: skipped: no cuda.h in $cuda (set CUDA_HOME)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Lists the enumerators of ptxi.h, after preprocessing.
echo '#include <ptxi.h>' | $cc -std=c99 -E -P -I"$top/include" - | tr ',{}' '\n\n\n' |
    sed -n 's/^ *\(PTXI_[A-Z0-9_a-z]*\) *=.*/\1/p' | sort -u >"$work/names"

{
    cat <<'HEAD'
#include <stdio.h>
#include <stddef.h>
#include <cuda.h>
#include <ptxi.h>
static int bad, compared;
static void same(const char *name, long long ours, long long theirs)
{
    compared++;
    if (ours != theirs) {
        bad++;
        printf("%s is %lld in ptxi.h, but %lld in cuda.h\n", name, ours, theirs);
    }
}
int main(void)
{
HEAD
    while read -r name; do
        rest=${name#PTXI_}
        for theirs in "CU_$rest" "CUDA_$rest"; do
            if grep -qw "$theirs" "$cuda/cuda.h"; then
                echo "same(\"$name\", $name, $theirs);"
                break
            fi
        done
    done <"$work/names"
    echo 'same("PTXI_JIT_TARGET_FROM_CONTEXT", PTXI_JIT_TARGET_FROM_CONTEXT, CU_JIT_TARGET_FROM_CUCONTEXT);'
    for t in MEMCPY2D MEMCPY3D ARRAY_DESCRIPTOR ARRAY3D_DESCRIPTOR RESOURCE_DESC TEXTURE_DESC RESOURCE_VIEW_DESC; do
        echo "same(\"sizeof PTXI_$t\", sizeof(PTXI_$t), sizeof(CUDA_$t));"
    done
    for m in srcZ srcArray srcHeight dstXInBytes dstArray dstHeight WidthInBytes Depth; do
        echo "same(\"PTXI_MEMCPY3D.$m\", offsetof(PTXI_MEMCPY3D, $m), offsetof(CUDA_MEMCPY3D, $m));"
    done
    for m in res res.linear.sizeInBytes res.pitch2D.pitchInBytes flags; do
        echo "same(\"PTXI_RESOURCE_DESC.$m\", offsetof(PTXI_RESOURCE_DESC, $m), offsetof(CUDA_RESOURCE_DESC, $m));"
    done
    for m in filterMode flags maxAnisotropy mipmapFilterMode mipmapLevelBias maxMipmapLevelClamp borderColor; do
        echo "same(\"PTXI_TEXTURE_DESC.$m\", offsetof(PTXI_TEXTURE_DESC, $m), offsetof(CUDA_TEXTURE_DESC, $m));"
    done
    for m in srcXInBytes srcY srcMemoryType srcHost srcDevice srcArray srcPitch \
             dstXInBytes dstY dstMemoryType dstHost dstDevice dstArray dstPitch WidthInBytes Height; do
        echo "same(\"PTXI_MEMCPY2D.$m\", offsetof(PTXI_MEMCPY2D, $m), offsetof(CUDA_MEMCPY2D, $m));"
    done
    for s in MEMCPY3D KERNEL_NODE_PARAMS MEMSET_NODE_PARAMS HOST_NODE_PARAMS; do
        echo "same(\"sizeof PTXI_$s\", sizeof(PTXI_$s), sizeof(CUDA_$s));"
    done
    for s in MEM_ALLOC_NODE_PARAMS MEM_FREE_NODE_PARAMS BATCH_MEM_OP_NODE_PARAMS CHILD_GRAPH_NODE_PARAMS; do
        echo "same(\"sizeof PTXI_$s\", sizeof(PTXI_$s), sizeof(CUDA_$s));"
    done
    echo 'same("sizeof ptxiGraphNodeParams", sizeof(ptxiGraphNodeParams), sizeof(CUgraphNodeParams));'
    for s in MemcpyAttributes Memcpy3DOperand Offset3D Extent3D MemAllocationProp MemPoolProps MemAccessDesc \
             MemLocation LaunchAttribute LaunchConfig; do
        theirs=$(printf '%s' "$s" | sed 's/^Mem/mem/; s/^Launch/launch/; s/^Offset/offset/; s/^Extent/extent/')
        echo "same(\"sizeof ptxi$s\", sizeof(ptxi$s), sizeof(CU$theirs));"
    done
    echo 'same("sizeof PTXI_MEMCPY3D_BATCH_OP", sizeof(PTXI_MEMCPY3D_BATCH_OP), sizeof(CUDA_MEMCPY3D_BATCH_OP));'
    for m in requestedHandleTypes location win32HandleMetaData allocFlags.usage; do
        echo "same(\"ptxiMemAllocationProp.$m\", offsetof(ptxiMemAllocationProp, $m)," \
             "offsetof(CUmemAllocationProp, $m));"
    done
    for m in alloc free memOp; do
        echo "same(\"ptxiGraphNodeParams.$m\", offsetof(ptxiGraphNodeParams, value.$m)," \
             "offsetof(CUgraphNodeParams, $m));"
    done
    for m in MEM_ALLOC_NODE_PARAMS.accessDescs MEM_ALLOC_NODE_PARAMS.bytesize MEM_ALLOC_NODE_PARAMS.dptr \
             BATCH_MEM_OP_NODE_PARAMS.count BATCH_MEM_OP_NODE_PARAMS.paramArray BATCH_MEM_OP_NODE_PARAMS.flags \
             KERNEL_NODE_PARAMS.sharedMemBytes KERNEL_NODE_PARAMS.extra \
             MEMSET_NODE_PARAMS.elementSize MEMSET_NODE_PARAMS.width \
             MEMCPY3D.srcDevice MEMCPY3D.srcHeight MEMCPY3D.dstHost MEMCPY3D.dstPitch MEMCPY3D.Depth; do
        echo "same(\"PTXI_$m\", offsetof(PTXI_${m%.*}, ${m#*.}), offsetof(CUDA_${m%.*}, ${m#*.}));"
    done
    for k in END BUFFER_POINTER BUFFER_SIZE; do
        echo "same(\"PTXI_LAUNCH_PARAM_$k\", (long long)PTXI_LAUNCH_PARAM_$k, (long long)CU_LAUNCH_PARAM_$k);"
    done
    for k in LEGACY PER_THREAD; do
        echo "same(\"PTXI_STREAM_$k\", (long long)PTXI_STREAM_$k, (long long)CU_STREAM_$k);"
    done
    cat <<'TAIL'
    printf("%d constants compared with cuda.h %d, %d differ\n", compared, CUDA_VERSION, bad);
    return bad || compared < 180;
}
TAIL
} >"$work/compare.c"

# cuda.h also defines its enumerators through macros. The patterns below must list every name that cuda.h lacks.
while read -r name; do
    rest=${name#PTXI_}
    grep -qwE "CU_$rest|CUDA_$rest" "$cuda/cuda.h" || echo "$name"
done <"$work/names" |
    grep -vE '^PTXI_(FAULT|ON_FAULT|ACCESS|SEVERITY|RANGE|DIALECT|TIER)_|^PTXI_RESULT_MAX$' |
    grep -vE '^PTXI_(ANNOTATION|SANITIZER|REPORT|FINDING_SEVERITY|TRACK)_' |
    grep -vE '^PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW$' |
    grep -vE '^PTXI_LIMIT_(INSTRUCTIONS|MILLISECONDS)$' |
    grep -vE '^PTXI_JIT_(STRICT_TARGET|STRICT_SYMBOLS|FILE_NAME|DIALECT|TARGET_FROM_CONTEXT)$' >"$work/unknown" || true
if [ -s "$work/unknown" ]; then
    echo "these names are neither in cuda.h nor in the list of libptxi names in this script:"
    cat "$work/unknown"
    exit 1
fi

$cc -std=c99 -I"$cuda" -I"$top/include" -o "$work/compare" "$work/compare.c"
"$work/compare"
