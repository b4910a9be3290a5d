/* More programs for no_memory.c: linking, textures, asynchronous copies in clusters, tensor memory, device launches,
 * graphs with all kinds of nodes, streams that wait for each other, also captured, files, host memory, host functions,
 * peers, snapshots, and windows of a grid. */
#include "no_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"

/* Loads the text of one kernel, `k`. */
static bool load(ptxiModule *m, ptxiFunction *k, const char *text)
{
    TRY(ptxiModuleLoadData(m, text));
    TRY(ptxiModuleGetFunction(k, *m, "k"));
    return true;
}

/* Runs the kernel with one parameter and checks the first word of its memory. */
static bool gives(ptxiFunction k, unsigned threads, ptxiDevicePtr p, unsigned want)
{
    void *params[] = { &p };

    TRY(ptxiLaunchKernel(k, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
    TRY(ptxiCtxSynchronize());
    if (*(const unsigned *)(uintptr_t)p != want)
        die("a wrong result");
    return true;
}

static bool add(ptxiLinkState s, const char *text)
{
    TRY(ptxiLinkAddData(s, PTXI_JIT_INPUT_PTX, (void *)(uintptr_t)text, strlen(text) + 1, "part", 0, NULL, NULL));
    return true;
}

static bool link_all(ptxiLinkState s, ptxiModule *m)
{
    static const char *const parts[] = {
        HEAD ".extern .func (.param .b32 r) f(.param .b32 a); .extern .global .align 4 .b32 g[4];\n"
        ".visible .entry k(.param .u64 p) { .reg .b64 %p; .reg .b32 %r<3>; .param .b32 r, a; ld.param.u64 %p, [p]; "
        "ld.global.u32 %r1, [g+4];\n"
        "  st.param.b32 [a], %r1; call (r), f, (a); ld.param.b32 %r2, [r]; st.global.u32 [%p], %r2; ret; }\n",
        HEAD ".visible .global .align 4 .b32 g[4] = { 1, 2, 3, 4 };\n"
        ".visible .func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r; ld.param.b32 %r, [a]; add.s32 %r, %r, 40; "
        "st.param.b32 [r], %r; ret; }\n",
        HEAD ".global .u32 a;\n", HEAD ".global .u32 b;\n", HEAD ".global .u32 c;\n"
    };
    void *image;

    for (unsigned k = 0; k < sizeof parts / sizeof *parts; k++)
        if (!add(s, parts[k]))
            return false;
    TRY(ptxiLinkComplete(s, &image, NULL));
    TRY(ptxiModuleLoadData(m, image));
    return true;
}

bool use_links(ptxiContext ctx)
{
    ptxiLinkState s;
    ptxiModule m;
    ptxiFunction k;
    ptxiDevicePtr p;
    bool linked;

    (void)ctx;
    TRY(ptxiLinkCreate(0, NULL, NULL, &s));
    linked = link_all(s, &m);
    if (ptxiLinkDestroy(s))
        die("the linker's state could not be destroyed");
    if (!linked)
        return false;
    TRY(ptxiModuleGetFunction(&k, m, "k"));
    TRY(ptxiMemAlloc(&p, 64));
    return gives(k, 32, p, 42);
}

bool use_textures(ptxiContext ctx)
{
    static const char text[] = HEAD ".global .texref t; .global .surfref s;\n"
        ".visible .entry k(.param .u64 p) { .reg .b64 %p<3>; .reg .b32 %r<9>; ld.param.u64 %p0, [p]; "
        "ld.global.u64 %p1, [%p0+8]; ld.global.u64 %p2, [%p0+16];\n"
        "  tex.2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%p1, {1, 0}]; sust.b.2d.b32.clamp [%p2, {0, 0}], %r0; "
        "suld.b.2d.b32.clamp %r4, [%p2, {0, 0}];\n"
        "  tex.2d.v4.u32.s32 {%r5, %r6, %r7, %r8}, [t, {0, 0}]; add.u32 %r0, %r0, %r4; add.u32 %r0, %r0, %r5; "
        "st.global.u32 [%p0], %r0; ret; }\n";
    PTXI_ARRAY3D_DESCRIPTOR d = { 4, 4, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1, PTXI_ARRAY3D_SURFACE_LDST };
    PTXI_RESOURCE_DESC what = { .resType = PTXI_RESOURCE_TYPE_ARRAY };
    PTXI_TEXTURE_DESC how = { .flags = PTXI_TRSF_READ_AS_INTEGER };
    unsigned texels[16] = { 1, 5 };
    PTXI_MEMCPY2D copy = { .srcMemoryType = PTXI_MEMORYTYPE_HOST, .srcHost = texels,
                           .dstMemoryType = PTXI_MEMORYTYPE_ARRAY, .WidthInBytes = 16, .Height = 4 };
    struct { unsigned result, space; ptxiTexObject t; ptxiSurfObject s; } given = { 0 };
    ptxiMipmappedArray pyramid;
    ptxiModule m;
    ptxiFunction k;
    ptxiDevicePtr p;
    ptxiTexRef t;
    ptxiSurfRef s;

    (void)ctx;
    TRY(ptxiArray3DCreate(&what.res.array.hArray, &d));
    copy.dstArray = what.res.array.hArray;
    TRY(ptxiMemcpy2D(&copy));
    TRY(ptxiMipmappedArrayCreate(&pyramid, &d, 3));
    TRY(ptxiTexObjectCreate(&given.t, &what, &how, NULL));
    TRY(ptxiSurfObjectCreate(&given.s, &what));
    if (!load(&m, &k, text))
        return false;
    TRY(ptxiModuleGetTexRef(&t, m, "t"));
    TRY(ptxiTexRefSetArray(t, copy.dstArray, PTXI_TRSA_OVERRIDE_FORMAT));
    TRY(ptxiTexRefSetFlags(t, PTXI_TRSF_READ_AS_INTEGER));
    TRY(ptxiModuleGetSurfRef(&s, m, "s"));
    TRY(ptxiSurfRefSetArray(s, copy.dstArray, 0));
    TRY(ptxiMemAlloc(&p, sizeof given));
    TRY(ptxiMemcpyHtoD(p, &given, sizeof given));
    if (!gives(k, 1, p, 15))
        return false;
    TRY(ptxiTexObjectDestroy(given.t));
    TRY(ptxiSurfObjectDestroy(given.s));
    return true;
}

/* Asynchronous copies, bulk copies and tensor copies, remote stores, the heap and the stack, in a cluster of two
 * CTAs. */
bool use_copies(ptxiContext ctx)
{
    static const char text[] = HEAD
        ".extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 p);\n"
        ".visible .entry k(.param .u64 p, .param .align 64 .b8 map[128]) .reqntid 32 .reqnctapercluster 2\n"
        "{ .reg .b64 %p<5>; .reg .b32 %r<9>; .reg .pred %q<3>; .shared .align 128 .b8 tile[1024]; "
        ".shared .align 8 .b64 bar; .param .b64 n, r, f;\n"
        "  ld.param.u64 %p0, [p]; mov.b64 %p1, map; cvta.param.u64 %p1, %p1; mov.u32 %r0, %tid.x; "
        "setp.ne.u32 %q0, %r0, 0; mov.u32 %r8, tile;\n"
        "  @!%q0 mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; barrier.cluster.arrive; "
        "barrier.cluster.wait;\n"
        "  mov.u32 %r1, bar; mov.u32 %r6, %cluster_ctarank; xor.b32 %r6, %r6, 1; mapa.shared::cluster.u32 %r2, %r1, "
        "%r6;\n"
        "  cp.async.ca.shared.global [%r8], [%p0], 16; cp.async.commit_group; cp.async.wait_all;\n"
        "  @%q0 bra wait;\n"
        "  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 260; mov.u32 %r3, 0;\n"
        "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r8+128], [%p0], 128, [bar];\n"
        "  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r8+256], [%p1, {%r3, %r3}], "
        "[bar];\n"
        "  mapa.shared::cluster.u32 %r4, %r8, %r6; st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 "
        "[%r4+512], %r0, [%r2];\n"
        "wait: mbarrier.try_wait.parity.shared.b64 %q1, [bar], 0; @!%q1 bra wait;\n"
        "  cp.async.bulk.global.shared::cta.bulk_group [%p0+1024], [%r8], 128; cp.async.bulk.commit_group; "
        "cp.async.bulk.wait_group 0;\n"
        "  st.param.b64 [n], 100; call (r), malloc, (n); ld.param.b64 %p2, [r]; setp.eq.u64 %q2, %p2, 0; @%q2 trap; "
        "st.u32 [%p2], %r0;\n"
        "  st.param.b64 [f], %p2; call free, (f); alloca.u64 %p3, 64; st.local.u32 [%p3], %r0;\n"
        "  barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r5, 1; @!%q0 red.global.add.u32 [%p0+2048], %r5; "
        "ret; }\n";
    static const uint64_t size[] = { 8, 8 }, stride[] = { 32 };
    static const uint32_t box[] = { 8, 4 }, step[] = { 1, 1 };
    ptxiTensorMap map;
    ptxiDevicePtr p;
    ptxiModule m;
    ptxiFunction k;
    void *params[] = { &p, &map };
    unsigned result;

    (void)ctx;
    TRY(ptxiMemAlloc(&p, 4096));
    TRY(ptxiMemsetD8(p, 0, 4096));
    TRY(ptxiTensorMapEncodeTiled(&map, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)(uintptr_t)p, size, stride, box,
                                 step, PTXI_TENSOR_MAP_INTERLEAVE_NONE,
                                 PTXI_TENSOR_MAP_SWIZZLE_NONE, PTXI_TENSOR_MAP_L2_PROMOTION_NONE,
                                 PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    if (!load(&m, &k, text))
        return false;
    TRY(ptxiLaunchKernel(k, 4, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    /* malloc() returns NULL to kernels, too */
    if (!fine(ptxiCtxSynchronize(), PTXI_ERROR_LAUNCH_FAILED, "a launch of clusters"))
        return false;
    TRY(ptxiMemcpyDtoH(&result, p + 2048, sizeof result));
    if (result != 4)
        die("a wrong result");
    return true;
}

bool use_tensor_memory(ptxiContext ctx)
{
    static const char text[] = ".version 8.6\n.target sm_100a\n.address_size 64\n"
        ".visible .entry k(.param .u64 p) { .reg .b64 %p; .reg .b32 %r<4>; .shared .b32 at; ld.param.u64 %p, [p];\n"
        "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 32; ld.shared.u32 %r0, [at]; mov.u32 %r1, 7;\n"
        "  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r0], {%r1}; tcgen05.wait::st.sync.aligned; "
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r0];\n"
        "  tcgen05.wait::ld.sync.aligned; st.global.u32 [%p], %r2; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, "
        "32; ret; }\n";
    ptxiContext newer;
    ptxiDevicePtr p;
    ptxiModule m;
    ptxiFunction k;
    ptxiResult r;
    bool all;

    (void)ctx;
    if (ptxiDeviceSetProfile(0, "sm_100"))
        die("there is no such profile");
    r = ptxiCtxCreate(&newer, 0, 0);
    if (ptxiDeviceSetProfile(0, "sm_90"))
        die("there is no such profile");
    TRY(r);
    all = FINE(ptxiCtxSetWorkers(newer, 1)) && FINE(ptxiMemAlloc(&p, 64)) && load(&m, &k, text) && gives(k, 32, p, 7);
    if (ptxiCtxDestroy(newer))
        die("the context could not be destroyed");
    return all;
}

bool use_children(ptxiContext ctx)
{
    static const char text[] = HEAD
        ".extern .func (.param .b64 r) cudaGetParameterBuffer(.param .b64 align, .param .b64 size);\n"
        ".extern .func (.param .b32 r) cudaLaunchDevice(.param .b64 f, .param .b64 b, .param .align 4 .b8 grid[12], "
        ".param .align 4 .b8 block[12], .param .b32 s, .param .b64 st);\n"
        ".visible .entry child(.param .u64 p) { .reg .b64 %p; .reg .b32 %r; ld.param.u64 %p, [p]; mov.u32 %r, 1; "
        "red.global.add.u32 [%p], %r; ret; }\n"
        ".visible .entry k(.param .u64 p) { .reg .b64 %p<4>; .reg .b32 %r<2>; .reg .pred %q; "
        ".param .b64 align, size, r, f, b, st; .param .b32 s, e;\n"
        "  .param .align 4 .b8 grid[12]; .param .align 4 .b8 block[12]; ld.param.u64 %p0, [p]; mov.u32 %r0, 0; "
        "st.global.u32 [%p0], %r0;\n"
        "  st.param.b64 [align], 8; st.param.b64 [size], 8; call (r), cudaGetParameterBuffer, (align, size); "
        "ld.param.b64 %p1, [r];\n"
        "  setp.eq.u64 %q, %p1, 0; @%q trap; st.u64 [%p1], %p0; mov.u64 %p2, child;\n"
        "  st.param.b64 [f], %p2; st.param.b64 [b], %p1; st.param.b32 [s], 0; st.param.b64 [st], 0; "
        "st.param.b32 [grid], 3; st.param.b32 [grid+4], 1; st.param.b32 [grid+8], 1;\n"
        "  st.param.b32 [block], 2; st.param.b32 [block+4], 1; st.param.b32 [block+8], 1; call (e), cudaLaunchDevice, "
        "(f, b, grid, block, s, st);\n"
        "  ld.param.b32 %r1, [e]; setp.ne.u32 %q, %r1, 0; @%q trap; ret; }\n";
    void *params[1];
    ptxiDevicePtr p;
    ptxiModule m;
    ptxiFunction k;
    unsigned result;

    (void)ctx;
    params[0] = &p;
    TRY(ptxiMemAlloc(&p, 64));
    if (!load(&m, &k, text))
        return false;
    TRY(ptxiLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    /* the kernel traps if the runtime returns an error */
    if (!fine(ptxiCtxSynchronize(), PTXI_ERROR_LAUNCH_FAILED, "a launch of children"))
        return false;
    TRY(ptxiMemcpyDtoH(&result, p, sizeof result));
    if (result != 6)
        die("a wrong result");
    return true;
}

static void count(void *user)
{
    ++*(unsigned *)user;
}

/* One node of each kind, each after the one before. The body of the conditional node has a host node. */
static bool add_nodes(ptxiContext ctx, ptxiGraph g, ptxiDevicePtr p, unsigned *counted)
{
    PTXI_MEMSET_NODE_PARAMS fill = { p, 0, 1, 4, 16, 1 };
    PTXI_MEMCPY3D copy = { .srcMemoryType = PTXI_MEMORYTYPE_DEVICE, .srcDevice = p,
                           .dstMemoryType = PTXI_MEMORYTYPE_DEVICE, .dstDevice = p + 64,
                           .WidthInBytes = 64, .Height = 1, .Depth = 1 };
    PTXI_HOST_NODE_PARAMS host = { count, counted };
    ptxiGraphNodeParams when = { .type = PTXI_GRAPH_NODE_TYPE_CONDITIONAL };
    ptxiGraphNode n[5];

    TRY(ptxiGraphAddMemsetNode(&n[0], g, NULL, 0, &fill, ctx));
    TRY(ptxiGraphAddMemcpyNode(&n[1], g, n, 1, &copy, ctx));
    TRY(ptxiGraphAddHostNode(&n[2], g, n, 2, &host));
    TRY(ptxiGraphAddEmptyNode(&n[3], g, n, 3));
    TRY(ptxiGraphConditionalHandleCreate(&when.value.conditional.handle, g, ctx, 1, PTXI_GRAPH_COND_ASSIGN_DEFAULT));
    when.value.conditional.type = PTXI_GRAPH_COND_TYPE_IF;
    when.value.conditional.size = 1;
    TRY(ptxiGraphAddNode(&n[4], g, n, NULL, 4, &when));
    TRY(ptxiGraphAddHostNode(&n[0], when.value.conditional.phGraph_out[0], NULL, 0, &host));
    return true;
}

bool use_nodes(ptxiContext ctx)
{
    unsigned counted = 0, result;
    ptxiDevicePtr p;
    ptxiStream s;
    ptxiGraph g, clone = NULL;
    ptxiGraphExec x = NULL;
    bool all;

    TRY(ptxiMemAlloc(&p, 128));
    TRY(ptxiStreamCreate(&s, 0));
    TRY(ptxiGraphCreate(&g, 0));
    all = add_nodes(ctx, g, p, &counted) && FINE(ptxiGraphClone(&clone, g)) && FINE(ptxiGraphInstantiate(&x, g, 0)) &&
        FINE(ptxiGraphLaunch(x, s));
    all = FINE(ptxiStreamSynchronize(s)) && all && FINE(ptxiMemcpyDtoH(&result, p + 64, sizeof result));
    if (all && (result != 1 || counted != 2))
        die("a graph did something else");
    if ((x && ptxiGraphExecDestroy(x)) || (clone && ptxiGraphDestroy(clone)) || ptxiGraphDestroy(g))
        die("a graph could not be destroyed");
    return all;
}

/* The size of allocations of other programs, so that the library can use their addresses again. */
enum { FEW_BYTES = 64 };

/* A captured allocation, which the graph fills and frees, and a node that writes a word. */
static bool run_with_memory(ptxiStream s, ptxiDevicePtr word, ptxiGraph *g, ptxiGraphExec *x)
{
    ptxiDevicePtr p;
    bool captured;

    TRY(ptxiStreamBeginCaptureToGraph(s, *g, NULL, NULL, 0, PTXI_STREAM_CAPTURE_MODE_RELAXED));
    captured = FINE(ptxiMemAllocAsync(&p, FEW_BYTES, s)) && FINE(ptxiMemsetD32Async(p, 7, FEW_BYTES / 4, s)) &&
        FINE(ptxiMemcpyDtoDAsync(word, p, 4, s)) && FINE(ptxiMemFreeAsync(p, s)) &&
        FINE(ptxiStreamWriteValue32(s, word + 4, 8, 0));
    captured = FINE(ptxiStreamEndCapture(s, g)) && captured;
    return captured && FINE(ptxiGraphInstantiate(x, *g, 0)) && FINE(ptxiGraphLaunch(*x, s));
}

bool use_graph_memory(ptxiContext ctx)
{
    ptxiDevicePtr word;
    ptxiStream s;
    ptxiGraph g;
    ptxiGraphExec x = NULL;
    bool all;

    (void)ctx;
    TRY(ptxiMemAlloc(&word, FEW_BYTES));
    TRY(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
    TRY(ptxiGraphCreate(&g, 0));
    all = run_with_memory(s, word, &g, &x);
    all = FINE(ptxiStreamSynchronize(s)) && all;
    if (all && (*(unsigned *)(uintptr_t)word != 7 || *(unsigned *)(uintptr_t)(word + 4) != 8))
        die("a graph with memory did something else");
    if ((x && ptxiGraphExecDestroy(x)) || (g && ptxiGraphDestroy(g))) /* a failed capture destroys it */
        die("a graph with memory could not be destroyed");
    return all;
}

/* Maps memory at two adjacent places. */
static bool map_twice(ptxiDevicePtr p, size_t size, ptxiMemGenericAllocationHandle h)
{
    ptxiMemAccessDesc d = { { PTXI_MEM_LOCATION_TYPE_DEVICE, 0 }, PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE };
    bool all;

    TRY(ptxiMemMap(p, size, 0, h, 0));
    if (!FINE(ptxiMemMap(p + size, size, 0, h, 0))) {
        if (ptxiMemUnmap(p, size))
            die("memory could not be unmapped");
        return false;
    }
    all = FINE(ptxiMemSetAccess(p, 2 * size, &d, 1)) && FINE(ptxiMemsetD8(p, 1, 2 * size));
    if (ptxiMemUnmap(p, 2 * size))
        die("memory could not be unmapped");
    return all;
}

bool use_mapped_memory(ptxiContext ctx)
{
    ptxiMemAllocationProp prop = { .type = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                                   .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE };
    ptxiMemGenericAllocationHandle h;
    const size_t size = 2 << 20;
    ptxiDevicePtr p, managed;
    bool all;

    (void)ctx;
    TRY(ptxiMemAllocManaged(&managed, FEW_BYTES, PTXI_MEM_ATTACH_GLOBAL));
    TRY(ptxiMemAdvise(managed + 16, 16, PTXI_MEM_ADVISE_SET_READ_MOSTLY, prop.location));
    TRY(ptxiMemPrefetchAsync(managed, FEW_BYTES, prop.location, 0, NULL));
    TRY(ptxiMemAddressReserve(&p, 2 * size, 0, 0, 0));
    all = FINE(ptxiMemCreate(&h, size, &prop, 0));
    if (all) {
        all = map_twice(p, size, h);
        if (ptxiMemRelease(h))
            die("memory could not be released");
    }
    if (ptxiMemAddressFree(p, 2 * size))
        die("addresses could not be freed");
    return all;
}

/* Imports a pool of this process, and its memory. */
static bool import_again(ptxiMemoryPool pool, ptxiDevicePtr p)
{
    const ptxiMemAllocationHandleType type = PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    ptxiMemPoolPtrExportData data;
    ptxiMemoryPool imported;
    ptxiDevicePtr q;
    int fd;

    TRY(ptxiMemPoolExportPointer(&data, p));
    TRY(ptxiMemPoolExportToShareableHandle(&fd, pool, type, 0));
    bool all = FINE(ptxiMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)fd, type, 0));

    close(fd);
    if (!all)
        return false;
    all = FINE(ptxiMemPoolImportPointer(&q, imported, &data)) && FINE(ptxiMemsetD8(q, 1, FEW_BYTES)) &&
          FINE(ptxiMemFreeAsync(q, NULL));
    if (ptxiMemPoolDestroy(imported))
        die("an imported pool could not be destroyed");
    return all;
}

/* Makes what other processes may use: memory in a slab and alone, an event, a pool. */
bool use_shared_memory(ptxiContext ctx)
{
    ptxiMemPoolProps props = { .allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                               .handleTypes = PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                               .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE };
    ptxiDevicePtr small, large, p;
    ptxiIpcEventHandle of_event;
    ptxiIpcMemHandle of_memory;
    ptxiMemoryPool pool;
    ptxiEvent e;

    (void)ctx;
    TRY(ptxiMemAlloc(&small, FEW_BYTES));
    TRY(ptxiMemAlloc(&large, (64 << 10) + 1));
    TRY(ptxiIpcGetMemHandle(&of_memory, small));
    TRY(ptxiIpcGetMemHandle(&of_memory, large));
    TRY(ptxiEventCreate(&e, PTXI_EVENT_INTERPROCESS | PTXI_EVENT_DISABLE_TIMING));
    TRY(ptxiIpcGetEventHandle(&of_event, e));
    TRY(ptxiEventRecord(e, NULL));
    TRY(ptxiMemPoolCreate(&pool, &props));
    bool all = FINE(ptxiMemAllocFromPoolAsync(&p, FEW_BYTES, pool, NULL)) && import_again(pool, p);

    if (ptxiMemPoolDestroy(pool))
        die("a pool could not be destroyed");
    return all;
}

static int twice(int x)
{
    return 2 * x;
}

static void ignore(void *user, unsigned long long done, unsigned long long blocks)
{
    (void)user, (void)done, (void)blocks;
}

static bool run_with_host(ptxiContext ctx, ptxiDevicePtr opened)
{
    static const char text[] = HEAD ".extern .func (.param .b32 r) twice(.param .b32 a);\n"
        ".visible .entry k(.param .u64 p) { .reg .b64 %p; .reg .b32 %r; .param .b32 r, a; ld.param.u64 %p, [p]; "
        "st.param.b32 [a], 21;\n"
        "  call (r), twice, (a); ld.param.b32 %r, [r]; st.global.u32 [%p], %r; ret; }\n";
    static _Alignas(4096) char registered[4096];
    void *host;
    ptxiDevicePtr p;
    ptxiModule m;
    ptxiFunction k;
    char *signature;

    TRY(ptxiCtxSetCounting(ctx, 1));
    TRY(ptxiCtxSetProgress(ctx, ignore, NULL));
    TRY(ptxiMemAllocHost(&host, 100));
    TRY(ptxiMemHostRegister(registered, sizeof registered, 0));
    TRY(ptxiMemHostGetDevicePointer(&p, registered, 0));
    if (!load(&m, &k, text))
        return false;
    TRY(ptxiModuleBindHostFunction(m, "twice", (ptxiHostFunction)twice, "int(int)"));
    TRY(ptxiFuncGetSignature(k, &signature));
    ptxiFree(signature);
    if (!gives(k, 32, p, 42) || !gives(k, 1, opened, 42) || !gives(k, 1, (uintptr_t)host, 42))
        return false;
    TRY(ptxiMemHostUnregister(registered));
    TRY(ptxiMemFreeHost(host));
    return true;
}

static bool add_arrays(void)
{
    unsigned sum[3], three[3] = { 3, 4, 5 };
    long long nine = 9;

    TRY(ptxiAsmArrays("add.u32 %0, %1, %2;", "=r,r,n", 3, (void *const[]){ sum, three, &nine }));
    if (sum[0] != 12 || sum[2] != 14)
        die("a wrong result of ptxiAsmArrays");
    return true;
}

bool use_host_memory(ptxiContext ctx)
{
    static unsigned opened[16];
    bool all;

    TRY(ptxiMemOpenRange(opened, sizeof opened, PTXI_RANGE_READ | PTXI_RANGE_WRITE));
    all = run_with_host(ctx, (uintptr_t)opened) && add_arrays();
    if (ptxiMemCloseRange(opened))
        die("the range could not be closed");
    return all;
}

enum { STREAMS = 4 };

/* Work in one stream each, ordered by events. Then another stream waits for all of them. */
static bool fork_and_join(ptxiStream *s, ptxiEvent *e, ptxiDevicePtr p, unsigned *counted)
{
    for (unsigned k = 0; k < STREAMS; k++) {
        if (k)
            TRY(ptxiStreamWaitEvent(s[k], e[k - 1], 0));
        TRY(ptxiMemsetD32Async(p + 4 * k, k + 1, 1, s[k]));
        TRY(ptxiLaunchHostFunc(s[k], count, counted));
        TRY(ptxiEventRecord(e[k], s[k]));
    }
    for (unsigned k = 0; k < STREAMS; k++)
        TRY(ptxiStreamWaitEvent(s[STREAMS], e[k], 0));
    TRY(ptxiMemcpyDtoDAsync(p + 4 * STREAMS, p, 4 * STREAMS, s[STREAMS]));
    return true;
}

static bool check_copies(ptxiDevicePtr p, unsigned counted)
{
    unsigned result[2 * STREAMS];

    TRY(ptxiMemcpyDtoH(result, p, sizeof result));
    for (unsigned k = 0; k < STREAMS; k++)
        if (result[k] != k + 1 || result[STREAMS + k] != k + 1)
            die("a wrong copy");
    if (counted != STREAMS)
        die("a host function was not called once");
    return true;
}

/* The same work as a graph, launched once. */
static bool run_captured(ptxiStream *s, ptxiEvent *e, ptxiDevicePtr p, unsigned *counted)
{
    ptxiGraph g = NULL;
    ptxiGraphExec x = NULL;
    bool all;

    TRY(ptxiMemsetD32(p, 0, 2 * STREAMS));
    TRY(ptxiStreamBeginCapture(s[0], PTXI_STREAM_CAPTURE_MODE_GLOBAL));
    *counted = 0;
    all = fork_and_join(s, e, p, counted) && FINE(ptxiEventRecord(e[STREAMS], s[STREAMS])) &&
        FINE(ptxiStreamWaitEvent(s[0], e[STREAMS], 0));
    if (!all) { /* an abandoned capture is invalid */
        ptxiStreamEndCapture(s[0], &g);
    } else {
        all = FINE(ptxiStreamEndCapture(s[0], &g)) && FINE(ptxiGraphInstantiate(&x, g, 0)) &&
            FINE(ptxiGraphLaunch(x, s[0])) &&
              FINE(ptxiStreamSynchronize(s[0])) && check_copies(p, *counted);
    }
    if (x)
        ptxiGraphExecDestroy(x);
    if (g)
        ptxiGraphDestroy(g);
    return all;
}

bool use_streams(ptxiContext ctx)
{
    static unsigned counted;
    ptxiStream s[STREAMS + 1];
    ptxiEvent e[STREAMS + 1];
    ptxiDevicePtr p;
    PTXI_MEMCPY2D copy = { .srcMemoryType = PTXI_MEMORYTYPE_DEVICE, .dstMemoryType = PTXI_MEMORYTYPE_DEVICE,
                           .WidthInBytes = 4 * STREAMS, .Height = 1 };

    (void)ctx;
    counted = 0;
    for (unsigned k = 0; k <= STREAMS; k++) {
        TRY(ptxiStreamCreateWithPriority(&s[k], PTXI_STREAM_DEFAULT, -(int)k));
        TRY(ptxiEventCreate(&e[k], 0));
    }
    TRY(ptxiMemAlloc(&p, 4096));
    if (!fork_and_join(s, e, p, &counted))
        return false;
    copy.srcDevice = p;
    copy.dstDevice = p + 1024;
    TRY(ptxiMemcpy2DAsync(&copy, NULL)); /* after all of them */
    TRY(ptxiEventRecord(e[STREAMS], PTXI_STREAM_PER_THREAD));
    TRY(ptxiCtxSynchronize());
    if (!check_copies(p, counted) || !run_captured(s, e, p, &counted))
        return false;
    for (unsigned k = 0; k <= STREAMS; k++) {
        TRY(ptxiStreamDestroy(s[k]));
        TRY(ptxiEventDestroy(e[k]));
    }
    return true;
}

static bool link_file(ptxiLinkState s, const char *path, ptxiModule *m)
{
    void *image;

    TRY(ptxiLinkAddFile(s, PTXI_JIT_INPUT_PTX, path, 0, NULL, NULL));
    TRY(ptxiLinkComplete(s, &image, NULL));
    TRY(ptxiModuleLoadData(m, image));
    return true;
}

/* Fat binaries: one text, and the texts of three programs in an ELF file. */
static bool load_binaries(const char *top)
{
    static const char *const files[] = { "plain.fatbin", "programs.elf" };
    char path[4096];
    ptxiModule m;

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/tests/unit/fatbin/%s", top, files[i]);
        ptxiResult r = ptxiModuleLoad(&m, path);

        if (r != PTXI_ERROR_NOT_SUPPORTED) /* a build without zstd */
            TRY(r);
    }
    return true;
}

/* A module from a file, one from a linked image, and some from fat binaries. */
bool use_files(ptxiContext ctx)
{
    const char *top = getenv("top_srcdir");
    char path[4096];
    ptxiLinkState s;
    ptxiModule m, linked;
    bool all;

    (void)ctx;
    snprintf(path, sizeof path, "%s/samples/lerp.ptx", top ? top : ".");
    TRY(ptxiModuleLoad(&m, path));
    TRY(ptxiLinkCreate(0, NULL, NULL, &s));
    all = link_file(s, path, &linked);
    if (ptxiLinkDestroy(s))
        die("the linker could not be destroyed");
    return all && load_binaries(top ? top : ".");
}

static bool use_library(ptxiLibrary l, ptxiStream s)
{
    ptxiMemPoolProps props = { .allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                               .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE };
    ptxiMemoryPool pool;
    ptxiKernel k;
    ptxiDevicePtr p;
    unsigned word = 0;
    bool ok;

    TRY(ptxiLibraryGetKernel(&k, l, "k"));
    TRY(ptxiMemPoolCreate(&pool, &props));
    ok = FINE(ptxiMemAllocFromPoolAsync(&p, 64, pool, s));
    if (ok) {
        void *params[] = { &p };

        ok = FINE(ptxiLaunchKernel((ptxiFunction)(void *)k, 1, 1, 1, 1, 1, 1, 0, s, params, NULL)) &&
            FINE(ptxiStreamSynchronize(s)) &&
             FINE(ptxiStreamWaitValue32(s, p, 42, PTXI_STREAM_WAIT_VALUE_EQ)) && FINE(ptxiMemcpyDtoHAsync(&word, p,
             sizeof word, s)) &&
             FINE(ptxiStreamSynchronize(s));
        if (ok && word != 42)
            die("a wrong result of a library");
        ok &= FINE(ptxiMemFreeAsync(p, s));
    }
    TRY(ptxiMemPoolDestroy(pool));
    return ok;
}

bool use_libraries(ptxiContext ctx)
{
    ptxiLibrary l;
    ptxiStream s;
    bool ok;

    (void)ctx;
    TRY(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
    TRY(ptxiLibraryLoadData(&l, HEAD ".visible .entry k(.param .u64 p) { .reg .b64 %p; .reg .b32 %r; "
                                     "ld.param.u64 %p, [p]; mov.b32 %r, 42; st.global.b32 [%p], %r; ret; }",
                            NULL, NULL, 0, NULL, NULL, 0));
    ok = use_library(l, s);
    TRY(ptxiLibraryUnload(l));
    return ok;
}

/* The kernel reads memory of device 1, and beyond it. Threads continue, and reports follow, if there is memory. */
static bool use_peer(ptxiContext ctx, ptxiContext peer, ptxiDevicePtr there)
{
    ptxiModule m;
    ptxiFunction k;
    ptxiDevicePtr p;

    TRY(ptxiCtxEnablePeerAccess(peer, 0));
    TRY(ptxiCtxSetOnFault(ctx, PTXI_ON_FAULT_REPORT));
    if (!load(&m, &k, HEAD ".visible .entry k(.param .u64 p, .param .u64 q) { .reg .b64 %p, %q; .reg .b32 %r<2>; "
                           "ld.param.u64 %p, [p]; ld.param.u64 %q, [q]; ld.global.b32 %r0, [%q]; "
                           "ld.global.b32 %r1, [%q+4096]; add.u32 %r0, %r0, %r1; st.global.b32 [%p], %r0; ret; }"))
        return false;
    TRY(ptxiMemAlloc(&p, 4096));
    TRY(ptxiLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &p, &there }, NULL));
    TRY(ptxiCtxSynchronize());
    if (*(const unsigned *)(uintptr_t)p != 42)
        die("a wrong result with a peer");
    return true;
}

bool use_peers(ptxiContext ctx)
{
    ptxiContext peer;
    ptxiDevicePtr there;

    TRY(ptxiCtxCreate(&peer, 0, 1));
    bool ok = FINE(ptxiMemAlloc(&there, 4096)) && FINE(ptxiMemsetD32(there, 42, 16));

    if (ptxiCtxPopCurrent(NULL))
        die("the context of a peer is not current");
    ok = ok && use_peer(ctx, peer, there);
    if (ptxiCtxDestroy(peer))
        die("the context of a peer could not be destroyed");
    return ok;
}

/* Saves, with a base, and restores. */
static bool save_and_restore(const char *first, const char *second, ptxiDevicePtr p)
{
    unsigned word = 0;
    size_t bytes;
    void *note;

    TRY(ptxiCtxSave(NULL, first, NULL, "note", 4));
    TRY(ptxiMemsetD32(p, 2, FEW_BYTES / 4));
    TRY(ptxiCtxSave(NULL, second, first, "more", 4));
    TRY(ptxiMemsetD32(p, 3, FEW_BYTES / 4));
    TRY(ptxiCtxRestore(NULL, second, &note, &bytes));
    if (bytes != 4 || memcmp(note, "more", 4))
        die("a wrong note of a snapshot");
    ptxiFree(note);
    TRY(ptxiMemcpyDtoH(&word, p, sizeof word));
    if (word != 2)
        die("a wrong result of a snapshot");
    return true;
}

/* Saves between the blocks. */
static bool launch_checkpointed(ptxiFunction k, const char *file)
{
    const ptxiCheckpoint checkpoint = { .size = sizeof checkpoint, .path = file, .note = "note", .noteBytes = 4 };
    const ptxiLaunchConfig config = { .gridDimX = 2, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1,
                                      .blockDimZ = 1 };

    TRY(ptxiLaunchCheckpointed(&config, k, NULL, NULL, &checkpoint));
    return true;
}

bool use_snapshots(ptxiContext ctx)
{
    char first[64], second[64];
    ptxiModule m;
    ptxiFunction k;
    ptxiDevicePtr p;
    bool all;

    (void)ctx;
    snprintf(first, sizeof first, "/tmp/ptxi-no-memory-%ld-1", (long)getpid());
    snprintf(second, sizeof second, "/tmp/ptxi-no-memory-%ld-2", (long)getpid());
    TRY(ptxiMemAlloc(&p, FEW_BYTES));
    TRY(ptxiMemsetD32(p, 1, FEW_BYTES / 4));
    if (!load(&m, &k, HEAD ".visible .global .b32 g[4]; .visible .entry k() { ret; }"))
        return false;
    all = save_and_restore(first, second, p) && launch_checkpointed(k, first);
    unlink(first);
    unlink(second);
    return all;
}

enum { PARTS = 3, PART_THREADS = 2 };

/* Runs a window and takes its changes. */
static bool run_part(ptxiFunction k, ptxiDevicePtr p, unsigned first, void **data, size_t *size)
{
    ptxiLaunchAttribute window = { .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW,
                                   .value.clusterWindow = { first, 1, 0 } };
    ptxiLaunchConfig config = { .gridDimX = PARTS, .gridDimY = 1, .gridDimZ = 1, .blockDimX = PART_THREADS,
                                .blockDimY = 1, .blockDimZ = 1, .attrs = &window, .numAttrs = 1 };
    ptxiRange range = { .base = (void *)(uintptr_t)p, .bytes = FEW_BYTES };

    TRY(ptxiMemsetD8(p, 0, FEW_BYTES));
    TRY(ptxiLaunchKernelEx(&config, k, (void *[]){ &p }, NULL));
    TRY(ptxiCtxSynchronize());
    TRY(ptxiCtxTakeChanges(NULL, &range, 1, data, size));
    return true;
}

static bool merge_parts(ptxiDevicePtr p, void *const *data, const size_t *sizes)
{
    ptxiRange range = { .base = (void *)(uintptr_t)p, .bytes = FEW_BYTES };
    const void *const all[PARTS] = { data[0], data[1], data[2] };
    float sum;
    unsigned last;

    TRY(ptxiMemsetD8(p, 0, FEW_BYTES));
    TRY(ptxiMergeChanges(&range, 1, all, sizes, PARTS, NULL));
    TRY(ptxiMemcpyDtoH(&sum, p, sizeof sum));
    TRY(ptxiMemcpyDtoH(&last, p + 32 + 4 * (PARTS * PART_THREADS - 1), sizeof last));
    if (sum != 6 || last != 5)
        die("a wrong result of a merge");
    return true;
}

bool use_windows(ptxiContext ctx)
{
    static const char text[] = HEAD ".visible .entry k(.param .u64 p) { .reg .b64 %p<3>; .reg .b32 %r<5>; "
        ".reg .f32 %f; ld.param.u64 %p0, [p]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; "
        "mad.lo.u32 %r2, %r0, 2, %r1; mad.wide.u32 %p1, %r2, 4, %p0; ld.global.u32 %r3, [%p1+32]; "
        "add.u32 %r4, %r3, %r2; st.global.u32 [%p1+32], %r4; mov.f32 %f, 0f3f800000; red.global.add.f32 [%p0], %f; "
        "ret; }";
    void *data[PARTS] = { NULL };
    size_t sizes[PARTS];
    ptxiModule m;
    ptxiFunction k;
    ptxiDevicePtr p;
    bool all = true;

    TRY(ptxiMemAlloc(&p, FEW_BYTES));
    if (!load(&m, &k, text))
        return false;
    TRY(ptxiCtxSetTracking(ctx, PTXI_TRACK_CHANGES | PTXI_TRACK_READS));
    for (unsigned n = 0; n < PARTS && all; n++)
        all = run_part(k, p, n, &data[n], &sizes[n]);
    all = all && merge_parts(p, data, sizes);
    for (unsigned n = 0; n < PARTS; n++)
        ptxiFree(data[n]);
    return all;
}
