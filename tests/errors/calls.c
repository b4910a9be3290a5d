/* Every call of ptxi.h with any arguments: numbers at the ends of their ranges, NULL and empty memory, texts, handles of this
 * context, of another one and of none. Whatever they answer, the process lives and the next program works. calls.awk makes the
 * calls from the header. What a program may not do is left out: handles after their end, and memory smaller than it says. */
#include "calls.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 2000, CALLS = 12, PAGE = 1 << 14, MOST_OBJECTS = 32, MEMORY = 4096, SECONDS = 100 };

struct object {
    const char *type;
    unsigned long long value;
};

struct world { /* a context and what there is in it */
    struct object objects[MOST_OBJECTS];
    unsigned count;
};

static const char text[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".global .u32 counter; .global .texref t; .global .surfref s;\n"
    ".extern .func (.param .u32 r) host(.param .u32 a);\n"
    ".visible .entry k() { .reg .u32 %r; atom.global.add.u32 %r, [counter], 1; ret; }\n"
    ".visible .entry p(.param .u64 at) { ret; }\n";

static struct world here, elsewhere;
static char zeros[PAGE], pages[12][PAGE];
static void *pointers[PAGE / sizeof(void *)]; /* to zeros */
static char said[2000];                       /* the call and its arguments, for who debugs a crash */
static unsigned argument_count;

/* Calls leave things behind. */
PTXI_API const char *__lsan_default_options(void);
PTXI_API const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}

/* They copy and fill the same memory at once, too: a race of this program's, not of the library's. */
PTXI_API const char *__tsan_default_suppressions(void);
PTXI_API const char *__tsan_default_suppressions(void)
{
    return "race:copy_rows\nrace:fill_row\n";
}

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s, after %s\n", what, said);
    abort();
}
#define OK(call) must((call) == PTXI_SUCCESS, #call)

static unsigned below(unsigned n)
{
    static unsigned long long state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static void nothing(void)
{
}

/* Any one of that type, or NULL. */
static const struct object *find(const struct world *w, const char *type)
{
    for (unsigned k = 0, n = below(MOST_OBJECTS); k < w->count; k++)
        if (!strcmp(w->objects[(n + k) % w->count].type, type))
            return &w->objects[(n + k) % w->count];
    return NULL;
}
#define GET(TYPE) (TYPE)find(w, #TYPE)->value

/* Fills memory with a structure that a call can make something of, or with things of that type; leaves it where there are none. */
static void describe(const struct world *w, const char *type, void *memory, size_t size)
{
#define MAKE(TYPE, ...) \
    if (!strcmp(type, #TYPE)) { \
        memcpy(memory, &(TYPE){ __VA_ARGS__ }, sizeof(TYPE)); \
        return; \
    }
    MAKE(ptxiReport, .size = sizeof(ptxiReport))
    MAKE(ptxiDiagnostic, .size = sizeof(ptxiDiagnostic))
    MAKE(ptxiCounters, .size = sizeof(ptxiCounters))
    MAKE(ptxiParam, .size = sizeof(ptxiParam))
    MAKE(ptxiLaunchConfig, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, 0)
    MAKE(PTXI_ARRAY_DESCRIPTOR, 4, 4, PTXI_AD_FORMAT_FLOAT, 4)
    MAKE(PTXI_ARRAY3D_DESCRIPTOR, 8, 8, 0, PTXI_AD_FORMAT_UNSIGNED_INT8, 4, PTXI_ARRAY3D_SURFACE_LDST)
    MAKE(PTXI_RESOURCE_DESC, .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = GET(ptxiArray))
    MAKE(PTXI_TEXTURE_DESC, .flags = PTXI_TRSF_READ_AS_INTEGER)
    MAKE(PTXI_KERNEL_NODE_PARAMS, GET(ptxiFunction), 1, 1, 1, 32, 1, 1, .kernelParams = pointers)
    MAKE(PTXI_MEMSET_NODE_PARAMS, GET(ptxiDevicePtr), 0, 1, 4, 16, 1)
    MAKE(ptxiMemPoolProps, .allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED, .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE)
    MAKE(ptxiMemLocation, PTXI_MEM_LOCATION_TYPE_DEVICE, 0)
    MAKE(ptxiMemAccessDesc, .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE, .flags = PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE)
    MAKE(ptxiStreamBatchMemOpParams, .operation = PTXI_STREAM_MEM_OP_WAIT_VALUE_32, .address = GET(ptxiDevicePtr), .value64 = 1)
    MAKE(PTXI_HOST_NODE_PARAMS, .fn = (ptxiHostFn)nothing)
    MAKE(PTXI_MEMCPY2D, .srcMemoryType = PTXI_MEMORYTYPE_HOST, .srcHost = zeros, .dstMemoryType = PTXI_MEMORYTYPE_DEVICE,
         .dstDevice = GET(ptxiDevicePtr), .WidthInBytes = 16, .Height = 1)
    MAKE(PTXI_MEMCPY3D, .srcMemoryType = PTXI_MEMORYTYPE_ARRAY, .srcArray = GET(ptxiArray), .dstMemoryType = PTXI_MEMORYTYPE_DEVICE,
         .dstDevice = GET(ptxiDevicePtr), .WidthInBytes = 16, .Height = 1, .Depth = 1)
#undef MAKE
    const struct object *o = find(w, type);

    for (size_t k = 0; o && k + sizeof o->value <= size; k += sizeof o->value)
        memcpy((char *)memory + k, &o->value, sizeof o->value);
}

/* A page of its own for each argument of a call. */
static void *memory(const char *type, const char *name)
{
    char *page = pages[argument_count % (sizeof pages / sizeof *pages)], of[64];

    memset(page, 0, PAGE);
    switch (below(4)) {
    case 0:
        return NULL;
    case 1:
        if (!strcmp(name, "image") || !strcmp(name, "data") || !strcmp(name, "code"))
            strcpy(page, text);
        if (!strcmp(type, "void **") || !strcmp(type, "void *const *"))
            memcpy(page, pointers, sizeof pointers);
        return page;
    default:
        if (sscanf(type, "const %60[A-Za-z0-9_]", of) == 1 || sscanf(type, "%60[A-Za-z0-9_]", of) == 1)
            describe(&here, of, page, PAGE);
        return page;
    }
}

static const char *any_text(void)
{
    static const char *const texts[] = { "", "k", "t", "s", "host", "int(int)", "counter", "sm_90", "there is no such file", "add.u32 %0, %1, %2;" };

    return below(8) ? texts[below(sizeof texts / sizeof *texts)] : NULL;
}

/* Counts of elements are no more than there is memory for, and grids what is run in no time. */
static unsigned long long number(const char *name)
{
    static const unsigned long long numbers[] = {
        1, 0, 2, 3, 4, 16, 31, 32, 33, 1024, MEMORY, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 63, ~0ull - 4095, ~0ull
    };
    unsigned count = sizeof numbers / sizeof *numbers;

    if (strstr(name, "gridDim") || strstr(name, "blockDim"))
        count = 3;
    else if (!strncmp(name, "num", 3) || !strcmp(name, "size") || !strcmp(name, "len") || !strcmp(name, "threads"))
        count = 8;
    return numbers[below(below(3) ? count : 3)];
}

static unsigned long long handle(const char *type, const struct object *o)
{
    switch (below(8)) {
    case 0:
        return 0;
    case 1:
        return !strcmp(type, "ptxiDevicePtr") ? o->value + MEMORY - 1 : !strcmp(type, "ptxiStream") ? 1 + below(2) : (uintptr_t)zeros;
    case 2:
        return find(&elsewhere, type)->value;
    default:
        return o->value;
    }
}

static unsigned long long choose(const char *type, const char *name)
{
    const struct object *o = find(&here, type);

    if (o)
        return handle(type, o);
    if (!strcmp(type, "function"))
        return below(2) ? (uintptr_t)nothing : 0;
    if (!strcmp(type, "const char *"))
        return (uintptr_t)any_text();
    return type[strlen(type) - 1] == '*' ? (uintptr_t)memory(type, name) : number(name);
}

unsigned long long argument(const char *type, const char *name)
{
    unsigned long long v = choose(type, name);
    size_t n = strlen(said);

    argument_count++;
    snprintf(said + n, sizeof said - n, " %s=%#llx", name, v);
    return v;
}

static void add(struct world *w, const char *type, unsigned long long value)
{
    must(w->count < MOST_OBJECTS, "too many objects");
    w->objects[w->count++] = (struct object){ type, value };
}
#define ADD(TYPE, CALL) \
    do { \
        TYPE made; \
        OK(CALL); \
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
    ADD_LIKE(ptxiGraphNode, PTXI_MEMCPY3D, ptxiGraphAddMemcpyNode(&made, GET(ptxiGraph), NULL, 0, &like, GET(ptxiContext)));
    ADD_LIKE(ptxiGraphNode, PTXI_MEMSET_NODE_PARAMS, ptxiGraphAddMemsetNode(&made, GET(ptxiGraph), NULL, 0, &like, GET(ptxiContext)));
    ADD(ptxiGraphExec, ptxiGraphInstantiate(&made, GET(ptxiGraph), 0));
}

static void make(struct world *w)
{
    w->count = 0;
    ADD(ptxiContext, ptxiCtxCreate(&made, 0, 0));
    OK(ptxiCtxSetWorkers(GET(ptxiContext), 1));
    ADD(ptxiModule, ptxiModuleLoadData(&made, text));
    ADD(ptxiFunction, ptxiModuleGetFunction(&made, GET(ptxiModule), below(4) ? "k" : "p"));
    ADD(ptxiTexRef, ptxiModuleGetTexRef(&made, GET(ptxiModule), "t"));
    ADD(ptxiSurfRef, ptxiModuleGetSurfRef(&made, GET(ptxiModule), "s"));
    ADD(ptxiDevicePtr, ptxiMemAlloc(&made, MEMORY));
    ADD(ptxiStream, ptxiStreamCreate(&made, below(2)));
    ADD(ptxiEvent, ptxiEventCreate(&made, 0));
    ADD(ptxiLinkState, ptxiLinkCreate(0, NULL, NULL, &made));
    ADD(ptxiLibrary, ptxiLibraryLoadData(&made, text, NULL, NULL, 0, NULL, NULL, 0));
    ADD(ptxiKernel, ptxiLibraryGetKernel(&made, GET(ptxiLibrary), "k"));
    ADD(ptxiMemoryPool, ptxiDeviceGetDefaultMemPool(&made, 0));
    ADD_LIKE(ptxiArray, PTXI_ARRAY3D_DESCRIPTOR, ptxiArray3DCreate(&made, &like));
    ADD_LIKE(ptxiMipmappedArray, PTXI_ARRAY3D_DESCRIPTOR, ptxiMipmappedArrayCreate(&made, &like, 3));
    ADD_LIKE(ptxiTexObject, PTXI_RESOURCE_DESC, ptxiTexObjectCreate(&made, &like, &(PTXI_TEXTURE_DESC){ .flags = 0 }, NULL));
    ADD_LIKE(ptxiSurfObject, PTXI_RESOURCE_DESC, ptxiSurfObjectCreate(&made, &like));
    make_graph(w);
}

/* A stream that waits for a word may do so for ever. */
static void do_call(const struct call *c)
{
    argument_count = 0;
    snprintf(said, sizeof said, "%s:", c->name);
    c->with_any_arguments();
    if (strstr(c->name, "WaitValue") || strstr(c->name, "MemOp"))
        ptxiCtxInterrupt(NULL);
}

/* Whether later calls could use what the call ends. */
static bool ends(const struct call *c)
{
    static const char *const words[] = { "Destroy", "Unload", "Free", "Release", "Reset", "LinkComplete", "Unregister" };

    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strstr(c->name, words[k]))
            return true;
    return false;
}

/* The program that works whatever was called before. */
static void run_program(void)
{
    unsigned counted;
    ptxiDevicePtr counter;
    ptxiFunction f;
    ptxiModule m;
    ptxiContext ctx;

    OK(ptxiCtxCreate(&ctx, 0, 0));
    OK(ptxiModuleLoadData(&m, text));
    OK(ptxiModuleGetFunction(&f, m, "k"));
    OK(ptxiModuleGetGlobal(&counter, NULL, m, "counter"));
    OK(ptxiLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    OK(ptxiMemcpyDtoH(&counted, counter, sizeof counted));
    must(counted == 64, "a wrong result");
    OK(ptxiCtxDestroy(ctx));
}

static void do_round(unsigned n)
{
    ptxiContext ctx;

    make(&elsewhere);
    make(&here);
    for (unsigned k = 0; k < CALLS; k++) {
        const struct call *c = &calls[below(call_count)];

        if (!ends(c))
            do_call(c);
    }
    do_call(&calls[n % call_count]);
    run_program();
    ptxiCtxDestroy((ptxiContext)find(&here, "ptxiContext")->value);
    ptxiCtxDestroy((ptxiContext)find(&elsewhere, "ptxiContext")->value);
    while (ptxiCtxPopCurrent(&ctx) == PTXI_SUCCESS)
        ;
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : ROUNDS;

    for (size_t k = 0; k < sizeof pointers / sizeof *pointers; k++)
        pointers[k] = zeros;
    alarm(SECONDS);
    OK(ptxiInit(0));
    for (unsigned n = 0; n < rounds; n++)
        do_round(n);
    printf("%u rounds of %d of %u calls\n", rounds, CALLS + 1, call_count);
    return call_count < 200;
}
