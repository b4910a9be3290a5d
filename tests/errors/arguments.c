/* Chooses arguments for calls of ptxi.h: numbers at the ends of their ranges, NULL, empty memory, texts, and handles
 * that are valid, that belong to another world, or that are invalid. Each thread has its own memory and its own
 * rng_state. Worlds may be shared. */
#include "calls.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 1 << 14, PAGES = 12, MOST_ARGUMENTS = 24 };

const char call_text[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".global .u32 counter; .global .texref t; .global .surfref s;\n"
    ".extern .func (.param .u32 r) host(.param .u32 a);\n"
    ".visible .entry k() { .reg .u32 %r; atom.global.add.u32 %r, [counter], 1; ret; }\n"
    ".visible .entry p(.param .u64 at) { ret; }\n";

static char zeros[PAGE];
static ptxiStreamBatchMemOpParams operation = { .operation = PTXI_STREAM_MEM_OP_BARRIER };
static void *pointers[PAGE / sizeof(void *)]; /* reset to zeros */
static struct world *here, *elsewhere;

static _Thread_local struct {
    unsigned long long rng_state;
    char said[2000]; /* the call and its arguments, to debug a crash */
    unsigned count;
    struct argument at[MOST_ARGUMENTS];
    char pages[PAGES][PAGE];
} thread = { .rng_state = 1 };

void arguments_from(struct world *a, struct world *b)
{
    here = a;
    elsewhere = b;
    for (size_t k = 0; k < sizeof pointers / sizeof *pointers; k++)
        pointers[k] = zeros;
}

void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s, after %s\n", what, thread.said);
    abort();
}

void seed_arguments(unsigned long long seed)
{
    thread.rng_state = seed;
}

unsigned below(unsigned n)
{
    thread.rng_state = thread.rng_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(thread.rng_state >> 33) % n;
}

void nothing(void)
{
}

/* ---- worlds */

struct object find(struct world *w, const char *type)
{
    struct object found = { NULL, 0 };

    pthread_mutex_lock(&w->lock);
    for (unsigned k = 0, n = below(MOST_OBJECTS); k < w->count && !found.type; k++)
        if (!strcmp(w->objects[(n + k) % w->count].type, type))
            found = w->objects[(n + k) % w->count];
    pthread_mutex_unlock(&w->lock);
    return found;
}

void add(struct world *w, const char *type, unsigned long long value)
{
    pthread_mutex_lock(&w->lock);
    must(w->count < MOST_OBJECTS, "too many objects");
    w->objects[w->count++] = (struct object){ type, value };
    pthread_mutex_unlock(&w->lock);
}

/* ---- arguments */

#define GET(TYPE) (TYPE)find(w, #TYPE).value

void describe(struct world *w, const char *type, void *memory, size_t size)
{
#define MAKE(TYPE, ...) \
    if (!strcmp(type, #TYPE)) { \
        memcpy(memory, &(TYPE){ __VA_ARGS__ }, sizeof(TYPE)); \
        return; \
    }
    MAKE(ptxiReport, .size = sizeof(ptxiReport))
    MAKE(ptxiDiagnostic, .size = sizeof(ptxiDiagnostic))
    MAKE(ptxiCounters, .size = sizeof(ptxiCounters))
    MAKE(ptxiFinding, .size = sizeof(ptxiFinding))
    MAKE(ptxiCheckSummary, .size = sizeof(ptxiCheckSummary))
    MAKE(ptxiParam, .size = sizeof(ptxiParam))
    MAKE(ptxiLaunchConfig, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, 0)
    MAKE(PTXI_ARRAY_DESCRIPTOR, 4, 4, PTXI_AD_FORMAT_FLOAT, 4)
    MAKE(PTXI_ARRAY3D_DESCRIPTOR, 8, 8, 0, PTXI_AD_FORMAT_UNSIGNED_INT8, 4, PTXI_ARRAY3D_SURFACE_LDST)
    MAKE(PTXI_RESOURCE_DESC, .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = GET(ptxiArray))
    MAKE(PTXI_TEXTURE_DESC, .flags = PTXI_TRSF_READ_AS_INTEGER)
    MAKE(PTXI_KERNEL_NODE_PARAMS, GET(ptxiFunction), 1, 1, 1, 32, 1, 1, .kernelParams = pointers)
    MAKE(PTXI_MEMSET_NODE_PARAMS, GET(ptxiDevicePtr), 0, 1, 4, 16, 1)
    MAKE(ptxiMemPoolProps, .allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = (int)below(2),
         .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE)
    MAKE(ptxiMemAllocationProp, .type = PTXI_MEM_ALLOCATION_TYPE_PINNED, .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE)
    MAKE(ptxiMemLocation, PTXI_MEM_LOCATION_TYPE_DEVICE, 0)
    MAKE(ptxiMemAccessDesc, .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE,
         .flags = PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE)
    MAKE(ptxiStreamBatchMemOpParams, .operation = PTXI_STREAM_MEM_OP_WAIT_VALUE_32, .address = GET(ptxiDevicePtr),
         .value64 = 1)
    MAKE(PTXI_MEM_ALLOC_NODE_PARAMS, .poolProps.allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED,
         .poolProps.location.type = PTXI_MEM_LOCATION_TYPE_DEVICE, .bytesize = MEMORY)
    MAKE(PTXI_BATCH_MEM_OP_NODE_PARAMS, .ctx = GET(ptxiContext), .count = 1, .paramArray = &operation)
    MAKE(PTXI_HOST_NODE_PARAMS, .fn = (ptxiHostFn)nothing)
    MAKE(PTXI_MEMCPY2D, .srcMemoryType = PTXI_MEMORYTYPE_HOST, .srcHost = zeros,
         .dstMemoryType = PTXI_MEMORYTYPE_DEVICE,
         .dstDevice = GET(ptxiDevicePtr), .WidthInBytes = 16, .Height = 1)
    MAKE(PTXI_MEMCPY3D, .srcMemoryType = PTXI_MEMORYTYPE_ARRAY, .srcArray = GET(ptxiArray),
         .dstMemoryType = PTXI_MEMORYTYPE_DEVICE,
         .dstDevice = GET(ptxiDevicePtr), .WidthInBytes = 16, .Height = 1, .Depth = 1)
#undef MAKE
    struct object o = find(w, type);

    for (size_t k = 0; o.type && k + sizeof o.value <= size; k += sizeof o.value)
        memcpy((char *)memory + k, &o.value, sizeof o.value);
}

/* A separate page for each argument of a call. */
static void *memory(const char *type, const char *name)
{
    char *page = thread.pages[thread.count % PAGES], of[64];

    memset(page, 0, PAGE);
    switch (below(4)) {
    case 0:
        return NULL;
    case 1:
        if (!strcmp(name, "image") || !strcmp(name, "data") || !strcmp(name, "code"))
            strcpy(page, call_text);
        if (!strcmp(type, "void **") || !strcmp(type, "void *const *"))
            memcpy(page, pointers, sizeof pointers);
        return page;
    default:
        if (sscanf(type, "const %60[A-Za-z0-9_]", of) == 1 || sscanf(type, "%60[A-Za-z0-9_]", of) == 1)
            describe(here, of, page, PAGE);
        return page;
    }
}

static const char *any_text(void)
{
    static const char *const texts[] = { "", "k", "t", "s", "host", "int(int)", "counter", "sm_90",
                                         "there is no such file", "add.u32 %0, %1, %2;" };

    return below(8) ? texts[below(sizeof texts / sizeof *texts)] : NULL;
}

/* Files that a call may write. */
static const char *any_file(void)
{
    static const char *const files[] = { "/dev/null", "/dev/full", "", "there is no such directory/file" };

    return files[below(sizeof files / sizeof *files)];
}

/* Element counts do not exceed the memory, and grids are small. */
static unsigned long long number(const char *type, const char *name)
{
    static const unsigned long long numbers[] = {
        1, 0, 2, 3, 4, 16, 31, 32, 33, 1024, MEMORY, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 63,
            ~0ull - 4095, ~0ull
    };
    unsigned count = sizeof numbers / sizeof *numbers;

    if (strstr(name, "gridDim") || strstr(name, "blockDim"))
        count = 3;
    else if (here->disturbed && !strcmp(name, "ByteCount"))
        count = 8; /* of a copy from freed memory, which the library takes for other memory of the process */
    else if (!strncmp(name, "num", 3) || !strcmp(name, "size") || !strcmp(name, "len") || !strcmp(name, "threads") ||
             !strcmp(name, "dataSize") || (!strcmp(name, "count") && !strcmp(type, "size_t")))
        count = 8;
    return numbers[below(below(3) ? count : 3)];
}

static unsigned long long handle(const char *type, struct object o)
{
    switch (below(8)) {
    case 0:
        return 0;
    case 1:
        return !strcmp(type, "ptxiDevicePtr") ? o.value + MEMORY - 1 : !strcmp(type, "ptxiStream") ? 1 + below(2)
            : (uintptr_t)zeros;
    case 2:
        return find(elsewhere, type).value;
    default:
        return o.value;
    }
}

static unsigned long long choose(const char *type, const char *name)
{
    struct object o = find(here, type);

    if (o.type)
        return handle(type, o);
    if (!strcmp(type, "function"))
        return below(2) ? (uintptr_t)nothing : 0;
    if (!strcmp(type, "const char *"))
        return (uintptr_t)(strcmp(name, "path") ? any_text() : any_file());
    return type[strlen(type) - 1] == '*' ? (uintptr_t)memory(type, name) : number(type, name);
}

unsigned long long argument(const char *type, const char *name)
{
    unsigned long long v = choose(type, name);
    size_t n = strlen(thread.said);

    if (thread.count < MOST_ARGUMENTS)
        thread.at[thread.count++] = (struct argument){ type, v };
    snprintf(thread.said + n, sizeof thread.said - n, " %s=%#llx", name, v);
    return v;
}

void *structure(const char *type, const char *name)
{
    void *page = thread.pages[thread.count % PAGES];

    (void)argument(type, name); /* takes the page */
    memset(page, 0, PAGE);
    if (below(4))
        describe(here, type, page, PAGE);
    return page;
}

ptxiResult call_with_arguments(const struct call *c)
{
    thread.count = 0;
    snprintf(thread.said, sizeof thread.said, "%s:", c->name);
    return c->with_any_arguments();
}

unsigned arguments_of_call(const struct argument **at)
{
    *at = thread.at;
    return thread.count;
}

/* ---- objects of a world */

#define ADD(TYPE, CALL) \
    do { \
        TYPE made; \
        ptxiResult r_ = (CALL); \
        must(!r_ || w->disturbed, #CALL); \
        if (!r_) \
            add(w, #TYPE, (unsigned long long)made); \
    } while (0)
/* ... from a structure */
#define ADD_LIKE(TYPE, MODEL, CALL) \
    do { \
        MODEL like; \
        describe(w, #MODEL, &like, sizeof like); \
        ADD(TYPE, CALL); \
    } while (0)

static void make_graph(struct world *w)
{
    ADD(ptxiGraph, ptxiGraphCreate(&made, 0));
    ADD(ptxiGraphNode, ptxiGraphAddEmptyNode(&made, GET(ptxiGraph), NULL, 0));
    ADD(ptxiGraphNode, ptxiGraphAddChildGraphNode(&made, GET(ptxiGraph), NULL, 0, GET(ptxiGraph)));
    ADD_LIKE(ptxiGraphNode, PTXI_KERNEL_NODE_PARAMS, ptxiGraphAddKernelNode(&made, GET(ptxiGraph), NULL, 0, &like));
    ADD_LIKE(ptxiGraphNode, PTXI_HOST_NODE_PARAMS, ptxiGraphAddHostNode(&made, GET(ptxiGraph), NULL, 0, &like));
    ADD_LIKE(ptxiGraphNode, PTXI_MEMCPY3D, ptxiGraphAddMemcpyNode(&made, GET(ptxiGraph), NULL, 0, &like,
                                                                  GET(ptxiContext)));
    ADD_LIKE(ptxiGraphNode, PTXI_MEMSET_NODE_PARAMS, ptxiGraphAddMemsetNode(&made, GET(ptxiGraph), NULL, 0, &like,
                                                                            GET(ptxiContext)));
    ADD_LIKE(ptxiGraphNode, PTXI_BATCH_MEM_OP_NODE_PARAMS,
             ptxiGraphAddBatchMemOpNode(&made, GET(ptxiGraph), NULL, 0, &like));
    ADD(ptxiUserObject, ptxiUserObjectCreate(&made, NULL, (ptxiHostFn)nothing, 3, PTXI_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    ADD(ptxiGraphExec, ptxiGraphInstantiate(&made, GET(ptxiGraph), 0));
}

void make_world(struct world *w)
{
    ADD(ptxiContext, ptxiCtxCreate(&made, 0, 0));
    ptxiCtxSetWorkers(GET(ptxiContext), 1);
    ADD(ptxiModule, ptxiModuleLoadData(&made, call_text));
    ADD(ptxiFunction, ptxiModuleGetFunction(&made, GET(ptxiModule), below(4) ? "k" : "p"));
    ADD(ptxiTexRef, ptxiModuleGetTexRef(&made, GET(ptxiModule), "t"));
    ADD(ptxiSurfRef, ptxiModuleGetSurfRef(&made, GET(ptxiModule), "s"));
    ADD(ptxiDevicePtr, ptxiMemAlloc(&made, MEMORY));
    ADD(ptxiStream, ptxiStreamCreate(&made, below(2)));
    ADD(ptxiEvent, ptxiEventCreate(&made, 0));
    ADD(ptxiLinkState, ptxiLinkCreate(0, NULL, NULL, &made));
    ADD(ptxiLibrary, ptxiLibraryLoadData(&made, call_text, NULL, NULL, 0, NULL, NULL, 0));
    ADD(ptxiKernel, ptxiLibraryGetKernel(&made, GET(ptxiLibrary), "k"));
    ADD(ptxiMemoryPool, ptxiDeviceGetDefaultMemPool(&made, 0));
    ADD_LIKE(ptxiArray, PTXI_ARRAY3D_DESCRIPTOR, ptxiArray3DCreate(&made, &like));
    ADD_LIKE(ptxiMipmappedArray, PTXI_ARRAY3D_DESCRIPTOR, ptxiMipmappedArrayCreate(&made, &like, 3));
    ADD_LIKE(ptxiTexObject, PTXI_RESOURCE_DESC, ptxiTexObjectCreate(&made, &like, &(PTXI_TEXTURE_DESC){ .flags = 0 },
                                                                    NULL));
    ADD_LIKE(ptxiSurfObject, PTXI_RESOURCE_DESC, ptxiSurfObjectCreate(&made, &like));
    make_graph(w);
}

static ptxiResult count_threads(unsigned *counted)
{
    ptxiDevicePtr counter;
    ptxiFunction f;
    ptxiModule m;
    ptxiResult r = ptxiModuleLoadData(&m, call_text);

    if (r || (r = ptxiModuleGetFunction(&f, m, "k")) || (r = ptxiModuleGetGlobal(&counter, NULL, m, "counter")) ||
        (r = ptxiLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL)))
        return r;
    return ptxiMemcpyDtoH(counted, counter, sizeof *counted);
}

ptxiResult run_program(unsigned *counted)
{
    ptxiContext ctx;
    ptxiResult r = ptxiCtxCreate(&ctx, 0, 0);

    if (r)
        return r;
    r = count_threads(counted);
    ptxiResult ended = ptxiCtxDestroy(ctx);

    return r ? r : ended;
}
