#!/bin/sh
# Compares the sizes and offsets of the structures of libcudart with those of CUDA's headers: layouts.sh [INCLUDE...]
# Without arguments, with the headers beside nvcc. Each directory has the headers of one major version.
set -eu
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
cudart=$top/bindings/cudart
if [ $# = 0 ]; then
    if [ -z "${NVCC-}" ]; then
        echo "the layouts were not compared: configure found no nvcc"
        [ -z "${PTXI_REQUIRE_NVCC-}" ] || exit 1
        exit 77
    fi
    set -- "$(dirname "$(dirname "$NVCC")")/include"
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for include; do
    major=$(sed -n 's/^#define CUDART_VERSION *\([0-9]*\)[0-9][0-9][0-9].*/\1/p' "$include/cuda_runtime_api.h")
    {
        echo '#include <cstddef>'
        echo '#include <cstdint>'
        echo '#include <cuda_runtime_api.h>'
        # The library's structures are in a namespace, since some have the names of CUDA's.
        echo 'namespace ours {'
        echo '#include "types.h"'
        echo "#define ONLY_12(line) $([ "$major" -ge 13 ] || echo line)"
        echo "#define ONLY_13(line) $([ "$major" -lt 13 ] || echo line)"
        sed -n '/^struct device_properties {/,/^};/p' "$cudart/device.c"
        echo '}'
        cat << \EOF
template<size_t Ours, size_t Cuda> constexpr bool check()
{
    static_assert(Ours == Cuda, "the layout differs");
    return true;
}
#define LAYOUT(a, b, member) static_assert(check<offsetof(ours::a, member), offsetof(b, member)>());
#define SIZE(a, b) static_assert(check<sizeof(ours::a), sizeof(b)>());
EOF
        # Members with other names: the union of nodes has none in CUDA, and reserved members are not used.
        awk -v major="$major" -f "$top/tests/cudart/layouts.awk" "$cudart/types.h" |
            grep -v -e reserved -e 'graph_node_params.*value'
        echo '#define INT(member, attribute) LAYOUT(device_properties, cudaDeviceProp, member)'
        echo '#undef SIZE'
        echo '#define SIZE INT'
        echo '#define INTS(member, ...) INT(member, 0)'
        grep -v reserved "$cudart/properties.def"
        cat << \EOF
LAYOUT(device_properties, cudaDeviceProp, totalGlobalMem)
static_assert(sizeof(ours::device_properties) == sizeof(cudaDeviceProp), "the size of cudaDeviceProp differs");
static_assert(offsetof(ours::graph_node_params, value) == offsetof(cudaGraphNodeParams, kernel), "the union of nodes");
#define NODE(a, b) static_assert(check<offsetof(ours::graph_node_params, a), offsetof(cudaGraphNodeParams, b)>());
NODE(value.kernel.kernelParams, kernel.kernelParams)
NODE(value.copy.copyParams.kind, memcpy.copyParams.kind)
// Structures of ptxi.h that the runtime uses as they are
#define SAME(a, b) static_assert(sizeof(ours::a) == sizeof(b), #b);
#if CUDART_MAJOR >= 13
SAME(PTXI_RESOURCE_VIEW_DESC, cudaResourceViewDesc)
#endif
SAME(PTXI_MEMSET_NODE_PARAMS, cudaMemsetParams)
SAME(PTXI_HOST_NODE_PARAMS, cudaHostNodeParams)
SAME(PTXI_GRAPH_INSTANTIATE_PARAMS, cudaGraphInstantiateParams)
SAME(ptxiGraphExecUpdateResultInfo, cudaGraphExecUpdateResultInfo)
SAME(ptxiGraphEdgeData, cudaGraphEdgeData)
SAME(ptxiMemPoolProps, cudaMemPoolProps)
SAME(ptxiMemAccessDesc, cudaMemAccessDesc)
SAME(ptxiMemLocation, cudaMemLocation)
SAME(ptxiLaunchAttribute, cudaLaunchAttribute)
SAME(ptxiLaunchAttributeValue, cudaLaunchAttributeValue)
EOF
    } > "$tmp/layouts.cc"
    ${CXX:-c++} -std=c++17 -Wno-invalid-offsetof -fsyntax-only -DCUDART_MAJOR="$major" -DCUDART_VERSION="$major"000 \
        -I"$top/include" -I"$cudart" -isystem "$include" "$tmp/layouts.cc"
    count=$(grep -c -e '^LAYOUT' -e '^ONLY' -e '^INT' -e '^SIZE' -e '^SAME' -e '^NODE' "$tmp/layouts.cc")
    echo "$count layouts equal those of CUDA $major"
done
