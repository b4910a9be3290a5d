/* ptxi.h: run PTX on a CPU. The only public header of libptxi.
 *
 * The calls have the names, argument order, handle meanings and numbers of the CUDA driver API, with `ptxi` for `cu`
 * and `PTXI_` for `CU_` or `CUDA_`; where the driver has several versions of a call, this is the shape of `_v2`.
 * What a driver does not have stands in the last section.
 *
 *   ptxiInit(0); ptxiDeviceGet(&dev, 0); ptxiCtxCreate(&ctx, 0, dev);
 *   ptxiModuleLoad(&mod, "lerp.ptx"); ptxiModuleGetFunction(&f, mod, "lerp"); ptxiMemAlloc(&p, bytes);
 *   ptxiLaunchKernel(f, 1,1,1, 128,1,1, 0, NULL, params, NULL);
 *   if (ptxiCtxSynchronize() != PTXI_SUCCESS) { ptxiReport r = { sizeof r }; ptxiGetLastReport(NULL, &r); puts(r.text); }
 *
 * Device memory is host memory: a ptxiDevicePtr is the host address of the same byte, so the host may look at it
 * whenever no kernel or queued copy is writing it.
 *
 * Said once, for every call, unless its own text differs:
 *  Errors   PTXI_ERROR_NOT_INITIALIZED before ptxiInit and in a child made by fork(); PTXI_ERROR_INVALID_CONTEXT where the
 *           call needs a current context and the thread has none; PTXI_ERROR_INVALID_VALUE for a NULL result pointer;
 *           PTXI_ERROR_NOT_PERMITTED inside a host function run by a stream. On an error no output is written.
 *  Failures of asynchronous work are returned once, by the next call that synchronises with the stream it ran in
 *           (Synchronize, Query, and the copies and memsets without Async). Until then, work queued in that stream is
 *           dropped. The context lives on.
 *  Threads  any host thread, any number at once. What a call uses stays alive until it returns, also if another thread destroys
 *           it meanwhile. A call that names a destroyed object returns PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_CONTEXT_IS_DESTROYED
 *           if its context is destroyed or being destroyed. Handles of destroyed objects may be given out again for new ones.
 *  Strings  given to a call are copied. Strings returned live as long as the handle they were asked from. */
#ifndef PTXI_H
#define PTXI_H

#include <stddef.h>
#include <stdint.h>

#define PTXI_VERSION_MAJOR 0
#define PTXI_VERSION_MINOR 1
#define PTXI_VERSION_PATCH 0
#define PTXI_VERSION (PTXI_VERSION_MAJOR * 10000 + PTXI_VERSION_MINOR * 100 + PTXI_VERSION_PATCH)

/* The driver whose API this header follows, as ptxiDriverGetVersion() returns it. */
#define PTXI_DRIVER_VERSION 13000

#if defined(__GNUC__) || defined(__clang__)
#define PTXI_API __attribute__((visibility("default")))
#else
#define PTXI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- results ------------------------------------------------------------------------------------------------- */

/*  X(name, number, what it means): ptxiResult, ptxiGetErrorName() and ptxiGetErrorString() are made from this list. */
#define PTXI_RESULTS(X) \
    X(SUCCESS,                            0, "no error") \
    X(ERROR_INVALID_VALUE,                1, "an argument is out of range or NULL") \
    X(ERROR_OUT_OF_MEMORY,                2, "not enough memory") \
    X(ERROR_NOT_INITIALIZED,              3, "ptxiInit has not been called in this process") \
    X(ERROR_DEINITIALIZED,                4, "the library is shutting down") \
    X(ERROR_NO_DEVICE,                  100, "no device is available") \
    X(ERROR_INVALID_DEVICE,             101, "no such device or device profile") \
    X(ERROR_INVALID_IMAGE,              200, "the image is not a PTX module") \
    X(ERROR_INVALID_CONTEXT,            201, "no context is current, or it is not a valid one") \
    X(ERROR_NO_BINARY_FOR_GPU,          209, "the module cannot run on this device profile") \
    X(ERROR_UNSUPPORTED_LIMIT,          215, "this limit does not exist on the device") \
    X(ERROR_CONTEXT_ALREADY_IN_USE,     216, "the context is in use by another thread") \
    X(ERROR_INVALID_PTX,                218, "the PTX does not follow the PTX ISA") \
    X(ERROR_UNSUPPORTED_PTX_VERSION,    222, "the PTX uses a version that is not known") \
    X(ERROR_UNSUPPORTED_EXEC_AFFINITY,  224, "contexts cannot be limited to a part of the device") \
    X(ERROR_INVALID_SOURCE,             300, "the source is not valid") \
    X(ERROR_FILE_NOT_FOUND,             301, "the file cannot be opened") \
    X(ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302, "an external symbol of the module is not defined anywhere") \
    X(ERROR_OPERATING_SYSTEM,           304, "a call to the operating system failed") \
    X(ERROR_INVALID_HANDLE,             400, "a handle is not valid here") \
    X(ERROR_ILLEGAL_STATE,              401, "an object is not in a state that allows the call") \
    X(ERROR_LOSSY_QUERY,                402, "the answer would leave out what is known of an edge") \
    X(ERROR_NOT_FOUND,                  500, "no such name, symbol or entry") \
    X(ERROR_NOT_READY,                  600, "work has not finished yet") \
    X(ERROR_ILLEGAL_ADDRESS,            700, "a kernel accessed memory that it may not access") \
    X(ERROR_LAUNCH_OUT_OF_RESOURCES,    701, "the launch needs more registers, threads or parameters than there are") \
    X(ERROR_LAUNCH_TIMEOUT,             702, "a kernel ran past its time limit or instruction budget") \
    X(ERROR_PRIMARY_CONTEXT_ACTIVE,     708, "the primary context is in use") \
    X(ERROR_CONTEXT_IS_DESTROYED,       709, "the context has been destroyed") \
    X(ERROR_ASSERT,                     710, "a device-side assertion failed") \
    X(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, "the host memory is already registered") \
    X(ERROR_HOST_MEMORY_NOT_REGISTERED, 713, "the host memory is not registered") \
    X(ERROR_HARDWARE_STACK_ERROR,       714, "a thread's call stack overflowed or was corrupted") \
    X(ERROR_ILLEGAL_INSTRUCTION,        715, "a kernel reached an instruction that cannot be executed") \
    X(ERROR_MISALIGNED_ADDRESS,         716, "a kernel accessed memory at an address that is not aligned") \
    X(ERROR_INVALID_ADDRESS_SPACE,      717, "an instruction got an address of another state space") \
    X(ERROR_INVALID_PC,                 718, "a kernel branched or called to an invalid place") \
    X(ERROR_LAUNCH_FAILED,              719, "a kernel failed") \
    X(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, "the cooperative grid does not fit on the device at once") \
    X(ERROR_NOT_PERMITTED,              800, "the call is not permitted here") \
    X(ERROR_NOT_SUPPORTED,              801, "the call or option is not supported") \
    X(ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "the call is not possible while a stream is captured") \
    X(ERROR_STREAM_CAPTURE_INVALIDATED, 901, "an earlier call has spoilt the capture") \
    X(ERROR_STREAM_CAPTURE_MERGE,       902, "an event would make one capture of two") \
    X(ERROR_STREAM_CAPTURE_UNMATCHED,   903, "the capture was begun in another stream") \
    X(ERROR_STREAM_CAPTURE_UNJOINED,    904, "work of another stream of the capture has not been waited for") \
    X(ERROR_STREAM_CAPTURE_ISOLATION,   905, "captured work cannot wait for work that is not captured") \
    X(ERROR_STREAM_CAPTURE_IMPLICIT,    906, "the default stream cannot wait for captured work") \
    X(ERROR_CAPTURED_EVENT,             907, "the event was recorded in a capture") \
    X(ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, "the capture was begun by another thread") \
    X(ERROR_TIMEOUT,                    909, "a wait ran past its time limit") \
    X(ERROR_GRAPH_EXEC_UPDATE_FAILURE,  910, "the graph differs from the instance in more than parameters") \
    X(ERROR_INVALID_CLUSTER_SIZE,       912, "the cluster shape does not fit the kernel, the grid or the device") \
    X(ERROR_UNKNOWN,                    999, "an internal error")

typedef enum ptxiResult {
#define PTXI_RESULT_ENUM(name, number, text) PTXI_##name = number,
    PTXI_RESULTS(PTXI_RESULT_ENUM)
#undef PTXI_RESULT_ENUM
    PTXI_RESULT_MAX = 0x7fffffff
} ptxiResult;

/* ---- types --------------------------------------------------------------------------------------------------- */

typedef int ptxiDevice;                          /* ordinal of a device: 0 */
typedef unsigned long long ptxiDevicePtr;        /* host address of a byte of device memory */
typedef struct ptxiContext_st  *ptxiContext;
typedef struct ptxiModule_st   *ptxiModule;
typedef struct ptxiFunction_st *ptxiFunction;
typedef struct ptxiStream_st   *ptxiStream;      /* NULL: the legacy default stream */
typedef struct ptxiEvent_st    *ptxiEvent;
typedef struct ptxiArray_st    *ptxiArray;       /* texels in an order of their own; reached by copies, textures and surfaces */
typedef struct ptxiLibrary_st  *ptxiLibrary;     /* PTX of no context */
typedef struct ptxiKernel_st   *ptxiKernel;      /* a kernel of a library; cast to ptxiFunction it can be launched */
typedef struct ptxiMemPool_st  *ptxiMemoryPool;
typedef struct ptxiLinkState_st *ptxiLinkState;
typedef struct ptxiGraph_st     *ptxiGraph;
typedef struct ptxiGraphNode_st *ptxiGraphNode;
typedef struct ptxiGraphExec_st *ptxiGraphExec;
typedef size_t (*ptxiOccupancyB2DSize)(int blockSize); /* bytes of dynamic shared memory for a block of that many threads */
typedef struct ptxiMipmappedArray_st *ptxiMipmappedArray;
typedef struct ptxiTexRef_st   *ptxiTexRef;      /* a .texref variable of a module */
typedef struct ptxiSurfRef_st  *ptxiSurfRef;     /* a .surfref variable of a module */
typedef unsigned long long ptxiTexObject;        /* what kernels get; never 0 */
typedef unsigned long long ptxiSurfObject;
typedef void (*ptxiHostFn)(void *userData);

#define PTXI_STREAM_LEGACY     ((ptxiStream)0x1) /* the default stream, as NULL */
#define PTXI_STREAM_PER_THREAD ((ptxiStream)0x2) /* a default stream for each host thread */

/*  X(name, number). A device attribute that is not listed but has a number in the driver reads as 0: not offered. */
#define PTXI_DEVICE_ATTRIBUTES(X) \
    X(MAX_THREADS_PER_BLOCK,                          1) \
    X(MAX_BLOCK_DIM_X,                                2) \
    X(MAX_BLOCK_DIM_Y,                                3) \
    X(MAX_BLOCK_DIM_Z,                                4) \
    X(MAX_GRID_DIM_X,                                 5) \
    X(MAX_GRID_DIM_Y,                                 6) \
    X(MAX_GRID_DIM_Z,                                 7) \
    X(MAX_SHARED_MEMORY_PER_BLOCK,                    8) \
    X(TOTAL_CONSTANT_MEMORY,                          9) \
    X(WARP_SIZE,                                     10) \
    X(MAX_PITCH,                                     11) \
    X(MAX_REGISTERS_PER_BLOCK,                       12) \
    X(CLOCK_RATE,                                    13) \
    X(TEXTURE_ALIGNMENT,                             14) \
    X(GPU_OVERLAP,                                   15) \
    X(MULTIPROCESSOR_COUNT,                          16) \
    X(KERNEL_EXEC_TIMEOUT,                           17) \
    X(INTEGRATED,                                    18) \
    X(CAN_MAP_HOST_MEMORY,                           19) \
    X(COMPUTE_MODE,                                  20) \
    X(SURFACE_ALIGNMENT,                             30) \
    X(CONCURRENT_KERNELS,                            31) \
    X(ECC_ENABLED,                                   32) \
    X(PCI_BUS_ID,                                    33) \
    X(PCI_DEVICE_ID,                                 34) \
    X(TCC_DRIVER,                                    35) \
    X(MEMORY_CLOCK_RATE,                             36) \
    X(GLOBAL_MEMORY_BUS_WIDTH,                       37) \
    X(L2_CACHE_SIZE,                                 38) \
    X(MAX_THREADS_PER_MULTIPROCESSOR,                39) \
    X(ASYNC_ENGINE_COUNT,                            40) \
    X(UNIFIED_ADDRESSING,                            41) \
    X(PCI_DOMAIN_ID,                                 50) \
    X(TEXTURE_PITCH_ALIGNMENT,                       51) \
    X(COMPUTE_CAPABILITY_MAJOR,                      75) \
    X(COMPUTE_CAPABILITY_MINOR,                      76) \
    X(STREAM_PRIORITIES_SUPPORTED,                   78) \
    X(GLOBAL_L1_CACHE_SUPPORTED,                     79) \
    X(LOCAL_L1_CACHE_SUPPORTED,                      80) \
    X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,          81) \
    X(MAX_REGISTERS_PER_MULTIPROCESSOR,              82) \
    X(MANAGED_MEMORY,                                83) \
    X(MULTI_GPU_BOARD,                               84) \
    X(MULTI_GPU_BOARD_GROUP_ID,                      85) \
    X(HOST_NATIVE_ATOMIC_SUPPORTED,                  86) \
    X(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO,         87) \
    X(PAGEABLE_MEMORY_ACCESS,                        88) \
    X(CONCURRENT_MANAGED_ACCESS,                     89) \
    X(COMPUTE_PREEMPTION_SUPPORTED,                  90) \
    X(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,       91) \
    X(COOPERATIVE_LAUNCH,                            95) \
    X(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,             97) \
    X(CAN_FLUSH_REMOTE_WRITES,                       98) \
    X(HOST_REGISTER_SUPPORTED,                       99) \
    X(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 100) \
    X(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST,          101) \
    X(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,          102) \
    X(MAX_BLOCKS_PER_MULTIPROCESSOR,                106) \
    X(MAX_PERSISTING_L2_CACHE_SIZE,                 108) \
    X(MAX_ACCESS_POLICY_WINDOW_SIZE,                109) \
    X(RESERVED_SHARED_MEMORY_PER_BLOCK,             111) \
    X(READ_ONLY_HOST_REGISTER_SUPPORTED,            113) \
    X(MEMORY_POOLS_SUPPORTED,                       115) \
    X(CLUSTER_LAUNCH,                               120) \
    X(CAN_USE_64_BIT_STREAM_MEM_OPS,                122) \
    X(CAN_USE_STREAM_WAIT_VALUE_NOR,                123) \
    X(MEM_SYNC_DOMAIN_COUNT,                        126) \
    X(TENSOR_MAP_ACCESS_SUPPORTED,                  127) \
    X(UNIFIED_FUNCTION_POINTERS,                    129) \
    X(MULTICAST_SUPPORTED,                          132)

typedef enum ptxiDeviceAttribute {
#define PTXI_DEVICE_ATTRIBUTE_ENUM(name, number) PTXI_DEVICE_ATTRIBUTE_##name = number,
    PTXI_DEVICE_ATTRIBUTES(PTXI_DEVICE_ATTRIBUTE_ENUM)
#undef PTXI_DEVICE_ATTRIBUTE_ENUM
    PTXI_DEVICE_ATTRIBUTE_MAX = 148
} ptxiDeviceAttribute;

typedef enum ptxiFunctionAttribute {
    PTXI_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    PTXI_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,               /* static .shared */
    PTXI_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,                /* .const of the module */
    PTXI_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,                /* .local of the kernel itself, a thread */
    PTXI_FUNC_ATTRIBUTE_NUM_REGS = 4,                        /* 32-bit registers a thread, estimated from liveness */
    PTXI_FUNC_ATTRIBUTE_PTX_VERSION = 5,                     /* 10 * major + minor of the module's target: 90 for sm_90 */
    PTXI_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
    PTXI_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
    PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,   /* settable */
    PTXI_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,/* settable; a hint */
    PTXI_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET = 10,
    PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,         /* settable unless the kernel states it */
    PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
    PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
    PTXI_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14, /* settable */
    PTXI_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15, /* settable; a hint */
    PTXI_FUNC_ATTRIBUTE_MAX = 16
} ptxiFunctionAttribute;

typedef enum ptxiFuncCache {
    PTXI_FUNC_CACHE_PREFER_NONE = 0,
    PTXI_FUNC_CACHE_PREFER_SHARED = 1,
    PTXI_FUNC_CACHE_PREFER_L1 = 2,
    PTXI_FUNC_CACHE_PREFER_EQUAL = 3
} ptxiFuncCache;

/* Options of ptxiModuleLoadDataEx; an option's value is in the void * itself unless a pointer is meant. */
typedef enum ptxiJitOption {
    PTXI_JIT_MAX_REGISTERS = 0,               /* the ones without a comment are accepted and change nothing */
    PTXI_JIT_THREADS_PER_BLOCK = 1,
    PTXI_JIT_WALL_TIME = 2,                   /* out: float, milliseconds, stored in the value's own bytes */
    PTXI_JIT_INFO_LOG_BUFFER = 3,             /* char *: warnings and notes */
    PTXI_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,  /* in: its size; out: bytes written */
    PTXI_JIT_ERROR_LOG_BUFFER = 5,            /* char *: errors */
    PTXI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6, /* in: its size; out: bytes written */
    PTXI_JIT_OPTIMIZATION_LEVEL = 7,          /* 0: operations as written, nothing fused or left out; above as the default */
    PTXI_JIT_TARGET_FROM_CONTEXT = 8,
    PTXI_JIT_TARGET = 9,
    PTXI_JIT_FALLBACK_STRATEGY = 10,
    PTXI_JIT_GENERATE_DEBUG_INFO = 11,        /* nonzero: operations as written, as in modules that say .target debug */
    PTXI_JIT_LOG_VERBOSE = 12,                /* nonzero: notes in the info log */
    PTXI_JIT_GENERATE_LINE_INFO = 13,
    PTXI_JIT_CACHE_MODE = 14,
    PTXI_JIT_FAST_COMPILE = 16,
    PTXI_JIT_FMA = 24,                        /* 0: never fuse an unrounded mul with an add; default 1, as ptxas does */
    PTXI_JIT_POSITION_INDEPENDENT_CODE = 30,
    PTXI_JIT_MIN_CTA_PER_SM = 31,
    PTXI_JIT_MAX_THREADS_PER_BLOCK = 32,
    PTXI_JIT_OVERRIDE_DIRECTIVE_VALUES = 33,
    PTXI_JIT_STRICT_TARGET = 0x10000,         /* libptxi's own. Nonzero: a module that the device profile could not run
                                                 fails with NO_BINARY_FOR_GPU; default: it runs under its own target */
    PTXI_JIT_FILE_NAME = 0x10001,             /* libptxi's own. const char *: the name shown in diagnostics and reports */
    PTXI_JIT_STRICT_SYMBOLS = 0x10002,        /* libptxi's own. Nonzero: a module that names functions or variables which are
                                                 defined nowhere fails with SHARED_OBJECT_SYMBOL_NOT_FOUND; default: the
                                                 launch of a kernel that can reach one fails so */
    PTXI_JIT_DIALECT = 0x10003                /* libptxi's own. ptxiDialect, added to what ptxiCtxSetDialect says */
} ptxiJitOption;

typedef enum ptxiLibraryOption {
    PTXI_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE = 0,
    PTXI_LIBRARY_BINARY_IS_PRESERVED = 1
} ptxiLibraryOption;

/* What a module may use beyond the PTX ISA; added up for several. */
typedef enum ptxiDialect {
    PTXI_DIALECT_NONE = 0,
    PTXI_DIALECT_OCELOT = 1,                  /* rcp, sqrt, sin, lg2 and ex2 as .approx.f64, computed in double;
                                                 sin.approx.f32 rounded from that */
    PTXI_DIALECT_ANY_WIDTH = 2                /* integer types of 1 to 64 bits, add.s17, in registers of 16, 32 or 64 bits: operands are
                                                 read by their lowest bits, results are extended from theirs. For abs add and div mad
                                                 max min mov mul neg not or popc rem sad selp set setp shl shr slct sub xor, but
                                                 without .cc .hi .relu .sat .wide */
} ptxiDialect;

typedef enum ptxiJitInputType {
    PTXI_JIT_INPUT_CUBIN = 0,      /* what ptxiLinkComplete gives out; no code of a GPU */
    PTXI_JIT_INPUT_PTX = 1,
    PTXI_JIT_INPUT_FATBINARY = 2,  /* not supported, as the next ones */
    PTXI_JIT_INPUT_OBJECT = 3,
    PTXI_JIT_INPUT_LIBRARY = 4,
    PTXI_JIT_INPUT_NVVM = 5
} ptxiJitInputType;

typedef enum ptxiLimit {
    PTXI_LIMIT_STACK_SIZE = 0,                        /* bytes of local memory and call frames a thread may use */
    PTXI_LIMIT_PRINTF_FIFO_SIZE = 1,                  /* bytes of printf output that a launch may hold back */
    PTXI_LIMIT_MALLOC_HEAP_SIZE = 2,                  /* bytes that kernels' malloc gives out at once, each block counted in 16s */
    PTXI_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 3,            /* not supported, as on recent devices */
    PTXI_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4,  /* tail launches that a grid may ask for */
    PTXI_LIMIT_MAX_L2_FETCH_GRANULARITY = 5,          /* stored only, as the next one */
    PTXI_LIMIT_PERSISTING_L2_CACHE_SIZE = 6,          /* up to PTXI_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE */
    /* libptxi's own. Warp instructions that a launch may run, those of the grids that it launches included; 0: no limit.
     * Copies and fills that kernels ask for count one instruction for each started 512 bytes of a row; a conditional node
     * WHILE counts one for each round of its loop. */
    PTXI_LIMIT_INSTRUCTIONS = 0x10000,
    /* libptxi's own. Wall-clock time that a launch may take with all that it launches, or the loop of a conditional node;
     * 0: no limit */
    PTXI_LIMIT_MILLISECONDS = 0x10001
} ptxiLimit;

typedef enum ptxiPointerAttribute {
    PTXI_POINTER_ATTRIBUTE_CONTEXT = 1,           /* ptxiContext */
    PTXI_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,       /* unsigned: PTXI_MEMORYTYPE_HOST or _DEVICE */
    PTXI_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,    /* ptxiDevicePtr */
    PTXI_POINTER_ATTRIBUTE_HOST_POINTER = 4,      /* void * */
    PTXI_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,       /* int */
    PTXI_POINTER_ATTRIBUTE_BUFFER_ID = 7,         /* unsigned long long, never used again in the process */
    PTXI_POINTER_ATTRIBUTE_IS_MANAGED = 8,        /* int */
    PTXI_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,    /* int */
    PTXI_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10, /* int: 0 */
    PTXI_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11, /* ptxiDevicePtr */
    PTXI_POINTER_ATTRIBUTE_RANGE_SIZE = 12,       /* size_t, bytes */
    PTXI_POINTER_ATTRIBUTE_MAPPED = 13,           /* int */
    PTXI_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14, /* unsigned long long: 0 */
    PTXI_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15, /* int: 0 */
    PTXI_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,     /* int: 1 kernels may read, 3 read and write */
    PTXI_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,   /* ptxiMemoryPool; NULL: of none */
    PTXI_POINTER_ATTRIBUTE_MAPPING_SIZE = 18,     /* these three: as RANGE_SIZE, RANGE_START_ADDR and BUFFER_ID */
    PTXI_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19,
    PTXI_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID = 20,
    PTXI_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE = 21 /* int: 0 */
} ptxiPointerAttribute;

typedef enum ptxiMemoryType {
    PTXI_MEMORYTYPE_HOST = 1,
    PTXI_MEMORYTYPE_DEVICE = 2,
    PTXI_MEMORYTYPE_ARRAY = 3,
    PTXI_MEMORYTYPE_UNIFIED = 4
} ptxiMemoryType;

/* Where memory is, and who may use it; numbers and layouts of CUmemLocation, CUmemAccessDesc and CUmemPoolProps. */
typedef enum ptxiMemLocationType {
    PTXI_MEM_LOCATION_TYPE_INVALID = 0,
    PTXI_MEM_LOCATION_TYPE_DEVICE = 1,
    PTXI_MEM_LOCATION_TYPE_HOST = 2,
    PTXI_MEM_LOCATION_TYPE_HOST_NUMA = 3,
    PTXI_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4
} ptxiMemLocationType;

typedef struct ptxiMemLocation {
    ptxiMemLocationType type;
    int id;                         /* of a device: its number */
} ptxiMemLocation;

typedef enum ptxiMemAccessFlags {
    PTXI_MEM_ACCESS_FLAGS_PROT_NONE = 0,
    PTXI_MEM_ACCESS_FLAGS_PROT_READ = 1,
    PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE = 3
} ptxiMemAccessFlags;

typedef struct ptxiMemAccessDesc {
    ptxiMemLocation location;
    ptxiMemAccessFlags flags;
} ptxiMemAccessDesc;

typedef enum ptxiMemAllocationType {
    PTXI_MEM_ALLOCATION_TYPE_INVALID = 0,
    PTXI_MEM_ALLOCATION_TYPE_PINNED = 1,
    PTXI_MEM_ALLOCATION_TYPE_MANAGED = 2
} ptxiMemAllocationType;

typedef struct ptxiMemPoolProps {
    ptxiMemAllocationType allocType; /* PINNED */
    int handleTypes;                 /* 0: pools of one process */
    ptxiMemLocation location;
    void *win32SecurityAttributes;   /* NULL */
    size_t maxSize;                  /* bytes that it may give out at once, made a multiple of 32 MiB; 0: all there is */
    unsigned short usage;            /* not looked at */
    unsigned char reserved[54];      /* zeros */
} ptxiMemPoolProps;

typedef enum ptxiMemPoolAttribute {
    PTXI_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,   /* int, settable as the next three; without effect */
    PTXI_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2,         /* int */
    PTXI_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3, /* int */
    PTXI_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,                 /* uint64_t, bytes */
    PTXI_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,              /* uint64_t, bytes: as USED, since nothing is kept for later */
    PTXI_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,                 /* uint64_t; settable to 0: the most from now on */
    PTXI_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,                  /* uint64_t, bytes that are given out */
    PTXI_MEMPOOL_ATTR_USED_MEM_HIGH = 8                      /* uint64_t; settable to 0 */
} ptxiMemPoolAttribute;

/* What a stream waits for: of the value in memory, x, and the one given, v. */
enum {
    PTXI_STREAM_WAIT_VALUE_GEQ = 0, /* x - v, as a signed number, is not negative */
    PTXI_STREAM_WAIT_VALUE_EQ = 1,  /* x == v */
    PTXI_STREAM_WAIT_VALUE_AND = 2, /* x & v is not 0 */
    PTXI_STREAM_WAIT_VALUE_NOR = 3, /* ~(x | v) is not 0 */
    PTXI_STREAM_WAIT_VALUE_FLUSH = 0x40000000 /* added; not supported, as on an H200 */
};
enum { PTXI_STREAM_WRITE_VALUE_DEFAULT = 0 };

typedef enum ptxiStreamBatchMemOpType {
    PTXI_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
    PTXI_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
    PTXI_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
    PTXI_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
    PTXI_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
    PTXI_STREAM_MEM_OP_BARRIER = 6
} ptxiStreamBatchMemOpType;

/* One of the above; layout of CUstreamBatchMemOpParams. A barrier's flags stand where `operationFlags` is. */
typedef struct ptxiStreamBatchMemOpParams {
    ptxiStreamBatchMemOpType operation;
    unsigned operationFlags;
    ptxiDevicePtr address;
    uint64_t value64;               /* of 32 bits: the lower half */
    unsigned flags;                 /* PTXI_STREAM_WAIT_VALUE_...; to write: 0 */
    ptxiDevicePtr alias;            /* not looked at */
    uint64_t pad;
} ptxiStreamBatchMemOpParams;

enum { /* ptxiCtxCreate: how a waiting host thread waits; all but the mask are hints */
    PTXI_CTX_SCHED_AUTO = 0, PTXI_CTX_SCHED_SPIN = 1, PTXI_CTX_SCHED_YIELD = 2, PTXI_CTX_SCHED_BLOCKING_SYNC = 4,
    PTXI_CTX_SCHED_MASK = 7, PTXI_CTX_MAP_HOST = 8, PTXI_CTX_LMEM_RESIZE_TO_MAX = 0x10, PTXI_CTX_FLAGS_MASK = 0xff
};
enum { PTXI_STREAM_DEFAULT = 0, PTXI_STREAM_NON_BLOCKING = 1 };
enum { PTXI_EVENT_DEFAULT = 0, PTXI_EVENT_BLOCKING_SYNC = 1, PTXI_EVENT_DISABLE_TIMING = 2, PTXI_EVENT_INTERPROCESS = 4 };
enum { PTXI_MEM_ATTACH_GLOBAL = 1, PTXI_MEM_ATTACH_HOST = 2, PTXI_MEM_ATTACH_SINGLE = 4 };
enum { PTXI_MEMHOSTALLOC_PORTABLE = 1, PTXI_MEMHOSTALLOC_DEVICEMAP = 2, PTXI_MEMHOSTALLOC_WRITECOMBINED = 4 };
enum { PTXI_MEMHOSTREGISTER_PORTABLE = 1, PTXI_MEMHOSTREGISTER_DEVICEMAP = 2, PTXI_MEMHOSTREGISTER_IOMEMORY = 4,
       PTXI_MEMHOSTREGISTER_READ_ONLY = 8 };

/* Keys of ptxiLaunchKernel's `extra` array. */
#define PTXI_LAUNCH_PARAM_END            ((void *)0x00)
#define PTXI_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define PTXI_LAUNCH_PARAM_BUFFER_SIZE    ((void *)0x02)

/* Attributes of ptxiLaunchKernelEx; numbers and layouts of CUlaunchAttribute and CUlaunchConfig. */
typedef enum ptxiLaunchAttributeID {
    PTXI_LAUNCH_ATTRIBUTE_IGNORE = 0,
    PTXI_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,
    PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3,
    PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    PTXI_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
    PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
    PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
    PTXI_LAUNCH_ATTRIBUTE_PRIORITY = 8,
    PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9,
    PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10,
    PTXI_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
    PTXI_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12,
    PTXI_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE = 13,
    PTXI_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14
} ptxiLaunchAttributeID;

typedef union ptxiLaunchAttributeValue {
    char pad[64];
    int cooperative;
    struct { unsigned x, y, z; } clusterDim;
    int programmaticStreamSerializationAllowed;
    struct { ptxiEvent event; int flags, triggerAtBlockStart; } programmaticEvent;
    struct { ptxiEvent event; int flags; } launchCompletionEvent;
    int priority;
} ptxiLaunchAttributeValue;

typedef struct ptxiLaunchAttribute {
    ptxiLaunchAttributeID id;
    char pad[8 - sizeof(ptxiLaunchAttributeID)];
    ptxiLaunchAttributeValue value;
} ptxiLaunchAttribute;

typedef struct ptxiLaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    ptxiStream hStream;
    ptxiLaunchAttribute *attrs; /* may be NULL when there are none */
    unsigned numAttrs;
} ptxiLaunchConfig;

/* A tensor map, opaque; its address is a multiple of 64. Kernels take it as a parameter (__grid_constant__) or from memory. */
typedef struct ptxiTensorMap {
#if defined(__cplusplus) && __cplusplus >= 201103L
    alignas(64)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
    _Alignas(64)
#endif
    uint64_t opaque[16];
} ptxiTensorMap;

typedef enum ptxiTensorMapDataType {
    PTXI_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
    PTXI_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
    PTXI_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
    PTXI_TENSOR_MAP_DATA_TYPE_INT32 = 3,
    PTXI_TENSOR_MAP_DATA_TYPE_UINT64 = 4,
    PTXI_TENSOR_MAP_DATA_TYPE_INT64 = 5,
    PTXI_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
    PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
    PTXI_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
    PTXI_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
    PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ = 10,
    PTXI_TENSOR_MAP_DATA_TYPE_TFLOAT32 = 11,
    PTXI_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ = 12,
    PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B = 13,
    PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B = 14,
    PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B = 15
} ptxiTensorMapDataType;

typedef enum ptxiTensorMapInterleave {
    PTXI_TENSOR_MAP_INTERLEAVE_NONE = 0,
    PTXI_TENSOR_MAP_INTERLEAVE_16B = 1,
    PTXI_TENSOR_MAP_INTERLEAVE_32B = 2
} ptxiTensorMapInterleave;

typedef enum ptxiTensorMapSwizzle {
    PTXI_TENSOR_MAP_SWIZZLE_NONE = 0,
    PTXI_TENSOR_MAP_SWIZZLE_32B = 1,
    PTXI_TENSOR_MAP_SWIZZLE_64B = 2,
    PTXI_TENSOR_MAP_SWIZZLE_128B = 3,
    PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_32B = 4,
    PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B = 5,
    PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_64B = 6
} ptxiTensorMapSwizzle;

typedef enum ptxiTensorMapIm2ColWideMode {
    PTXI_TENSOR_MAP_IM2COL_WIDE_MODE_W = 0,
    PTXI_TENSOR_MAP_IM2COL_WIDE_MODE_W128 = 1
} ptxiTensorMapIm2ColWideMode;

typedef enum ptxiTensorMapL2promotion {
    PTXI_TENSOR_MAP_L2_PROMOTION_NONE = 0,
    PTXI_TENSOR_MAP_L2_PROMOTION_L2_64B = 1,
    PTXI_TENSOR_MAP_L2_PROMOTION_L2_128B = 2,
    PTXI_TENSOR_MAP_L2_PROMOTION_L2_256B = 3
} ptxiTensorMapL2promotion;

typedef enum ptxiTensorMapFloatOOBfill {
    PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
    PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA = 1
} ptxiTensorMapFloatOOBfill;

/* A rectangle to copy; layout of CUDA_MEMCPY2D. Pitches, XInBytes and WidthInBytes are bytes, Y and Height rows. */
typedef struct PTXI_MEMCPY2D {
    size_t srcXInBytes, srcY;
    ptxiMemoryType srcMemoryType;
    const void *srcHost;
    ptxiDevicePtr srcDevice;
    ptxiArray srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    ptxiMemoryType dstMemoryType;
    void *dstHost;
    ptxiDevicePtr dstDevice;
    ptxiArray dstArray;
    size_t dstPitch;
    size_t WidthInBytes;
    size_t Height;
} PTXI_MEMCPY2D;

/* Likewise with slices; layout of CUDA_MEMCPY3D. Z and Depth are slices, or layers of an array, HeightInRows is the rows of a slice. */
typedef struct PTXI_MEMCPY3D {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    ptxiMemoryType srcMemoryType;
    const void *srcHost;
    ptxiDevicePtr srcDevice;
    ptxiArray srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    ptxiMemoryType dstMemoryType;
    void *dstHost;
    ptxiDevicePtr dstDevice;
    ptxiArray dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} PTXI_MEMCPY3D;

typedef enum ptxiGraphNodeType {
    PTXI_GRAPH_NODE_TYPE_KERNEL = 0,
    PTXI_GRAPH_NODE_TYPE_MEMCPY = 1,
    PTXI_GRAPH_NODE_TYPE_MEMSET = 2,
    PTXI_GRAPH_NODE_TYPE_HOST = 3,
    PTXI_GRAPH_NODE_TYPE_GRAPH = 4,
    PTXI_GRAPH_NODE_TYPE_EMPTY = 5,
    PTXI_GRAPH_NODE_TYPE_WAIT_EVENT = 6,
    PTXI_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
    PTXI_GRAPH_NODE_TYPE_CONDITIONAL = 13
} ptxiGraphNodeType;

enum { PTXI_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1, PTXI_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2, PTXI_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8 };

/* Nodes of graphs; layouts of CUDA_KERNEL_NODE_PARAMS and its like. */
typedef struct PTXI_KERNEL_NODE_PARAMS {
    ptxiFunction func;
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    void **kernelParams;
    void **extra;
    ptxiKernel kern;                /* in place of func, where that is NULL */
    ptxiContext ctx;                /* not looked at */
} PTXI_KERNEL_NODE_PARAMS;

typedef struct PTXI_MEMSET_NODE_PARAMS {
    ptxiDevicePtr dst;
    size_t pitch;                   /* bytes; of no meaning for one row */
    unsigned value;
    unsigned elementSize;           /* bytes: 1, 2 or 4 */
    size_t width;                   /* elements */
    size_t height;                  /* rows */
} PTXI_MEMSET_NODE_PARAMS;

typedef struct PTXI_HOST_NODE_PARAMS {
    ptxiHostFn fn;
    void *userData;
} PTXI_HOST_NODE_PARAMS;

/* Conditional nodes. A handle's value decides; kernels change it with cudaGraphSetConditional. */
typedef unsigned long long ptxiGraphConditionalHandle;

enum { PTXI_GRAPH_COND_ASSIGN_DEFAULT = 1 };

typedef enum ptxiGraphConditionalNodeType {
    PTXI_GRAPH_COND_TYPE_IF = 0,    /* body 0 if the value is not 0, else body 1 if there is one */
    PTXI_GRAPH_COND_TYPE_WHILE = 1, /* body 0 as long as the value is not 0 */
    PTXI_GRAPH_COND_TYPE_SWITCH = 2 /* the body of that number, or none */
} ptxiGraphConditionalNodeType;

typedef struct PTXI_CONDITIONAL_NODE_PARAMS {
    ptxiGraphConditionalHandle handle;
    ptxiGraphConditionalNodeType type;
    unsigned size;                  /* bodies: 1 or 2, 1, any number */
    ptxiGraph *phGraph_out;         /* is set: `size` empty graphs of the node's own, which the caller fills */
    ptxiContext ctx;                /* not looked at */
} PTXI_CONDITIONAL_NODE_PARAMS;

typedef struct PTXI_MEMCPY_NODE_PARAMS {
    int flags, reserved;            /* these and the next one are not looked at */
    ptxiContext copyCtx;
    PTXI_MEMCPY3D copyParams;
} PTXI_MEMCPY_NODE_PARAMS;

typedef struct PTXI_CHILD_GRAPH_NODE_PARAMS {
    ptxiGraph graph;
    int ownership;                  /* not looked at: the graph is copied */
} PTXI_CHILD_GRAPH_NODE_PARAMS;

typedef struct PTXI_EVENT_WAIT_NODE_PARAMS {
    ptxiEvent event;
} PTXI_EVENT_WAIT_NODE_PARAMS;

typedef struct PTXI_EVENT_RECORD_NODE_PARAMS {
    ptxiEvent event;
} PTXI_EVENT_RECORD_NODE_PARAMS;

typedef union ptxiGraphNodeParamsValue {
    long long reserved1[29];
    PTXI_KERNEL_NODE_PARAMS kernel;
    PTXI_MEMCPY_NODE_PARAMS memcpy;
    PTXI_MEMSET_NODE_PARAMS memset;
    PTXI_HOST_NODE_PARAMS host;
    PTXI_CHILD_GRAPH_NODE_PARAMS graph;
    PTXI_EVENT_WAIT_NODE_PARAMS eventWait;
    PTXI_EVENT_RECORD_NODE_PARAMS eventRecord;
    PTXI_CONDITIONAL_NODE_PARAMS conditional;
} ptxiGraphNodeParamsValue;

/* Layout of CUgraphNodeParams. */
typedef struct ptxiGraphNodeParams {
    ptxiGraphNodeType type;
    int reserved0[3];
    ptxiGraphNodeParamsValue value;
    long long reserved2;
} ptxiGraphNodeParams;

/* What an edge goes from and to; layout of CUgraphEdgeData. All zeros: from the end of a node to the begin of another one. */
typedef struct ptxiGraphEdgeData {
    unsigned char from_port, to_port, type, reserved[5];
} ptxiGraphEdgeData;

/* Of ptxiGraphInstantiateWithParams; numbers and layout of the driver's. */
typedef enum ptxiGraphInstantiateResult {
    PTXI_GRAPH_INSTANTIATE_SUCCESS = 0,
    PTXI_GRAPH_INSTANTIATE_ERROR = 1,
    PTXI_GRAPH_INSTANTIATE_INVALID_STRUCTURE = 2
} ptxiGraphInstantiateResult;

typedef struct PTXI_GRAPH_INSTANTIATE_PARAMS {
    unsigned long long flags;
    ptxiStream hUploadStream;       /* not looked at */
    ptxiGraphNode hErrNode_out;     /* of a graph with a cycle; else NULL */
    ptxiGraphInstantiateResult result_out;
} PTXI_GRAPH_INSTANTIATE_PARAMS;

/* Of ptxiGraphExecUpdate; numbers and layout of the driver's. */
typedef enum ptxiGraphExecUpdateResult {
    PTXI_GRAPH_EXEC_UPDATE_SUCCESS = 0,
    PTXI_GRAPH_EXEC_UPDATE_ERROR = 1,
    PTXI_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
    PTXI_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3
} ptxiGraphExecUpdateResult;

typedef struct ptxiGraphExecUpdateResultInfo {
    ptxiGraphExecUpdateResult result;
    ptxiGraphNode errorNode;        /* of the graph that the instance was to become, where one is to blame */
    ptxiGraphNode errorFromNode;    /* NULL */
} ptxiGraphExecUpdateResultInfo;

typedef enum ptxiStreamCaptureMode {
    PTXI_STREAM_CAPTURE_MODE_GLOBAL = 0,
    PTXI_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
    PTXI_STREAM_CAPTURE_MODE_RELAXED = 2
} ptxiStreamCaptureMode;

typedef enum ptxiStreamCaptureStatus {
    PTXI_STREAM_CAPTURE_STATUS_NONE = 0,
    PTXI_STREAM_CAPTURE_STATUS_ACTIVE = 1,
    PTXI_STREAM_CAPTURE_STATUS_INVALIDATED = 2
} ptxiStreamCaptureStatus;

typedef enum ptxiArrayFormat {
    PTXI_AD_FORMAT_UNSIGNED_INT8 = 0x01,
    PTXI_AD_FORMAT_UNSIGNED_INT16 = 0x02,
    PTXI_AD_FORMAT_UNSIGNED_INT32 = 0x03,
    PTXI_AD_FORMAT_SIGNED_INT8 = 0x08,
    PTXI_AD_FORMAT_SIGNED_INT16 = 0x09,
    PTXI_AD_FORMAT_SIGNED_INT32 = 0x0a,
    PTXI_AD_FORMAT_HALF = 0x10,
    PTXI_AD_FORMAT_FLOAT = 0x20,
    /* Integers that textures read as fractions of their largest value. */
    PTXI_AD_FORMAT_UNORM_INT_101010_2 = 0x50,
    PTXI_AD_FORMAT_UNORM_INT8X1 = 0xc0, PTXI_AD_FORMAT_UNORM_INT8X2 = 0xc1, PTXI_AD_FORMAT_UNORM_INT8X4 = 0xc2,
    PTXI_AD_FORMAT_UNORM_INT16X1 = 0xc3, PTXI_AD_FORMAT_UNORM_INT16X2 = 0xc4, PTXI_AD_FORMAT_UNORM_INT16X4 = 0xc5,
    PTXI_AD_FORMAT_SNORM_INT8X1 = 0xc6, PTXI_AD_FORMAT_SNORM_INT8X2 = 0xc7, PTXI_AD_FORMAT_SNORM_INT8X4 = 0xc8,
    PTXI_AD_FORMAT_SNORM_INT16X1 = 0xc9, PTXI_AD_FORMAT_SNORM_INT16X2 = 0xca, PTXI_AD_FORMAT_SNORM_INT16X4 = 0xcb,
    /* Compressed blocks of 4x4 texels. */
    PTXI_AD_FORMAT_BC1_UNORM = 0x91, PTXI_AD_FORMAT_BC1_UNORM_SRGB = 0x92, PTXI_AD_FORMAT_BC2_UNORM = 0x93, PTXI_AD_FORMAT_BC2_UNORM_SRGB = 0x94,
    PTXI_AD_FORMAT_BC3_UNORM = 0x95, PTXI_AD_FORMAT_BC3_UNORM_SRGB = 0x96, PTXI_AD_FORMAT_BC4_UNORM = 0x97, PTXI_AD_FORMAT_BC4_SNORM = 0x98,
    PTXI_AD_FORMAT_BC5_UNORM = 0x99, PTXI_AD_FORMAT_BC5_SNORM = 0x9a, PTXI_AD_FORMAT_BC6H_UF16 = 0x9b, PTXI_AD_FORMAT_BC6H_SF16 = 0x9c,
    PTXI_AD_FORMAT_BC7_UNORM = 0x9d, PTXI_AD_FORMAT_BC7_UNORM_SRGB = 0x9e
} ptxiArrayFormat;

typedef enum ptxiAddressMode {
    PTXI_TR_ADDRESS_MODE_WRAP = 0,
    PTXI_TR_ADDRESS_MODE_CLAMP = 1,
    PTXI_TR_ADDRESS_MODE_MIRROR = 2,
    PTXI_TR_ADDRESS_MODE_BORDER = 3
} ptxiAddressMode;

typedef enum ptxiFilterMode {
    PTXI_TR_FILTER_MODE_POINT = 0,
    PTXI_TR_FILTER_MODE_LINEAR = 1
} ptxiFilterMode;

typedef enum ptxiResourceType {
    PTXI_RESOURCE_TYPE_ARRAY = 0,
    PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
    PTXI_RESOURCE_TYPE_LINEAR = 2,
    PTXI_RESOURCE_TYPE_PITCH2D = 3
} ptxiResourceType;

/* Of CUresourceViewFormat: 1, 2 or 4 channels of a width and kind, numbered in this order. */
typedef enum ptxiResourceViewFormat {
    PTXI_RES_VIEW_FORMAT_NONE = 0x00,
    PTXI_RES_VIEW_FORMAT_UINT_1X8 = 0x01, PTXI_RES_VIEW_FORMAT_UINT_2X8 = 0x02, PTXI_RES_VIEW_FORMAT_UINT_4X8 = 0x03,
    PTXI_RES_VIEW_FORMAT_SINT_1X8 = 0x04, PTXI_RES_VIEW_FORMAT_SINT_2X8 = 0x05, PTXI_RES_VIEW_FORMAT_SINT_4X8 = 0x06,
    PTXI_RES_VIEW_FORMAT_UINT_1X16 = 0x07, PTXI_RES_VIEW_FORMAT_UINT_2X16 = 0x08, PTXI_RES_VIEW_FORMAT_UINT_4X16 = 0x09,
    PTXI_RES_VIEW_FORMAT_SINT_1X16 = 0x0a, PTXI_RES_VIEW_FORMAT_SINT_2X16 = 0x0b, PTXI_RES_VIEW_FORMAT_SINT_4X16 = 0x0c,
    PTXI_RES_VIEW_FORMAT_UINT_1X32 = 0x0d, PTXI_RES_VIEW_FORMAT_UINT_2X32 = 0x0e, PTXI_RES_VIEW_FORMAT_UINT_4X32 = 0x0f,
    PTXI_RES_VIEW_FORMAT_SINT_1X32 = 0x10, PTXI_RES_VIEW_FORMAT_SINT_2X32 = 0x11, PTXI_RES_VIEW_FORMAT_SINT_4X32 = 0x12,
    PTXI_RES_VIEW_FORMAT_FLOAT_1X16 = 0x13, PTXI_RES_VIEW_FORMAT_FLOAT_2X16 = 0x14, PTXI_RES_VIEW_FORMAT_FLOAT_4X16 = 0x15,
    PTXI_RES_VIEW_FORMAT_FLOAT_1X32 = 0x16, PTXI_RES_VIEW_FORMAT_FLOAT_2X32 = 0x17, PTXI_RES_VIEW_FORMAT_FLOAT_4X32 = 0x18,
    PTXI_RES_VIEW_FORMAT_UNSIGNED_BC1 = 0x19, PTXI_RES_VIEW_FORMAT_UNSIGNED_BC2 = 0x1a, PTXI_RES_VIEW_FORMAT_UNSIGNED_BC3 = 0x1b,
    PTXI_RES_VIEW_FORMAT_UNSIGNED_BC4 = 0x1c, PTXI_RES_VIEW_FORMAT_SIGNED_BC4 = 0x1d, PTXI_RES_VIEW_FORMAT_UNSIGNED_BC5 = 0x1e,
    PTXI_RES_VIEW_FORMAT_SIGNED_BC5 = 0x1f, PTXI_RES_VIEW_FORMAT_UNSIGNED_BC6H = 0x20, PTXI_RES_VIEW_FORMAT_SIGNED_BC6H = 0x21,
    PTXI_RES_VIEW_FORMAT_UNSIGNED_BC7 = 0x22
} ptxiResourceViewFormat;

enum { /* of arrays */
    PTXI_ARRAY3D_LAYERED = 1, PTXI_ARRAY3D_SURFACE_LDST = 2, PTXI_ARRAY3D_CUBEMAP = 4, PTXI_ARRAY3D_TEXTURE_GATHER = 8,
    PTXI_ARRAY3D_DEPTH_TEXTURE = 0x10, PTXI_ARRAY3D_COLOR_ATTACHMENT = 0x20, PTXI_ARRAY3D_VIDEO_ENCODE_DECODE = 0x100 /* of no effect */
};
enum { /* of textures */
    PTXI_TRSF_READ_AS_INTEGER = 1, PTXI_TRSF_NORMALIZED_COORDINATES = 2, PTXI_TRSF_SRGB = 0x10,
    PTXI_TRSF_DISABLE_TRILINEAR_OPTIMIZATION = 0x20, PTXI_TRSF_SEAMLESS_CUBEMAP = 0x40
};
#define PTXI_TRSA_OVERRIDE_FORMAT 0x01

/* Layouts of CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR. Sizes are in elements; NumChannels is 1, 2 or 4. */
typedef struct PTXI_ARRAY_DESCRIPTOR {
    size_t Width, Height;           /* Height 0: one dimension */
    ptxiArrayFormat Format;
    unsigned NumChannels;
} PTXI_ARRAY_DESCRIPTOR;

typedef struct PTXI_ARRAY3D_DESCRIPTOR {
    size_t Width, Height, Depth;    /* Depth: of a layered array its layers, of cubes six times as many */
    ptxiArrayFormat Format;
    unsigned NumChannels;
    unsigned Flags;                 /* PTXI_ARRAY3D_... */
} PTXI_ARRAY3D_DESCRIPTOR;

typedef union ptxiResource {
    struct { ptxiArray hArray; } array;
    struct { ptxiMipmappedArray hMipmappedArray; } mipmap;
    struct { ptxiDevicePtr devPtr; ptxiArrayFormat format; unsigned numChannels; size_t sizeInBytes; } linear;
    struct { ptxiDevicePtr devPtr; ptxiArrayFormat format; unsigned numChannels; size_t width, height, pitchInBytes; } pitch2D;
    struct { int reserved[32]; } reserved;
} ptxiResource;

/* Layouts of CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC and CUDA_RESOURCE_VIEW_DESC. */
typedef struct PTXI_RESOURCE_DESC {
    ptxiResourceType resType;
    ptxiResource res;
    unsigned flags;                 /* 0 */
} PTXI_RESOURCE_DESC;

typedef struct PTXI_TEXTURE_DESC {
    ptxiAddressMode addressMode[3]; /* x, y, z */
    ptxiFilterMode filterMode;
    unsigned flags;                 /* PTXI_TRSF_... */
    unsigned maxAnisotropy;
    ptxiFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    float borderColor[4];
    int reserved[12];
} PTXI_TEXTURE_DESC;

typedef struct PTXI_RESOURCE_VIEW_DESC {
    ptxiResourceViewFormat format;
    size_t width, height, depth;
    unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
    unsigned reserved[16];
} PTXI_RESOURCE_VIEW_DESC;

/* ---- start and errors ---------------------------------------------------------------------------------------- */

/*! ptxiInit() :
 *  Make the library ready; the first call of every program. Reads the environment variables PTXI_DEVICE, PTXI_SCHED,
 *  PTXI_SCHED_SEED and PTXI_WORKERS; the last three count as not set where they have no such value. Later calls do nothing.
 * `flags` 0.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE    flags is not 0
 *         PTXI_ERROR_INVALID_DEVICE   PTXI_DEVICE names no device profile
 *         PTXI_ERROR_NOT_INITIALIZED  the process is a fork() of one that called ptxiInit */
PTXI_API ptxiResult ptxiInit(unsigned flags);

/*! ptxiDriverGetVersion() :
 *  PTXI_DRIVER_VERSION: 1000 * major + 10 * minor of the CUDA whose driver API this is. Works before ptxiInit. */
PTXI_API ptxiResult ptxiDriverGetVersion(int *driverVersion);

/*! ptxiGetErrorName() , ptxiGetErrorString() :
 *  "PTXI_ERROR_..." and a sentence for a result number. `*pStr` is static. Works before ptxiInit.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE with *pStr = NULL for a number that is no result. */
PTXI_API ptxiResult ptxiGetErrorName(ptxiResult error, const char **pStr);
PTXI_API ptxiResult ptxiGetErrorString(ptxiResult error, const char **pStr);

/* ---- devices ------------------------------------------------------------------------------------------------- */

/*! ptxiDeviceGet() , ptxiDeviceGetCount() :
 *  There is one device, number 0; what it looks like is its profile (see ptxiDeviceSetProfile).
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE for another ordinal. */
PTXI_API ptxiResult ptxiDeviceGet(ptxiDevice *device, int ordinal);
PTXI_API ptxiResult ptxiDeviceGetCount(int *count);

/*! ptxiDeviceGetName() :
 *  Copy the profile's device name, cut to `len` bytes with its terminating NUL.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_VALUE for len < 1. */
PTXI_API ptxiResult ptxiDeviceGetName(char *name, int len, ptxiDevice dev);

/*! ptxiDeviceGetAttribute() :
 *  One number of the device profile, with the driver's attribute numbers and units (bytes, kHz, bits, 0 or 1).
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_VALUE for an unknown attribute. */
PTXI_API ptxiResult ptxiDeviceGetAttribute(int *pi, ptxiDeviceAttribute attrib, ptxiDevice dev);

/*! ptxiDeviceTotalMem() :
 *  Bytes that can be allocated at most: the host's memory.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE. */
PTXI_API ptxiResult ptxiDeviceTotalMem(size_t *bytes, ptxiDevice dev);

/*! ptxiDeviceComputeCapability() :
 *  The profile's, 9 and 0 for sm_90.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE. */
PTXI_API ptxiResult ptxiDeviceComputeCapability(int *major, int *minor, ptxiDevice dev);

/* ---- contexts ------------------------------------------------------------------------------------------------ */

/*! ptxiDevicePrimaryCtxRetain() , ptxiDevicePrimaryCtxRelease() , ptxiDevicePrimaryCtxReset() :
 *  The device's shared context: made by the first Retain, destroyed by the last Release, or at once by Reset (the handle
 *  stays good for a later Retain). Retain does not make it current. It waits if another thread is destroying the context.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT for a Release without a Retain. */
PTXI_API ptxiResult ptxiDevicePrimaryCtxRetain(ptxiContext *pctx, ptxiDevice dev);
PTXI_API ptxiResult ptxiDevicePrimaryCtxRelease(ptxiDevice dev);
PTXI_API ptxiResult ptxiDevicePrimaryCtxReset(ptxiDevice dev);

/*! ptxiDevicePrimaryCtxSetFlags() , ptxiDevicePrimaryCtxGetState() :
 *  Flags for the primary context, and whether it exists now: `*active` is 0 or 1. `flags` as for ptxiCtxCreate.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_VALUE for unknown flags. */
PTXI_API ptxiResult ptxiDevicePrimaryCtxSetFlags(ptxiDevice dev, unsigned flags);
PTXI_API ptxiResult ptxiDevicePrimaryCtxGetState(ptxiDevice dev, unsigned *flags, int *active);

/*! ptxiCtxCreate() :
 *  Make a context and push it on this thread's stack of current contexts. The caller owns it: ptxiCtxDestroy.
 * `flags` PTXI_CTX_*.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for unknown flags, PTXI_ERROR_INVALID_DEVICE, or
 *         PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiCtxCreate(ptxiContext *pctx, unsigned flags, ptxiDevice dev);

/*! ptxiCtxDestroy() :
 *  Admit no further calls, wait for those that other threads are in and for the context's work, then free the context with its
 *  modules, memory, streams and events. If it is the calling thread's current context it is popped. If it is current to
 *  another thread, calls there fail. ptxiCtxInterrupt from another thread ends kernels that the call waits for.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for NULL, or PTXI_ERROR_INVALID_CONTEXT for a destroyed or the
 *         primary context. */
PTXI_API ptxiResult ptxiCtxDestroy(ptxiContext ctx);

/*! ptxiCtxSetCurrent() , ptxiCtxGetCurrent() , ptxiCtxPushCurrent() , ptxiCtxPopCurrent() :
 *  Each host thread has a stack of contexts, the top of which is current. Set replaces the top (NULL pops it); Get gives
 *  NULL where there is none; Pop gives what was on top (`pctx` may be NULL).
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT for a bad handle or an empty stack (Pop), or PTXI_ERROR_INVALID_VALUE for NULL (Push). */
PTXI_API ptxiResult ptxiCtxSetCurrent(ptxiContext ctx);
PTXI_API ptxiResult ptxiCtxGetCurrent(ptxiContext *pctx);
PTXI_API ptxiResult ptxiCtxPushCurrent(ptxiContext ctx);
PTXI_API ptxiResult ptxiCtxPopCurrent(ptxiContext *pctx);

/*! ptxiCtxGetDevice() , ptxiCtxGetFlags() , ptxiCtxGetApiVersion() :
 *  The current context's device and creation flags; the API version (`ctx` NULL: the current one), PTXI_DRIVER_VERSION. */
PTXI_API ptxiResult ptxiCtxGetDevice(ptxiDevice *device);
PTXI_API ptxiResult ptxiCtxGetFlags(unsigned *flags);
PTXI_API ptxiResult ptxiCtxGetApiVersion(ptxiContext ctx, unsigned *version);

/*! ptxiCtxSynchronize() :
 *  Wait until all work of the current context has ended; the calling thread helps to run it.
 * @return PTXI_SUCCESS, or the first failure of work not yet returned (see ptxiGetLastReport). */
PTXI_API ptxiResult ptxiCtxSynchronize(void);

/*! ptxiCtxSetLimit() , ptxiCtxGetLimit() :
 *  Limits of the current context; they hold for launches made later.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for an unknown limit, or PTXI_ERROR_UNSUPPORTED_LIMIT. */
PTXI_API ptxiResult ptxiCtxSetLimit(ptxiLimit limit, size_t value);
PTXI_API ptxiResult ptxiCtxGetLimit(size_t *pvalue, ptxiLimit limit);

/*! ptxiCtxGetStreamPriorityRange() :
 *  The priorities that ptxiStreamCreateWithPriority tells apart: 0 and -5, the greatest. Either pointer may be NULL. */
PTXI_API ptxiResult ptxiCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority);

/* ---- modules and functions ----------------------------------------------------------------------------------- */

/*! ptxiModuleLoad() , ptxiModuleLoadData() , ptxiModuleLoadDataEx() :
 *  Parse and check a PTX module, allocate and initialise its variables in the current context. The caller owns it:
 *  ptxiModuleUnload, or the context's end.
 * `fname`        a file of PTX text.
 * `image`        PTX text ending in NUL, or what ptxiLinkComplete made; copied.
 * `numOptions`, `options`, `optionValues`  as the driver's: parallel arrays of ptxiJitOption and values. Unknown options
 *                are an error; sizes and times are written back into optionValues.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_PTX        not PTX as the PTX ISA has it: see the logs or ptxiGetLastDiagnostic
 *         PTXI_ERROR_INVALID_IMAGE      not PTX text at all
 *         PTXI_ERROR_NO_BINARY_FOR_GPU  needs another target, and PTXI_JIT_STRICT_TARGET is on
 *         PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND  names what nothing defines, and PTXI_JIT_STRICT_SYMBOLS is on
 *         PTXI_ERROR_FILE_NOT_FOUND, PTXI_ERROR_OUT_OF_MEMORY, PTXI_ERROR_INVALID_VALUE (an option)
 *  Source: PTX ISA, "PTX Module Directives". */
PTXI_API ptxiResult ptxiModuleLoad(ptxiModule *module, const char *fname);
PTXI_API ptxiResult ptxiModuleLoadData(ptxiModule *module, const void *image);
PTXI_API ptxiResult ptxiModuleLoadDataEx(ptxiModule *module, const void *image, unsigned numOptions,
                                         ptxiJitOption *options, void **optionValues);

/*! ptxiLinkCreate() , ptxiLinkAddData() , ptxiLinkAddFile() , ptxiLinkComplete() , ptxiLinkDestroy() :
 *  Make one module of several PTX texts: what one declares .extern, another one defines. A name without a linking directive
 *  belongs to its text alone. Of several .weak definitions the first one counts, a .visible one goes before them; of several
 *  .common ones the largest. Two .visible definitions, and declarations whose state space, size or parameters differ from
 *  the definition's, are errors that Complete finds; bad PTX is one when it is added, and left out. Of nothing a module without anything in it
 *  is made.
 * `options`      as for ptxiModuleLoadDataEx. Those of Create hold for all; its logs are written by the later calls, one
 *                behind the other, so buffers and optionValues must live as long as the state. Those of Add change nothing.
 * `type`         PTXI_JIT_INPUT_PTX; PTXI_JIT_INPUT_CUBIN for an image that was linked before.
 * `data`         `size` bytes at most, up to a NUL; copied. `name` is for messages and reports; NULL: none.
 * `cubinOut`     the image, for ptxiModuleLoadData; the state's, until Destroy. `*sizeOut` is its size in bytes without the
 *                NUL behind it, and may be NULL. Its form is a matter of the library.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_IMAGE  neither PTX nor a linked image (see the logs or ptxiGetLastDiagnostic)
 *         PTXI_ERROR_INVALID_PTX    Add: PTX that is not right
 *         PTXI_ERROR_INVALID_SOURCE Complete: texts that do not fit together
 *         PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND  Complete: something is undefined, and PTXI_JIT_STRICT_SYMBOLS is on
 *         PTXI_ERROR_ILLEGAL_STATE  Add and Complete after a Complete that succeeded
 *         PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_FILE_NOT_FOUND, PTXI_ERROR_OUT_OF_MEMORY, PTXI_ERROR_INVALID_VALUE
 *  Source: PTX ISA, "Linking Directives". */
PTXI_API ptxiResult ptxiLinkCreate(unsigned numOptions, ptxiJitOption *options, void **optionValues, ptxiLinkState *stateOut);
PTXI_API ptxiResult ptxiLinkAddData(ptxiLinkState state, ptxiJitInputType type, void *data, size_t size, const char *name,
                                    unsigned numOptions, ptxiJitOption *options, void **optionValues);
PTXI_API ptxiResult ptxiLinkAddFile(ptxiLinkState state, ptxiJitInputType type, const char *path, unsigned numOptions,
                                    ptxiJitOption *options, void **optionValues);
PTXI_API ptxiResult ptxiLinkComplete(ptxiLinkState state, void **cubinOut, size_t *sizeOut);
PTXI_API ptxiResult ptxiLinkDestroy(ptxiLinkState state);

/*! ptxiModuleUnload() :
 *  Admit no further calls on a module, wait for the launches of its functions and for the calls that use it, then free the
 *  module, its functions and its variables.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE. */
PTXI_API ptxiResult ptxiModuleUnload(ptxiModule hmod);

/*! ptxiModuleGetFunction() :
 *  The kernel of this name, exactly as PTX spells it. Lives as long as the module.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND, or PTXI_ERROR_INVALID_HANDLE. */
PTXI_API ptxiResult ptxiModuleGetFunction(ptxiFunction *hfunc, ptxiModule hmod, const char *name);

/*! ptxiModuleGetFunctionCount() , ptxiModuleEnumerateFunctions() :
 *  How many kernels the module has, and the first `numFunctions` of them in the order of the text; what is left of a longer array stays as it is.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE. */
PTXI_API ptxiResult ptxiModuleGetFunctionCount(unsigned *count, ptxiModule mod);
PTXI_API ptxiResult ptxiModuleEnumerateFunctions(ptxiFunction *functions, unsigned numFunctions, ptxiModule mod);

/*! ptxiModuleGetGlobal() :
 *  Address and size in bytes of a .global or .const variable of module scope; `dptr` or `bytes` may be NULL.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for no name, a kernel's, or
 *         if both are NULL. */
PTXI_API ptxiResult ptxiModuleGetGlobal(ptxiDevicePtr *dptr, size_t *bytes, ptxiModule hmod, const char *name);

/*! ptxiLibraryLoadData() , ptxiLibraryLoadFromFile() , ptxiLibraryUnload() :
 *  PTX that belongs to no context: it is checked at once, and loaded in a context when that first uses it. The caller owns it; contexts that
 *  end keep nothing of it. Unload waits for the work of the contexts that it was loaded in.
 * `code`            as for ptxiModuleLoadData; copied.
 * `jitOptions`, `jitOptionsValues`, `numJitOptions`  as for ptxiModuleLoadDataEx.
 * `libraryOptions`, `libraryOptionValues`, `numLibraryOptions`  PTXI_LIBRARY_..., which change nothing.
 * @return as ptxiModuleLoadDataEx, but that no context is needed; PTXI_ERROR_INVALID_HANDLE: Unload of what is no library. */
PTXI_API ptxiResult ptxiLibraryLoadData(ptxiLibrary *library, const void *code, ptxiJitOption *jitOptions, void **jitOptionsValues,
                                        unsigned numJitOptions, ptxiLibraryOption *libraryOptions, void **libraryOptionValues,
                                        unsigned numLibraryOptions);
PTXI_API ptxiResult ptxiLibraryLoadFromFile(ptxiLibrary *library, const char *fileName, ptxiJitOption *jitOptions, void **jitOptionsValues,
                                            unsigned numJitOptions, ptxiLibraryOption *libraryOptions, void **libraryOptionValues,
                                            unsigned numLibraryOptions);
PTXI_API ptxiResult ptxiLibraryUnload(ptxiLibrary library);

/*! ptxiLibraryGetKernel() , ptxiLibraryGetKernelCount() , ptxiLibraryEnumerateKernels() , ptxiKernelGetName() , ptxiKernelGetLibrary() :
 *  The kernels of a library, as ptxiModuleGetFunction and its kin; they live as long as the library. Launches and
 *  questions of occupancy take one, cast, in place of a function: it stands for that of the current context. */
PTXI_API ptxiResult ptxiLibraryGetKernel(ptxiKernel *pKernel, ptxiLibrary library, const char *name);
PTXI_API ptxiResult ptxiLibraryGetKernelCount(unsigned *count, ptxiLibrary lib);
PTXI_API ptxiResult ptxiLibraryEnumerateKernels(ptxiKernel *kernels, unsigned numKernels, ptxiLibrary lib);
PTXI_API ptxiResult ptxiKernelGetName(const char **name, ptxiKernel hfunc);
PTXI_API ptxiResult ptxiKernelGetLibrary(ptxiLibrary *pLib, ptxiKernel kernel);

/*! ptxiLibraryGetModule() , ptxiLibraryGetGlobal() , ptxiLibraryGetManaged() , ptxiKernelGetFunction() :
 *  What the library is in the current context: a module, which ptxiModuleUnload does not free, its variables, those of them that are .managed,
 *  and its kernels.
 * @return as ptxiModuleGetGlobal, or what loading it in the context returns. */
PTXI_API ptxiResult ptxiLibraryGetModule(ptxiModule *pMod, ptxiLibrary library);
PTXI_API ptxiResult ptxiLibraryGetGlobal(ptxiDevicePtr *dptr, size_t *bytes, ptxiLibrary library, const char *name);
PTXI_API ptxiResult ptxiLibraryGetManaged(ptxiDevicePtr *dptr, size_t *bytes, ptxiLibrary library, const char *name);
PTXI_API ptxiResult ptxiKernelGetFunction(ptxiFunction *pFunc, ptxiKernel kernel);

/*! ptxiKernelGetAttribute() , ptxiKernelSetAttribute() , ptxiKernelSetCacheConfig() , ptxiKernelGetParamInfo() :
 *  As for the kernel's function in the current context; see ptxiFuncGetAttribute and its kin. */
PTXI_API ptxiResult ptxiKernelGetAttribute(int *pi, ptxiFunctionAttribute attrib, ptxiKernel kernel, ptxiDevice dev);
PTXI_API ptxiResult ptxiKernelSetAttribute(ptxiFunctionAttribute attrib, int val, ptxiKernel kernel, ptxiDevice dev);
PTXI_API ptxiResult ptxiKernelSetCacheConfig(ptxiKernel kernel, ptxiFuncCache config, ptxiDevice dev);
PTXI_API ptxiResult ptxiKernelGetParamInfo(ptxiKernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize);

/*! ptxiFuncGetAttribute() , ptxiFuncSetAttribute() :
 *  Numbers of a kernel; see ptxiFunctionAttribute for units and which can be set.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for an unknown or fixed attribute or a
 *         value beyond what the device profile offers. */
PTXI_API ptxiResult ptxiFuncGetAttribute(int *pi, ptxiFunctionAttribute attrib, ptxiFunction hfunc);
PTXI_API ptxiResult ptxiFuncSetAttribute(ptxiFunction hfunc, ptxiFunctionAttribute attrib, int value);

/*! ptxiFuncSetCacheConfig() :
 *  A hint to a GPU's cache; checked and otherwise without effect.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for what is no ptxiFuncCache. */
PTXI_API ptxiResult ptxiFuncSetCacheConfig(ptxiFunction hfunc, ptxiFuncCache config);

/*! ptxiFuncGetModule() , ptxiFuncGetName() :
 *  The module a kernel belongs to, and its name.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for NULL. */
PTXI_API ptxiResult ptxiFuncGetModule(ptxiModule *hmod, ptxiFunction hfunc);
PTXI_API ptxiResult ptxiFuncGetName(const char **name, ptxiFunction hfunc);

/*! ptxiFuncGetParamInfo() :
 *  Offset in the parameter buffer and size, both in bytes, of the kernel's parameter number `paramIndex`, from 0;
 *  `paramSize` may be NULL.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE past the last parameter. */
PTXI_API ptxiResult ptxiFuncGetParamInfo(ptxiFunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize);

/*! ptxiOccupancyMaxActiveBlocksPerMultiprocessor() :
 *  Blocks of `blockSize` threads and `dynamicSMemSize` bytes that the profile's multiprocessor holds at once; 0 for more bytes than the kernel
 *  may have. */
PTXI_API ptxiResult ptxiOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, ptxiFunction func, int blockSize,
                                                                  size_t dynamicSMemSize);

/*! ptxiOccupancyMaxActiveBlocksPerMultiprocessorWithFlags() , ptxiOccupancyMaxPotentialBlockSize() ,
 *  ptxiOccupancyMaxPotentialBlockSizeWithFlags() :
 *  The same; and the block size that fills a multiprocessor of the profile best, the largest of several, with the grid that fills
 *  the device.
 * `blockSizeToDynamicSMemSize`  NULL: `dynamicSMemSize` bytes for any block.
 * `blockSizeLimit`              threads at most; 0: what the kernel allows.
 * `flags`                       0 or 1, a matter of caches.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE. */
PTXI_API ptxiResult ptxiOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, ptxiFunction func, int blockSize,
                                                                           size_t dynamicSMemSize, unsigned flags);
PTXI_API ptxiResult ptxiOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, ptxiFunction func,
                                                       ptxiOccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                                       int blockSizeLimit);
PTXI_API ptxiResult ptxiOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, ptxiFunction func,
                                                                ptxiOccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                                                int blockSizeLimit, unsigned flags);

/*! ptxiOccupancyAvailableDynamicSMemPerBlock() :
 *  Bytes of dynamic shared memory that each of `numBlocks` blocks may have at once on a multiprocessor; no more than the kernel may have.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE, also for more blocks than a multiprocessor has threads for. */
PTXI_API ptxiResult ptxiOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, ptxiFunction func, int numBlocks, int blockSize);

/*! ptxiOccupancyMaxActiveClusters() , ptxiOccupancyMaxPotentialClusterSize() :
 *  Clusters of a launch that the profile's device holds at once, 0 if it has none; and how many blocks a cluster of such blocks may have at most.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_INVALID_CLUSTER_SIZE, or PTXI_ERROR_INVALID_VALUE. */
PTXI_API ptxiResult ptxiOccupancyMaxActiveClusters(int *numClusters, ptxiFunction func, const ptxiLaunchConfig *config);
PTXI_API ptxiResult ptxiOccupancyMaxPotentialClusterSize(int *clusterSize, ptxiFunction func, const ptxiLaunchConfig *config);

/* ---- memory -------------------------------------------------------------------------------------------------- */

/*! ptxiMemAlloc() , ptxiMemAllocManaged() :
 *  Device memory, aligned to 256 bytes or more; zero, which a program for a GPU cannot rely on (PTXI_FILL in README.md).
 *  Managed memory differs in name only. The caller owns it: ptxiMemFree, or the context's end.
 * `bytesize` bytes, > 0.
 * `flags`    PTXI_MEM_ATTACH_GLOBAL or PTXI_MEM_ATTACH_HOST.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiMemAlloc(ptxiDevicePtr *dptr, size_t bytesize);
PTXI_API ptxiResult ptxiMemAllocManaged(ptxiDevicePtr *dptr, size_t bytesize, unsigned flags);

/*! ptxiMemAllocPitch() :
 *  `Height` rows of `WidthInBytes` bytes, each row starting `*pPitch` bytes after the one before, a multiple of 512.
 * `ElementSizeBytes` 4, 8 or 16: the widest access to be made.
 * @return as ptxiMemAlloc; PTXI_ERROR_INVALID_VALUE also for no bytes, no rows or another element size. */
PTXI_API ptxiResult ptxiMemAllocPitch(ptxiDevicePtr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                                      unsigned ElementSizeBytes);

/*! ptxiMemFree() :
 *  Wait for the context's work, then free. Later accesses are reported as PTXI_FAULT_FREED for a while.
 * @return PTXI_SUCCESS (also for 0), or PTXI_ERROR_INVALID_VALUE for what is not the start of an allocation. */
PTXI_API ptxiResult ptxiMemFree(ptxiDevicePtr dptr);

/*! ptxiMemAllocHost() , ptxiMemHostAlloc() , ptxiMemFreeHost() :
 *  Page-aligned host memory that kernels may use under the same address.
 * `Flags` PTXI_MEMHOSTALLOC_*; they change nothing.
 * @return as ptxiMemAlloc and ptxiMemFree, but 0 bytes give NULL and PTXI_SUCCESS. */
PTXI_API ptxiResult ptxiMemAllocHost(void **pp, size_t bytesize);
PTXI_API ptxiResult ptxiMemHostAlloc(void **pp, size_t bytesize, unsigned Flags);
PTXI_API ptxiResult ptxiMemFreeHost(void *p);

/*! ptxiMemHostRegister() , ptxiMemHostUnregister() :
 *  Let kernels use `bytesize` bytes of the caller's memory at `p`; the caller keeps owning it and must unregister it
 *  before freeing it. Unregister waits for the work of the context in which the memory was registered, and until no other
 *  kernel, copy or stream is accessing it; the memory may then be freed. Later accesses fail, also those that were asked for
 *  before. Two users of the memory are not waited for: a host function that got a pointer from ptxiHostGetPointer, and a
 *  kernel of another context that runs without checks (ptxiCtxSetChecking). They must have ended.
 * `Flags` PTXI_MEMHOSTREGISTER_*; READ_ONLY makes kernels' writes fail, and calls that write there give
 *         PTXI_ERROR_INVALID_VALUE.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE (also where the process has no memory), PTXI_ERROR_HOST_MEMORY_ALREADY_REGISTERED
 *         (overlaps registered memory), PTXI_ERROR_HOST_MEMORY_NOT_REGISTERED. */
PTXI_API ptxiResult ptxiMemHostRegister(void *p, size_t bytesize, unsigned Flags);
PTXI_API ptxiResult ptxiMemHostUnregister(void *p);

/*! ptxiMemHostGetDevicePointer() , ptxiMemHostGetFlags() :
 *  The address under which kernels know allocated or registered host memory (the same), and its flags.
 * `Flags` 0.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for memory the device does not know. */
PTXI_API ptxiResult ptxiMemHostGetDevicePointer(ptxiDevicePtr *pdptr, void *p, unsigned Flags);
PTXI_API ptxiResult ptxiMemHostGetFlags(unsigned *pFlags, void *p);

/*! ptxiMemGetInfo() :
 *  Bytes that can still be allocated, and ptxiDeviceTotalMem. `free` is the C name of a function, hence `freeBytes`. */
PTXI_API ptxiResult ptxiMemGetInfo(size_t *freeBytes, size_t *total);

/*! ptxiMemGetAddressRange() :
 *  Start and size in bytes of the allocation that `dptr` points into; `pbase` or `psize` may be NULL.
 * @return PTXI_SUCCESS, or PTXI_ERROR_NOT_FOUND. */
PTXI_API ptxiResult ptxiMemGetAddressRange(ptxiDevicePtr *pbase, size_t *psize, ptxiDevicePtr dptr);

/*! ptxiPointerGetAttribute() :
 *  What is known of a pointer; `data` points to a value of the type that ptxiPointerAttribute names.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for an unknown attribute or memory the device does not know. */
PTXI_API ptxiResult ptxiPointerGetAttribute(void *data, ptxiPointerAttribute attribute, ptxiDevicePtr ptr);

/*! ptxiPointerGetAttributes() , ptxiPointerSetAttribute() :
 *  Several attributes of a pointer, each into what `data` points to. Of memory the device does not know DEVICE_ORDINAL is -2, RANGE_SIZE is not
 *  written, and the others are 0. SYNC_MEMOPS can be set, which changes nothing. */
PTXI_API ptxiResult ptxiPointerGetAttributes(unsigned numAttributes, ptxiPointerAttribute *attributes, void **data, ptxiDevicePtr ptr);
PTXI_API ptxiResult ptxiPointerSetAttribute(const void *value, ptxiPointerAttribute attribute, ptxiDevicePtr ptr);

/*! ptxiMemAllocAsync() , ptxiMemAllocFromPoolAsync() , ptxiMemFreeAsync() :
 *  Memory in the order of a stream: as ptxiMemAlloc, from the device's current pool or from that one, and freed without waiting, once the stream
 *  comes to it; calls made after that one take it for freed. The address may be used at once. A pool counts its memory until it is freed. Each of
 *  ptxiMemFree and ptxiMemFreeAsync frees memory of the other sort, too.
 * `bytesize` bytes; 0 give 0, which may be freed.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE: what is not the start of an allocation, or is to be freed already,
 *         PTXI_ERROR_OUT_OF_MEMORY with *dptr = 0, also where the pool may not give out so much, PTXI_ERROR_INVALID_HANDLE, or
 *         PTXI_ERROR_NOT_SUPPORTED: managed memory, or the stream is captured. */
PTXI_API ptxiResult ptxiMemAllocAsync(ptxiDevicePtr *dptr, size_t bytesize, ptxiStream hStream);
PTXI_API ptxiResult ptxiMemAllocFromPoolAsync(ptxiDevicePtr *dptr, size_t bytesize, ptxiMemoryPool pool, ptxiStream hStream);
PTXI_API ptxiResult ptxiMemFreeAsync(ptxiDevicePtr dptr, ptxiStream hStream);

/*! ptxiMemPoolCreate() , ptxiMemPoolDestroy() , ptxiDeviceGetDefaultMemPool() , ptxiDeviceGetMemPool() , ptxiDeviceSetMemPool() ,
 *  ptxiMemGetDefaultMemPool() , ptxiMemGetMemPool() , ptxiMemSetMemPool() , ptxiMemPoolTrimTo() :
 *  A pool counts the memory that it gives out and may limit it. It keeps nothing for later, so there is nothing to trim. The device has a pool of
 *  its own and a current one. The caller owns a pool; when it is destroyed its memory stays until it is freed, and where it was current the
 *  default pool is.
 * `location`, `type`  the device and PINNED memory: its pools by another name.
 * `minBytesToKeep`    not looked at.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE: no pool, or the default one (Destroy), or properties that are none,
 *         PTXI_ERROR_NOT_SUPPORTED: memory that is not the device's own, or for other processes, PTXI_ERROR_INVALID_DEVICE, or
 *         PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiMemPoolCreate(ptxiMemoryPool *pool, const ptxiMemPoolProps *poolProps);
PTXI_API ptxiResult ptxiMemPoolDestroy(ptxiMemoryPool pool);
PTXI_API ptxiResult ptxiDeviceGetDefaultMemPool(ptxiMemoryPool *pool_out, ptxiDevice dev);
PTXI_API ptxiResult ptxiDeviceGetMemPool(ptxiMemoryPool *pool, ptxiDevice dev);
PTXI_API ptxiResult ptxiDeviceSetMemPool(ptxiDevice dev, ptxiMemoryPool pool);
PTXI_API ptxiResult ptxiMemGetDefaultMemPool(ptxiMemoryPool *pool_out, ptxiMemLocation *location, ptxiMemAllocationType type);
PTXI_API ptxiResult ptxiMemGetMemPool(ptxiMemoryPool *pool, ptxiMemLocation *location, ptxiMemAllocationType type);
PTXI_API ptxiResult ptxiMemSetMemPool(ptxiMemLocation *location, ptxiMemAllocationType type, ptxiMemoryPool pool);
PTXI_API ptxiResult ptxiMemPoolTrimTo(ptxiMemoryPool pool, size_t minBytesToKeep);

/*! ptxiMemPoolGetAttribute() , ptxiMemPoolSetAttribute() , ptxiMemPoolGetAccess() , ptxiMemPoolSetAccess() :
 *  Numbers of a pool; `value` points to one of the type that ptxiMemPoolAttribute names. Its memory is read and written by the device,
 *  which cannot be changed.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE. */
PTXI_API ptxiResult ptxiMemPoolGetAttribute(ptxiMemoryPool pool, ptxiMemPoolAttribute attr, void *value);
PTXI_API ptxiResult ptxiMemPoolSetAttribute(ptxiMemoryPool pool, ptxiMemPoolAttribute attr, void *value);
PTXI_API ptxiResult ptxiMemPoolGetAccess(ptxiMemAccessFlags *flags, ptxiMemoryPool memPool, ptxiMemLocation *location);
PTXI_API ptxiResult ptxiMemPoolSetAccess(ptxiMemoryPool pool, const ptxiMemAccessDesc *map, size_t count);

/*! ptxiMemcpy() and its kin :
 *  Copy bytes. The forms without Async wait for the legacy default stream's turn and for the copy. The Async forms queue
 *  it; where the host memory is neither allocated nor registered here, they return when it may be used again.
 * `dst`, `src` of ptxiMemcpy: each a device or a host address.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE where a device range is not inside one allocation, or
 *         PTXI_ERROR_INVALID_HANDLE for a bad stream; forms that wait: or an earlier failure. */
PTXI_API ptxiResult ptxiMemcpy(ptxiDevicePtr dst, ptxiDevicePtr src, size_t ByteCount);
PTXI_API ptxiResult ptxiMemcpyHtoD(ptxiDevicePtr dstDevice, const void *srcHost, size_t ByteCount);
PTXI_API ptxiResult ptxiMemcpyDtoH(void *dstHost, ptxiDevicePtr srcDevice, size_t ByteCount);
PTXI_API ptxiResult ptxiMemcpyDtoD(ptxiDevicePtr dstDevice, ptxiDevicePtr srcDevice, size_t ByteCount);
PTXI_API ptxiResult ptxiMemcpyAsync(ptxiDevicePtr dst, ptxiDevicePtr src, size_t ByteCount, ptxiStream hStream);
PTXI_API ptxiResult ptxiMemcpyHtoDAsync(ptxiDevicePtr dstDevice, const void *srcHost, size_t ByteCount,
                                        ptxiStream hStream);
PTXI_API ptxiResult ptxiMemcpyDtoHAsync(void *dstHost, ptxiDevicePtr srcDevice, size_t ByteCount, ptxiStream hStream);
PTXI_API ptxiResult ptxiMemcpyDtoDAsync(ptxiDevicePtr dstDevice, ptxiDevicePtr srcDevice, size_t ByteCount,
                                        ptxiStream hStream);

/*! ptxiMemcpy2D() , ptxiMemcpy2DUnaligned() , ptxiMemcpy2DAsync() :
 *  Copy a rectangle of bytes; pitch 0 means WidthInBytes. Waiting and errors as ptxiMemcpy, and
 *         PTXI_ERROR_INVALID_VALUE  a pitch smaller than XInBytes + WidthInBytes, an unknown memory type, or a place outside an array */
PTXI_API ptxiResult ptxiMemcpy2D(const PTXI_MEMCPY2D *pCopy);
PTXI_API ptxiResult ptxiMemcpy2DUnaligned(const PTXI_MEMCPY2D *pCopy);
PTXI_API ptxiResult ptxiMemcpy2DAsync(const PTXI_MEMCPY2D *pCopy, ptxiStream hStream);

/*! ptxiMemcpy3D() , ptxiMemcpy3DAsync() :
 *  Copy a box of bytes; srcHeight and dstHeight 0 mean Height. LODs are 0. Waiting and errors as ptxiMemcpy2D. */
PTXI_API ptxiResult ptxiMemcpy3D(const PTXI_MEMCPY3D *pCopy);
PTXI_API ptxiResult ptxiMemcpy3DAsync(const PTXI_MEMCPY3D *pCopy, ptxiStream hStream);

/*! ptxiMemcpyAtoH() and its kin :
 *  Copy bytes of an array's first row, from byte `srcOffset` or to byte `dstOffset` on. Waiting and errors as
 *  ptxiMemcpy, and PTXI_ERROR_INVALID_VALUE for a range outside the array. */
PTXI_API ptxiResult ptxiMemcpyAtoH(void *dstHost, ptxiArray srcArray, size_t srcOffset, size_t ByteCount);
PTXI_API ptxiResult ptxiMemcpyHtoA(ptxiArray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount);
PTXI_API ptxiResult ptxiMemcpyAtoD(ptxiDevicePtr dstDevice, ptxiArray srcArray, size_t srcOffset, size_t ByteCount);
PTXI_API ptxiResult ptxiMemcpyDtoA(ptxiArray dstArray, size_t dstOffset, ptxiDevicePtr srcDevice, size_t ByteCount);
PTXI_API ptxiResult ptxiMemcpyAtoA(ptxiArray dstArray, size_t dstOffset, ptxiArray srcArray, size_t srcOffset, size_t ByteCount);
PTXI_API ptxiResult ptxiMemcpyAtoHAsync(void *dstHost, ptxiArray srcArray, size_t srcOffset, size_t ByteCount, ptxiStream hStream);
PTXI_API ptxiResult ptxiMemcpyHtoAAsync(ptxiArray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, ptxiStream hStream);

/*! ptxiMemsetD8() and its kin :
 *  Set `N` elements of 1, 2 or 4 bytes; the D2D forms set `Height` rows of `Width` elements, `dstPitch` bytes apart.
 *  The address and the pitch are multiples of the element size. Waiting and errors as ptxiMemcpy. */
PTXI_API ptxiResult ptxiMemsetD8(ptxiDevicePtr dstDevice, unsigned char uc, size_t N);
PTXI_API ptxiResult ptxiMemsetD16(ptxiDevicePtr dstDevice, unsigned short us, size_t N);
PTXI_API ptxiResult ptxiMemsetD32(ptxiDevicePtr dstDevice, unsigned int ui, size_t N);
PTXI_API ptxiResult ptxiMemsetD8Async(ptxiDevicePtr dstDevice, unsigned char uc, size_t N, ptxiStream hStream);
PTXI_API ptxiResult ptxiMemsetD16Async(ptxiDevicePtr dstDevice, unsigned short us, size_t N, ptxiStream hStream);
PTXI_API ptxiResult ptxiMemsetD32Async(ptxiDevicePtr dstDevice, unsigned int ui, size_t N, ptxiStream hStream);
PTXI_API ptxiResult ptxiMemsetD2D8(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                                   size_t Height);
PTXI_API ptxiResult ptxiMemsetD2D16(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                    size_t Height);
PTXI_API ptxiResult ptxiMemsetD2D32(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                                    size_t Height);
PTXI_API ptxiResult ptxiMemsetD2D8Async(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                                        size_t Height, ptxiStream hStream);
PTXI_API ptxiResult ptxiMemsetD2D16Async(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                         size_t Height, ptxiStream hStream);
PTXI_API ptxiResult ptxiMemsetD2D32Async(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                                         size_t Height, ptxiStream hStream);

/* ---- streams and events -------------------------------------------------------------------------------------- */

/*! ptxiStreamCreate() , ptxiStreamCreateWithPriority() :
 *  A queue whose work runs in order, beside that of other streams. The legacy default stream (NULL) waits for all
 *  earlier work of blocking streams, and they wait for its; NON_BLOCKING streams take no part in that. The caller owns
 *  it: ptxiStreamDestroy, or the context's end.
 * `Flags`    PTXI_STREAM_DEFAULT or PTXI_STREAM_NON_BLOCKING.
 * `priority` smaller goes first where work competes; clamped to the range.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiStreamCreate(ptxiStream *phStream, unsigned Flags);
PTXI_API ptxiResult ptxiStreamCreateWithPriority(ptxiStream *phStream, unsigned flags, int priority);

/*! ptxiStreamGetFlags() , ptxiStreamGetPriority() , ptxiStreamGetCtx() :
 *  What the stream was made with; its priority within the range.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE. */
PTXI_API ptxiResult ptxiStreamGetFlags(ptxiStream hStream, unsigned *flags);
PTXI_API ptxiResult ptxiStreamGetPriority(ptxiStream hStream, int *priority);
PTXI_API ptxiResult ptxiStreamGetCtx(ptxiStream hStream, ptxiContext *pctx);

/*! ptxiStreamDestroy() :
 *  Returns at once; work already queued still runs.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE (also for the default streams). */
PTXI_API ptxiResult ptxiStreamDestroy(ptxiStream hStream);

/*! ptxiStreamSynchronize() , ptxiStreamQuery() :
 *  Wait until all work queued in the stream has ended, the calling thread helping; or only ask.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_READY (Query), PTXI_ERROR_INVALID_HANDLE, or an earlier failure. */
PTXI_API ptxiResult ptxiStreamSynchronize(ptxiStream hStream);
PTXI_API ptxiResult ptxiStreamQuery(ptxiStream hStream);

/*! ptxiStreamWaitEvent() :
 *  Work queued in the stream later waits for what the event's latest record waits for; no effect if never recorded. The event may be
 *  destroyed or recorded again at once.
 * `Flags` 0; 1, which the driver calls external: of a stream under capture, whose graph gets a node that waits for the event.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_INVALID_VALUE: other flags; PTXI_ERROR_ILLEGAL_STATE: 1, and the stream is not
 *         captured; PTXI_ERROR_OUT_OF_MEMORY, or what ptxiStreamBeginCapture says of WaitEvent. */
PTXI_API ptxiResult ptxiStreamWaitEvent(ptxiStream hStream, ptxiEvent hEvent, unsigned Flags);

/*! ptxiStreamWaitValue32() , ptxiStreamWaitValue64() , ptxiStreamWriteValue32() , ptxiStreamWriteValue64() , ptxiStreamBatchMemOp() :
 *  Work queued in the stream later waits until a word of memory has a value, which the host, a kernel or another stream may write; or a word is
 *  written when the stream comes to it. What came before in the stream is to be seen by who sees the word. Batch does several, one after
 *  the other. ptxiCtxInterrupt and the end of the context end waits, too.
 * `addr`  of memory the device knows, a multiple of the word's size.
 * `flags` PTXI_STREAM_WAIT_VALUE_...; to write, and of Batch: 0.
 * `count` 0..255.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE, PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_OUT_OF_MEMORY, or
 *         PTXI_ERROR_NOT_SUPPORTED: to flush remote writes; the stream is captured. */
PTXI_API ptxiResult ptxiStreamWaitValue32(ptxiStream hStream, ptxiDevicePtr addr, uint32_t value, unsigned flags);
PTXI_API ptxiResult ptxiStreamWaitValue64(ptxiStream hStream, ptxiDevicePtr addr, uint64_t value, unsigned flags);
PTXI_API ptxiResult ptxiStreamWriteValue32(ptxiStream hStream, ptxiDevicePtr addr, uint32_t value, unsigned flags);
PTXI_API ptxiResult ptxiStreamWriteValue64(ptxiStream hStream, ptxiDevicePtr addr, uint64_t value, unsigned flags);
PTXI_API ptxiResult ptxiStreamBatchMemOp(ptxiStream hStream, unsigned count, ptxiStreamBatchMemOpParams *paramArray, unsigned flags);

/*! ptxiLaunchHostFunc() :
 *  Queue a call of `fn(userData)` on some thread of the library, or on one that synchronises. `fn` must not call ptxi
 *  functions, which answer PTXI_ERROR_NOT_PERMITTED there. It is not called where earlier work of the stream failed.
 * `userData` the caller's, and must be good until the call.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_INVALID_VALUE: `fn` is NULL; or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiLaunchHostFunc(ptxiStream hStream, ptxiHostFn fn, void *userData);

/*! ptxiEventCreate() , ptxiEventDestroy() :
 *  A mark in a stream. Destroy returns at once. The creator owns it, or the context's end.
 * `Flags` PTXI_EVENT_*; INTERPROCESS is not supported.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE, PTXI_ERROR_NOT_SUPPORTED, PTXI_ERROR_OUT_OF_MEMORY, or
 *         PTXI_ERROR_INVALID_HANDLE (Destroy). */
PTXI_API ptxiResult ptxiEventCreate(ptxiEvent *phEvent, unsigned Flags);
PTXI_API ptxiResult ptxiEventDestroy(ptxiEvent hEvent);

/*! ptxiEventRecord() , ptxiEventRecordWithFlags() :
 *  Mark the place after all work queued in the stream so far; replaces an earlier mark.
 * `flags` 0; 1: of a stream under capture, whose graph gets a node that records the event.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, also where event and stream belong to different contexts, PTXI_ERROR_INVALID_VALUE: other
 *         flags; PTXI_ERROR_ILLEGAL_STATE: 1, and the stream is not captured. */
PTXI_API ptxiResult ptxiEventRecord(ptxiEvent hEvent, ptxiStream hStream);
PTXI_API ptxiResult ptxiEventRecordWithFlags(ptxiEvent hEvent, ptxiStream hStream, unsigned flags);

/*! ptxiEventSynchronize() , ptxiEventQuery() :
 *  Wait for the latest mark, or only ask. An event never recorded counts as reached.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_READY (Query), PTXI_ERROR_INVALID_HANDLE, or an earlier failure of its stream. */
PTXI_API ptxiResult ptxiEventSynchronize(ptxiEvent hEvent);
PTXI_API ptxiResult ptxiEventQuery(ptxiEvent hEvent);

/*! ptxiEventElapsedTime() :
 *  Milliseconds of wall-clock time between two marks reached.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_READY, or PTXI_ERROR_INVALID_HANDLE where one was never recorded or has
 *         PTXI_EVENT_DISABLE_TIMING. */
PTXI_API ptxiResult ptxiEventElapsedTime(float *pMilliseconds, ptxiEvent hStart, ptxiEvent hEnd);

/* ---- launches ------------------------------------------------------------------------------------------------ */

/*! ptxiLaunchKernel() :
 *  Enqueue one grid on a stream; returns before it ends. Shape and meaning of cuLaunchKernel. Grids that the kernel launches
 *  itself (CUDA's dynamic parallelism, from nvcc -rdc=true) run when it has ended, in the order of their streams, and belong to
 *  the launch: its limits, its end and its failure.
 * `gridDimX,Y,Z`   CTAs: 1..2^31-1, 1..65535, 1..65535.
 * `blockDimX,Y,Z`  threads per CTA: 1..1024, 1..1024, 1..64, product <= 1024 and what the kernel allows.
 * `sharedMemBytes` dynamic shared memory per CTA, in bytes, beyond the kernel's static .shared; past 48 KiB in all,
 *                  PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES must have been raised.
 * `hStream`        NULL is the legacy default stream.
 * `kernelParams`   one pointer per .param, in declaration order, each to a value of the declared size;
 *                  copied before return. `extra` is the alternative; at most one of the two is given, none where the
 *                  kernel has no parameters.
 * `extra`          PTXI_LAUNCH_PARAM_BUFFER_POINTER, buffer, PTXI_LAUNCH_PARAM_BUFFER_SIZE, size_t *bytes,
 *                  PTXI_LAUNCH_PARAM_END: all parameters in one buffer, laid out as ptxiFuncGetParamInfo says; copied.
 *                  A buffer that ends early leaves the rest zero.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND  the kernel can reach what is defined nowhere; ptxiGetLastReport lists it
 *         PTXI_ERROR_INVALID_VALUE            a dimension or the shared memory out of range, a block that .maxntid or
 *                                             .reqntid excludes, a NULL kernelParams[k], or more than 511 KiB of .local variables
 *         PTXI_ERROR_INVALID_HANDLE           a bad function or stream
 *         PTXI_ERROR_LAUNCH_OUT_OF_RESOURCES  the buffer of `extra` is longer than the parameters, or the kernel's .shared
 *                                             variables are more than a block of the profile can have
 *         PTXI_ERROR_OUT_OF_MEMORY            nothing was queued
 *         PTXI_ERROR_INVALID_CLUSTER_SIZE     the grid is no multiple of the clusters that the kernel or its attributes ask
 *                                             for, these are too large, or it needs clusters and has none
 *         PTXI_ERROR_NOT_SUPPORTED            its module has 32-bit addresses, or it is too large
 *         The failure of the grid itself is returned later, by a call that synchronises (see ptxiFault).
 *  Threads: any host thread, any number at once; order within a stream.
 *  Source: PTX ISA, "Thread Hierarchy" and "Kernel and Function Directives: .entry". */
PTXI_API ptxiResult ptxiLaunchKernel(ptxiFunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                                     unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
                                     unsigned sharedMemBytes, ptxiStream hStream, void **kernelParams, void **extra);

/*! ptxiLaunchCooperativeKernel() :
 *  ptxiLaunchKernel for a grid all of whose CTAs are alive at once, so that they may wait for each other.
 * @return as ptxiLaunchKernel, or PTXI_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE where the profile could not hold the grid. */
PTXI_API ptxiResult ptxiLaunchCooperativeKernel(ptxiFunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                                                unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
                                                unsigned sharedMemBytes, ptxiStream hStream, void **kernelParams);

/*! ptxiLaunchKernelEx() :
 *  ptxiLaunchKernel with attributes: clusters, cooperative launches, events. Those that only tell how to be fast are checked and have no effect;
 *  each grid begins when all work before it in its stream has ended, whatever the attributes allow. So with
 *  PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION griddepcontrol.wait finds the grids before it complete, and
 *  griddepcontrol.launch_dependents starts nothing early: one of the orders that a GPU may choose.
 *  PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT and _LAUNCH_COMPLETION_EVENT record their event behind the grid, which is later than need be.
 * `config`  read before return.
 * @return as ptxiLaunchKernel and ptxiLaunchCooperativeKernel, or
 *         PTXI_ERROR_INVALID_VALUE  an attribute out of range, or that launches do not have
 *         PTXI_ERROR_INVALID_CLUSTER_SIZE  also preferred clusters that are no multiple of the clusters, or do not divide the grid
 *         PTXI_ERROR_NOT_SUPPORTED  an event without PTXI_EVENT_DISABLE_TIMING; nodes of graphs that kernels change */
PTXI_API ptxiResult ptxiLaunchKernelEx(const ptxiLaunchConfig *config, ptxiFunction f, void **kernelParams, void **extra);

/* Graphs: launches, copies, fills and host functions with the order between them, to be launched together, again and again. A graph and an
 * instance of it are the caller's; nodes live as long as their graph.
 *  Errors   beside what a call says of itself: PTXI_ERROR_INVALID_VALUE for NULL as a graph or an instance, PTXI_ERROR_INVALID_HANDLE for a bad
 *           graph, node or instance, PTXI_ERROR_OUT_OF_MEMORY.
 *  Threads  calls on graphs take place one after the other; a launch of an instance waits for another one of the same instance. */

/*! ptxiGraphCreate() , ptxiGraphDestroy() , ptxiGraphClone() , ptxiGraphNodeFindInClone() :
 *  An empty graph; a copy of one, with copies of the graphs in it, and the node of the copy that was made of a node.
 * `flags` 0.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE: Destroy: a graph that belongs to a node. FindInClone: no such node.
 *         PTXI_ERROR_ILLEGAL_STATE: Destroy: the graph of a capture that has not ended. */
PTXI_API ptxiResult ptxiGraphCreate(ptxiGraph *phGraph, unsigned flags);
PTXI_API ptxiResult ptxiGraphDestroy(ptxiGraph hGraph);
PTXI_API ptxiResult ptxiGraphClone(ptxiGraph *phGraphClone, ptxiGraph originalGraph);
PTXI_API ptxiResult ptxiGraphNodeFindInClone(ptxiGraphNode *phNode, ptxiGraphNode hOriginalNode, ptxiGraph hClonedGraph);

/*! ptxiGraphAddKernelNode() , ptxiGraphAddMemcpyNode() , ptxiGraphAddMemsetNode() , ptxiGraphAddHostNode() , ptxiGraphAddEmptyNode() ,
 *  ptxiGraphAddChildGraphNode() , ptxiGraphAddNode() , ptxiGraphConditionalHandleCreate() , ptxiGraphAddDependencies() :
 *  Nodes, and edges between them.
 * `dependencies`  `numDependencies` nodes of the same graph that end before the new one begins; AddDependencies adds more, edge
 *                 i from from[i] to to[i].
 * `dependencyData`, `edgeData`  NULL, or what the edges go from and to, which is kept; a node begins when the ones before it have ended, whatever
 *                 an edge allows.
 * `nodeParams`, `copyParams`, `memsetParams`  read before return, kernels' parameters with them, which are as for ptxiLaunchKernel.
 *                 `ctx` is not looked at.
 * `childGraph`    copied; the copy belongs to the node.
 *  A conditional node, which only AddNode makes, runs one of its bodies by the value of a condition; the bodies are given out in `nodeParams`,
 *  belong to the node and are filled by these calls. The condition belongs to the graph and all its copies; kernels set it.
 * `flags`         PTXI_GRAPH_COND_ASSIGN_DEFAULT: each launch begins with `defaultLaunchValue`, else with what was there.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE  an argument out of range, a node of another graph, a kernel's grid that no launch would take
 *         PTXI_ERROR_NOT_SUPPORTED  edges with data; AddNode: other types of nodes */
PTXI_API ptxiResult ptxiGraphAddKernelNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                           size_t numDependencies, const PTXI_KERNEL_NODE_PARAMS *nodeParams);
PTXI_API ptxiResult ptxiGraphAddMemcpyNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                           size_t numDependencies, const PTXI_MEMCPY3D *copyParams, ptxiContext ctx);
PTXI_API ptxiResult ptxiGraphAddMemsetNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                           size_t numDependencies, const PTXI_MEMSET_NODE_PARAMS *memsetParams, ptxiContext ctx);
PTXI_API ptxiResult ptxiGraphAddHostNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                         size_t numDependencies, const PTXI_HOST_NODE_PARAMS *nodeParams);
PTXI_API ptxiResult ptxiGraphAddEmptyNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                          size_t numDependencies);
PTXI_API ptxiResult ptxiGraphAddChildGraphNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                               size_t numDependencies, ptxiGraph childGraph);
PTXI_API ptxiResult ptxiGraphAddNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, const ptxiGraphEdgeData *dependencyData,
                                     size_t numDependencies, ptxiGraphNodeParams *nodeParams);
PTXI_API ptxiResult ptxiGraphConditionalHandleCreate(ptxiGraphConditionalHandle *pHandle_out, ptxiGraph hGraph, ptxiContext ctx,
                                                     unsigned defaultLaunchValue, unsigned flags);
PTXI_API ptxiResult ptxiGraphAddDependencies(ptxiGraph hGraph, const ptxiGraphNode *from, const ptxiGraphNode *to, const ptxiGraphEdgeData *edgeData,
                                             size_t numDependencies);

/*! ptxiGraphAddEventRecordNode() , ptxiGraphAddEventWaitNode() , ptxiGraphEventRecordNodeGetEvent() and its kin :
 *  Nodes that record an event, and that wait for what it was recorded behind when they are reached. The event may be destroyed; then launches that
 *  reach the node fail.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, also for a bad event, or PTXI_ERROR_INVALID_VALUE for a node of another kind. */
PTXI_API ptxiResult ptxiGraphAddEventRecordNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                                size_t numDependencies, ptxiEvent event);
PTXI_API ptxiResult ptxiGraphAddEventWaitNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                              size_t numDependencies, ptxiEvent event);
PTXI_API ptxiResult ptxiGraphEventRecordNodeGetEvent(ptxiGraphNode hNode, ptxiEvent *event_out);
PTXI_API ptxiResult ptxiGraphEventRecordNodeSetEvent(ptxiGraphNode hNode, ptxiEvent event);
PTXI_API ptxiResult ptxiGraphEventWaitNodeGetEvent(ptxiGraphNode hNode, ptxiEvent *event_out);
PTXI_API ptxiResult ptxiGraphEventWaitNodeSetEvent(ptxiGraphNode hNode, ptxiEvent event);
PTXI_API ptxiResult ptxiGraphExecEventRecordNodeSetEvent(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiEvent event);
PTXI_API ptxiResult ptxiGraphExecEventWaitNodeSetEvent(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiEvent event);

/*! ptxiGraphRemoveDependencies() , ptxiGraphDestroyNode() :
 *  Take edges out of a graph, or a node with all edges from and to it. Instances keep theirs.
 * `edgeData` as for ptxiGraphAddDependencies.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE: there is no such edge. */
PTXI_API ptxiResult ptxiGraphRemoveDependencies(ptxiGraph hGraph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                                const ptxiGraphEdgeData *edgeData, size_t numDependencies);
PTXI_API ptxiResult ptxiGraphDestroyNode(ptxiGraphNode hNode);

/*! ptxiGraphGetNodes() , ptxiGraphGetRootNodes() , ptxiGraphGetEdges() , ptxiGraphNodeGetDependencies() , ptxiGraphNodeGetDependentNodes() ,
 *  ptxiGraphNodeGetType() , ptxiGraphChildGraphNodeGetGraph() :
 *  What a graph consists of. The graph of a child node is the node's own: it may be changed, and nobody destroys it.
 * `numNodes` and the like  in: room in the array; out: nodes given, or how many there are where the array is NULL. What is left of the
 *                 array becomes NULL. Of edges, both arrays are given or none.
 * `edgeData` NULL, or room for as many.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE: not a child node, or edges without data into no room,
 *         PTXI_ERROR_LOSSY_QUERY: there is an edge with data, and no room for it. */
PTXI_API ptxiResult ptxiGraphGetNodes(ptxiGraph hGraph, ptxiGraphNode *nodes, size_t *numNodes);
PTXI_API ptxiResult ptxiGraphGetRootNodes(ptxiGraph hGraph, ptxiGraphNode *rootNodes, size_t *numRootNodes);
PTXI_API ptxiResult ptxiGraphGetEdges(ptxiGraph hGraph, ptxiGraphNode *from, ptxiGraphNode *to, ptxiGraphEdgeData *edgeData, size_t *numEdges);
PTXI_API ptxiResult ptxiGraphNodeGetDependentNodes(ptxiGraphNode hNode, ptxiGraphNode *dependentNodes, ptxiGraphEdgeData *edgeData,
                                                   size_t *numDependentNodes);
PTXI_API ptxiResult ptxiGraphNodeGetDependencies(ptxiGraphNode hNode, ptxiGraphNode *dependencies, ptxiGraphEdgeData *edgeData, size_t *numDependencies);
PTXI_API ptxiResult ptxiGraphNodeGetType(ptxiGraphNode hNode, ptxiGraphNodeType *type);
PTXI_API ptxiResult ptxiGraphChildGraphNodeGetGraph(ptxiGraphNode hNode, ptxiGraph *phGraph);

/*! ptxiGraphKernelNodeSetParams() , ptxiGraphKernelNodeSetAttribute() and their kin for other nodes, ptxiGraphNodeSetParams() for any :
 *  What a node does, as Add took it. What GetParams points to is the node's own, until it is changed.
 * `attr` see ptxiLaunchKernelEx; those that have no effect are kept. CopyAttributes gives `dst` those of `src`.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE: a node of another kind, what Add does not take, an attribute of launches only, clusters
 *         that the node to copy to cannot have; PTXI_ERROR_INVALID_CLUSTER_SIZE: that the node cannot have. */
PTXI_API ptxiResult ptxiGraphNodeSetParams(ptxiGraphNode hNode, ptxiGraphNodeParams *nodeParams);
PTXI_API ptxiResult ptxiGraphKernelNodeGetParams(ptxiGraphNode hNode, PTXI_KERNEL_NODE_PARAMS *nodeParams);
PTXI_API ptxiResult ptxiGraphKernelNodeGetAttribute(ptxiGraphNode hNode, ptxiLaunchAttributeID attr, ptxiLaunchAttributeValue *value_out);
PTXI_API ptxiResult ptxiGraphKernelNodeCopyAttributes(ptxiGraphNode dst, ptxiGraphNode src);
PTXI_API ptxiResult ptxiGraphKernelNodeSetParams(ptxiGraphNode hNode, const PTXI_KERNEL_NODE_PARAMS *nodeParams);
PTXI_API ptxiResult ptxiGraphKernelNodeSetAttribute(ptxiGraphNode hNode, ptxiLaunchAttributeID attr, const ptxiLaunchAttributeValue *value);
PTXI_API ptxiResult ptxiGraphMemcpyNodeSetParams(ptxiGraphNode hNode, const PTXI_MEMCPY3D *nodeParams);
PTXI_API ptxiResult ptxiGraphMemcpyNodeGetParams(ptxiGraphNode hNode, PTXI_MEMCPY3D *nodeParams);
PTXI_API ptxiResult ptxiGraphMemsetNodeSetParams(ptxiGraphNode hNode, const PTXI_MEMSET_NODE_PARAMS *nodeParams);
PTXI_API ptxiResult ptxiGraphMemsetNodeGetParams(ptxiGraphNode hNode, PTXI_MEMSET_NODE_PARAMS *nodeParams);
PTXI_API ptxiResult ptxiGraphHostNodeSetParams(ptxiGraphNode hNode, const PTXI_HOST_NODE_PARAMS *nodeParams);
PTXI_API ptxiResult ptxiGraphHostNodeGetParams(ptxiGraphNode hNode, PTXI_HOST_NODE_PARAMS *nodeParams);

/*! ptxiGraphInstantiate() , ptxiGraphInstantiateWithFlags() , ptxiGraphInstantiateWithParams() , ptxiGraphExecGetFlags() , ptxiGraphExecDestroy() :
 *  What can be launched: a copy of the graph, which may then be changed or destroyed.
 * `flags` PTXI_GRAPH_INSTANTIATE_FLAG_*, which change nothing; _UPLOAD with Params only, where there is a stream. GetFlags tells those that last.
 * `instantiateParams`  flags, and how it went.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE: dependencies that go in a circle, other flags. */
PTXI_API ptxiResult ptxiGraphInstantiate(ptxiGraphExec *phGraphExec, ptxiGraph hGraph, unsigned long long flags);
PTXI_API ptxiResult ptxiGraphInstantiateWithFlags(ptxiGraphExec *phGraphExec, ptxiGraph hGraph, unsigned long long flags);
PTXI_API ptxiResult ptxiGraphInstantiateWithParams(ptxiGraphExec *phGraphExec, ptxiGraph hGraph, PTXI_GRAPH_INSTANTIATE_PARAMS *instantiateParams);
PTXI_API ptxiResult ptxiGraphExecGetFlags(ptxiGraphExec hGraphExec, unsigned long long *flags);
PTXI_API ptxiResult ptxiGraphExecDestroy(ptxiGraphExec hGraphExec);

/*! ptxiGraphNodeSetEnabled() , ptxiGraphNodeGetEnabled() :
 *  Whether an instance's node does what it says, or is passed by; kernels, copies and fills only. Updates leave that as it is.
 * `hNode`     see ptxiGraphExecUpdate.
 * `isEnabled` 0: passed by.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another graph or kind. */
PTXI_API ptxiResult ptxiGraphNodeSetEnabled(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, unsigned isEnabled);
PTXI_API ptxiResult ptxiGraphNodeGetEnabled(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, unsigned *isEnabled);

/*! ptxiGraphExecUpdate() , ptxiGraphExecKernelNodeSetParams() and its kin, ptxiGraphExecNodeSetParams() for any node :
 *  Give an instance the parameters of another graph, which has the same nodes and dependencies in the same order, or those of a single node.
 * `hNode`       the graph's node, which the instance has a copy of; also one of a child graph.
 * `resultInfo`  out: what differs, and at which node of `hGraph`.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_GRAPH_EXEC_UPDATE_FAILURE  Update, ChildGraphNodeSetParams: another shape; nothing has changed
 *         PTXI_ERROR_INVALID_VALUE              a node of another graph or kind, or what Add does not take */
PTXI_API ptxiResult ptxiGraphExecUpdate(ptxiGraphExec hGraphExec, ptxiGraph hGraph, ptxiGraphExecUpdateResultInfo *resultInfo);
PTXI_API ptxiResult ptxiGraphExecNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiGraphNodeParams *nodeParams);
PTXI_API ptxiResult ptxiGraphExecKernelNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                                     const PTXI_KERNEL_NODE_PARAMS *nodeParams);
PTXI_API ptxiResult ptxiGraphExecMemcpyNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, const PTXI_MEMCPY3D *copyParams,
                                                     ptxiContext ctx);
PTXI_API ptxiResult ptxiGraphExecMemsetNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                                     const PTXI_MEMSET_NODE_PARAMS *memsetParams, ptxiContext ctx);
PTXI_API ptxiResult ptxiGraphExecHostNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, const PTXI_HOST_NODE_PARAMS *nodeParams);
PTXI_API ptxiResult ptxiGraphExecChildGraphNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiGraph childGraph);

/*! ptxiGraphLaunch() , ptxiGraphUpload() :
 *  Gives the instance's work to a stream, where it runs node by node in an order that the dependencies allow; the instance may be changed or
 *  destroyed right after. Before a conditional node Launch waits for what comes before, to know the condition; such a graph cannot be captured.
 *  Upload does nothing.
 * @return PTXI_SUCCESS, or what the calls for the single nodes return. What was queued before stays. */
PTXI_API ptxiResult ptxiGraphLaunch(ptxiGraphExec hGraphExec, ptxiStream hStream);
PTXI_API ptxiResult ptxiGraphUpload(ptxiGraphExec hGraphExec, ptxiStream hStream);

/*! ptxiStreamBeginCapture() , ptxiStreamEndCapture() , ptxiStreamIsCapturing() , ptxiStreamGetCaptureInfo() ,
 *  ptxiThreadExchangeStreamCaptureMode() :
 *  Between Begin and End, work given to the stream does not run but becomes nodes of a graph, each behind the one before: kernels,
 *  asynchronous copies and fills, host functions. Other streams take part once they wait for an event that was recorded in the
 *  capture, and must have been waited for in the same way before its end.
 * `mode`     GLOBAL and THREAD_LOCAL: End is the same thread's matter. Which other calls a mode forbids meanwhile is not looked at;
 *            ptxiThreadExchangeStreamCaptureMode stores a mode for the thread and gives out the last one.
 * `phGraph`  the caller's; NULL after an error, by which the capture has ended, too, but for the first three of End's.
 * `id_out` and what follows  of an active capture, and may be NULL; the graph and the nodes are the capture's.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_ILLEGAL_STATE                Begin: captured already. End: not captured
 *         PTXI_ERROR_STREAM_CAPTURE_UNMATCHED     End: begun in another stream
 *         PTXI_ERROR_STREAM_CAPTURE_WRONG_THREAD  End: begun in another thread
 *         PTXI_ERROR_STREAM_CAPTURE_UNJOINED      End: a stream was not waited for
 *         PTXI_ERROR_STREAM_CAPTURE_INVALIDATED   End, and work given to the stream: a call before has spoilt the capture
 *         PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED   Begin: the default stream. Calls that wait for or ask after a stream: it is captured,
 *                                                 and that spoils it
 *         PTXI_ERROR_STREAM_CAPTURE_ISOLATION, _IMPLICIT, _MERGE  WaitEvent: work outside, the default stream, another capture
 *         PTXI_ERROR_CAPTURED_EVENT               EventSynchronize, EventQuery: the event stands for captured work
 *         PTXI_ERROR_NOT_SUPPORTED                bytes of arrays copied by offset
 *         PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_INVALID_VALUE, PTXI_ERROR_OUT_OF_MEMORY */
PTXI_API ptxiResult ptxiStreamBeginCapture(ptxiStream hStream, ptxiStreamCaptureMode mode);
PTXI_API ptxiResult ptxiStreamEndCapture(ptxiStream hStream, ptxiGraph *phGraph);
PTXI_API ptxiResult ptxiStreamIsCapturing(ptxiStream hStream, ptxiStreamCaptureStatus *captureStatus);
PTXI_API ptxiResult ptxiStreamGetCaptureInfo(ptxiStream hStream, ptxiStreamCaptureStatus *captureStatus_out, unsigned long long *id_out,
                                             ptxiGraph *graph_out, const ptxiGraphNode **dependencies_out, size_t *numDependencies_out);
PTXI_API ptxiResult ptxiThreadExchangeStreamCaptureMode(ptxiStreamCaptureMode *mode);

/*! ptxiTensorMapEncodeTiled() :
 *  Describes a tensor in device memory and the boxes of it that cp.async.bulk.tensor copies. Shape and meaning of
 *  cuTensorMapEncodeTiled; the map is for this library only.
 * `globalDim`       elements along each dimension, the innermost first: 1..2^32.
 * `globalStrides`   bytes from one to the next, of dimensions 1 and up: multiples of 16 below 2^40.
 * `boxDim`          1..256 along each dimension; a row of the box is a multiple of 16 bytes, with a swizzle at most as long as its span.
 * `elementStrides`  1..8; the first is used where the layout is interleaved.
 * `interleave`      of 16 or 32 bytes: 3 dimensions or more, of which the first counts places of so many bytes and the last but one slices.
 *  Of PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B a row of the tensor has whole bytes. PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B and
 *  PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B have rows of a multiple of 128 elements, of which a box has 128, address and strides of a multiple of 32
 *  bytes, no interleaving, and no swizzle or one of 128 bytes that flips nothing.
 * @return PTXI_SUCCESS, or the driver's
 *         PTXI_ERROR_INVALID_VALUE  an argument out of range or not aligned; on devices before sm_100 also types of 4 and 6 bits and swizzles of
 *                                   atoms above 16 bytes */
PTXI_API ptxiResult ptxiTensorMapEncodeTiled(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType, uint32_t tensorRank,
                                             void *globalAddress, const uint64_t *globalDim, const uint64_t *globalStrides,
                                             const uint32_t *boxDim, const uint32_t *elementStrides, ptxiTensorMapInterleave interleave,
                                             ptxiTensorMapSwizzle swizzle, ptxiTensorMapL2promotion l2Promotion,
                                             ptxiTensorMapFloatOOBfill oobFill);

/*! ptxiTensorMapEncodeIm2col() :
 *  The same for copies in im2col mode: columns of pixels, each with some of its channels. Shape and meaning of cuTensorMapEncodeIm2col.
 * `tensorRank`      3..5: channels, one to three dimensions of pixels, images.
 * `pixelBoxLowerCorner`, `pixelBoxUpperCorner`  tensorRank - 2 each, the innermost first: where pixels begin, counted from the first one, and end,
 *                   counted from the last one; within -2^15..2^15-1, -2^7..2^7-1, -2^4..2^4-1 for 3, 4, 5 dimensions.
 * `channelsPerPixel`  1..256, a multiple of 16 bytes, with a swizzle at most as long as its span.
 * `pixelsPerColumn` 1..1024.
 * @return as ptxiTensorMapEncodeTiled. */
PTXI_API ptxiResult ptxiTensorMapEncodeIm2col(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType, uint32_t tensorRank,
                                              void *globalAddress, const uint64_t *globalDim, const uint64_t *globalStrides,
                                              const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner, uint32_t channelsPerPixel,
                                              uint32_t pixelsPerColumn, const uint32_t *elementStrides,
                                              ptxiTensorMapInterleave interleave, ptxiTensorMapSwizzle swizzle,
                                              ptxiTensorMapL2promotion l2Promotion, ptxiTensorMapFloatOOBfill oobFill);

/*! ptxiTensorMapEncodeIm2colWide() :
 *  The same for im2col::w and im2col::w::128, in which pixels follow each other along the innermost of their dimensions only. Shape and
 *  meaning of cuTensorMapEncodeIm2colWide.
 * `pixelBoxLowerCornerWidth`, `pixelBoxUpperCornerWidth`  as the corners of ptxiTensorMapEncodeIm2col, of that dimension: -2^15..2^15-1.
 * `pixelsPerColumn` 1..1024; not used with PTXI_TENSOR_MAP_IM2COL_WIDE_MODE_W128, which has 128.
 * `swizzle`         none, 64B, 128B or 128B_ATOM_32B.
 * @return as ptxiTensorMapEncodeTiled. */
PTXI_API ptxiResult ptxiTensorMapEncodeIm2colWide(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType, uint32_t tensorRank,
                                                  void *globalAddress, const uint64_t *globalDim, const uint64_t *globalStrides,
                                                  int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth, uint32_t channelsPerPixel,
                                                  uint32_t pixelsPerColumn, const uint32_t *elementStrides,
                                                  ptxiTensorMapInterleave interleave, ptxiTensorMapIm2ColWideMode mode,
                                                  ptxiTensorMapSwizzle swizzle, ptxiTensorMapL2promotion l2Promotion,
                                                  ptxiTensorMapFloatOOBfill oobFill);

/*! ptxiTensorMapReplaceAddress() :
 *  Gives a map, made by one of the calls above, another tensor of the same shape. Shape and meaning of cuTensorMapReplaceAddress.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE: no map, or an address that is not aligned as it must be. */
PTXI_API ptxiResult ptxiTensorMapReplaceAddress(ptxiTensorMap *tensorMap, void *globalAddress);

/* ---- textures and surfaces ----------------------------------------------------------------------------------- */

/*! ptxiArrayCreate() , ptxiArray3DCreate() , ptxiArrayDestroy() :
 *  Memory for texels, zero as that of ptxiMemAlloc. Destroying waits for the context's work.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE   a size, format, number of channels or mix of flags that the driver does not take
 *         PTXI_ERROR_INVALID_HANDLE  not an array; one level of a mipmapped array stays as it is
 *         PTXI_ERROR_OUT_OF_MEMORY */
PTXI_API ptxiResult ptxiArrayCreate(ptxiArray *pHandle, const PTXI_ARRAY_DESCRIPTOR *pAllocateArray);
PTXI_API ptxiResult ptxiArray3DCreate(ptxiArray *pHandle, const PTXI_ARRAY3D_DESCRIPTOR *pAllocateArray);
PTXI_API ptxiResult ptxiArrayDestroy(ptxiArray hArray);

/*! ptxiArrayGetDescriptor() , ptxiArray3DGetDescriptor() :
 *  What the array was made from; of a level of a mipmapped array, with that level's sizes.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE. */
PTXI_API ptxiResult ptxiArrayGetDescriptor(PTXI_ARRAY_DESCRIPTOR *pArrayDescriptor, ptxiArray hArray);
PTXI_API ptxiResult ptxiArray3DGetDescriptor(PTXI_ARRAY3D_DESCRIPTOR *pArrayDescriptor, ptxiArray hArray);

/*! ptxiMipmappedArrayCreate() , ptxiMipmappedArrayGetLevel() , ptxiMipmappedArrayDestroy() :
 *  An array and smaller ones, each half as large along every dimension but that of layers. The arrays of the levels belong to it.
 * `numMipmapLevels` 1 .. 1 + floor(log2(largest size)); larger numbers are cut.
 * @return as ptxiArray3DCreate; PTXI_ERROR_INVALID_VALUE for a level that there is not. */
PTXI_API ptxiResult ptxiMipmappedArrayCreate(ptxiMipmappedArray *pHandle, const PTXI_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                             unsigned numMipmapLevels);
PTXI_API ptxiResult ptxiMipmappedArrayGetLevel(ptxiArray *pLevelArray, ptxiMipmappedArray hMipmappedArray, unsigned level);
PTXI_API ptxiResult ptxiMipmappedArrayDestroy(ptxiMipmappedArray hMipmappedArray);

/*! ptxiTexObjectCreate() , ptxiTexObjectDestroy() :
 *  What a kernel reads by tex, tld4 and txq, as the .u64 that names the texture. Arrays and memory must live as long as it is used.
 *  Destroying waits for the context's work; 0 names no texture, and nothing happens. The number means a texture only in
 *  kernels and calls of the context in which it was made.
 * `pResViewDesc` another format of the same bytes, or fewer levels and layers; NULL: all as it is.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a NULL pointer, an object that is none, memory that is none or not aligned
 *         (TEXTURE_ALIGNMENT, TEXTURE_PITCH_ALIGNMENT), a mode or flag out of range, or linear filtering of integers that are read as
 *         such; PTXI_ERROR_INVALID_HANDLE for a bad array; PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiTexObjectCreate(ptxiTexObject *pTexObject, const PTXI_RESOURCE_DESC *pResDesc, const PTXI_TEXTURE_DESC *pTexDesc,
                                        const PTXI_RESOURCE_VIEW_DESC *pResViewDesc);
PTXI_API ptxiResult ptxiTexObjectDestroy(ptxiTexObject texObject);

/*! ptxiTexObjectGetResourceDesc() , ptxiTexObjectGetTextureDesc() , ptxiTexObjectGetResourceViewDesc() :
 *  What the object was made from.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for what is no object, or one without a view. */
PTXI_API ptxiResult ptxiTexObjectGetResourceDesc(PTXI_RESOURCE_DESC *pResDesc, ptxiTexObject texObject);
PTXI_API ptxiResult ptxiTexObjectGetTextureDesc(PTXI_TEXTURE_DESC *pTexDesc, ptxiTexObject texObject);
PTXI_API ptxiResult ptxiTexObjectGetResourceViewDesc(PTXI_RESOURCE_VIEW_DESC *pResViewDesc, ptxiTexObject texObject);

/*! ptxiSurfObjectCreate() , ptxiSurfObjectDestroy() , ptxiSurfObjectGetResourceDesc() :
 *  What a kernel reads and writes by suld, sust and sured: an array, which should be made with PTXI_ARRAY3D_SURFACE_LDST; the driver does not insist.
 * @return as for textures; PTXI_ERROR_INVALID_VALUE for other resources. */
PTXI_API ptxiResult ptxiSurfObjectCreate(ptxiSurfObject *pSurfObject, const PTXI_RESOURCE_DESC *pResDesc);
PTXI_API ptxiResult ptxiSurfObjectDestroy(ptxiSurfObject surfObject);
PTXI_API ptxiResult ptxiSurfObjectGetResourceDesc(PTXI_RESOURCE_DESC *pResDesc, ptxiSurfObject surfObject);

/*! ptxiModuleGetTexRef() , ptxiModuleGetSurfRef() :
 *  The .texref or .surfref variable of that name, which lives as long as its module.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiModuleGetTexRef(ptxiTexRef *pTexRef, ptxiModule hmod, const char *name);
PTXI_API ptxiResult ptxiModuleGetSurfRef(ptxiSurfRef *pSurfRef, ptxiModule hmod, const char *name);

/*! ptxiTexRefSetArray() and its kin :
 *  What a .texref variable stands for in launches made later. It begins with nothing bound, wrapping, unnormalised coordinates and
 *  point filtering.
 * `Flags` of SetArray and SetMipmappedArray: PTXI_TRSA_OVERRIDE_FORMAT; of SetFlags: PTXI_TRSF_...
 * `dptr`, `bytes` memory that must live as long as it is bound; both 0: nothing is bound any more.
 * `ByteOffset` out: how far `dptr` is from the multiple of PTXI_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT before it, where the texture begins; may be
 *              NULL where that is 0.
 * `Pitch`      bytes from one row of texels to the next.
 * `dim`        0, 1, 2: x, y, z.
 * @return as ptxiTexObjectCreate; PTXI_ERROR_INVALID_HANDLE also for a bad reference. */
PTXI_API ptxiResult ptxiTexRefSetArray(ptxiTexRef hTexRef, ptxiArray hArray, unsigned Flags);
PTXI_API ptxiResult ptxiTexRefSetMipmappedArray(ptxiTexRef hTexRef, ptxiMipmappedArray hMipmappedArray, unsigned Flags);
PTXI_API ptxiResult ptxiTexRefSetAddress(size_t *ByteOffset, ptxiTexRef hTexRef, ptxiDevicePtr dptr, size_t bytes);
PTXI_API ptxiResult ptxiTexRefSetAddress2D(ptxiTexRef hTexRef, const PTXI_ARRAY_DESCRIPTOR *desc, ptxiDevicePtr dptr, size_t Pitch);
PTXI_API ptxiResult ptxiTexRefSetFormat(ptxiTexRef hTexRef, ptxiArrayFormat fmt, int NumPackedComponents);
PTXI_API ptxiResult ptxiTexRefSetAddressMode(ptxiTexRef hTexRef, int dim, ptxiAddressMode am);
PTXI_API ptxiResult ptxiTexRefSetFilterMode(ptxiTexRef hTexRef, ptxiFilterMode fm);
PTXI_API ptxiResult ptxiTexRefSetMipmapFilterMode(ptxiTexRef hTexRef, ptxiFilterMode fm);
PTXI_API ptxiResult ptxiTexRefSetMipmapLevelBias(ptxiTexRef hTexRef, float bias);
PTXI_API ptxiResult ptxiTexRefSetMipmapLevelClamp(ptxiTexRef hTexRef, float minMipmapLevelClamp, float maxMipmapLevelClamp);
PTXI_API ptxiResult ptxiTexRefSetMaxAnisotropy(ptxiTexRef hTexRef, unsigned maxAniso);
PTXI_API ptxiResult ptxiTexRefSetBorderColor(ptxiTexRef hTexRef, float *pBorderColor);
PTXI_API ptxiResult ptxiTexRefSetFlags(ptxiTexRef hTexRef, unsigned Flags);

/*! ptxiTexRefCreate() , ptxiTexRefDestroy() :
 *  A reference that no kernel knows, to be set and asked; those of modules are not destroyed.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_INVALID_VALUE: NULL; PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiTexRefCreate(ptxiTexRef *pTexRef);
PTXI_API ptxiResult ptxiTexRefDestroy(ptxiTexRef hTexRef);

/*! ptxiTexRefGetAddress() , ptxiTexRefGetArray() , ptxiTexRefGetMipmappedArray() , ptxiTexRefGetFormat() , ptxiTexRefGetAddressMode() ,
 *  ptxiTexRefGetFilterMode() , ptxiTexRefGetMipmapFilterMode() , ptxiTexRefGetMipmapLevelBias() , ptxiTexRefGetMipmapLevelClamp() ,
 *  ptxiTexRefGetMaxAnisotropy() , ptxiTexRefGetBorderColor() , ptxiTexRefGetFlags() :
 *  What was set, or what a reference begins with.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE: it is not bound to that, or has no such dimension. */
PTXI_API ptxiResult ptxiTexRefGetAddress(ptxiDevicePtr *pdptr, ptxiTexRef hTexRef);
PTXI_API ptxiResult ptxiTexRefGetArray(ptxiArray *phArray, ptxiTexRef hTexRef);
PTXI_API ptxiResult ptxiTexRefGetMipmappedArray(ptxiMipmappedArray *phMipmappedArray, ptxiTexRef hTexRef);
PTXI_API ptxiResult ptxiTexRefGetFormat(ptxiArrayFormat *pFormat, int *pNumChannels, ptxiTexRef hTexRef);
PTXI_API ptxiResult ptxiTexRefGetAddressMode(ptxiAddressMode *pam, ptxiTexRef hTexRef, int dim);
PTXI_API ptxiResult ptxiTexRefGetFilterMode(ptxiFilterMode *pfm, ptxiTexRef hTexRef);
PTXI_API ptxiResult ptxiTexRefGetMipmapFilterMode(ptxiFilterMode *pfm, ptxiTexRef hTexRef);
PTXI_API ptxiResult ptxiTexRefGetMipmapLevelBias(float *pbias, ptxiTexRef hTexRef);
PTXI_API ptxiResult ptxiTexRefGetMipmapLevelClamp(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp, ptxiTexRef hTexRef);
PTXI_API ptxiResult ptxiTexRefGetMaxAnisotropy(int *pmaxAniso, ptxiTexRef hTexRef);
PTXI_API ptxiResult ptxiTexRefGetBorderColor(float *pBorderColor, ptxiTexRef hTexRef);
PTXI_API ptxiResult ptxiTexRefGetFlags(unsigned *pFlags, ptxiTexRef hTexRef);

/*! ptxiSurfRefSetArray() , ptxiSurfRefGetArray() :
 *  What a .surfref variable stands for.
 * `Flags` 0.
 * @return as ptxiSurfObjectCreate; Get: PTXI_ERROR_INVALID_VALUE where nothing is bound. */
PTXI_API ptxiResult ptxiSurfRefSetArray(ptxiSurfRef hSurfRef, ptxiArray hArray, unsigned Flags);
PTXI_API ptxiResult ptxiSurfRefGetArray(ptxiArray *phArray, ptxiSurfRef hSurfRef);

/* ---- what a driver does not have ----------------------------------------------------------------------------- */

/*! ptxiGetVersion() :
 *  PTXI_VERSION of the library in use. Works before ptxiInit. */
PTXI_API ptxiResult ptxiGetVersion(int *version);

/*! ptxiDeviceSetProfile() , ptxiDeviceGetProfile() :
 *  Which GPU the device is: its attributes, and the bits where GPUs differ. Set holds for contexts created later. The
 *  environment variable PTXI_DEVICE gives the first profile; without it sm_90. Get copies like ptxiDeviceGetName.
 * `name` "sm_90", "sm_80", ...: the targets of the PTX ISA, with or without their a or f.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE for an unknown name. */
PTXI_API ptxiResult ptxiDeviceSetProfile(ptxiDevice dev, const char *name);
PTXI_API ptxiResult ptxiDeviceGetProfile(char *name, int len, ptxiDevice dev);

/*! ptxiDeviceEnumerateProfile() :
 *  The name of profile number `index`, from 0. `*name` is static. Works before ptxiInit.
 * @return PTXI_SUCCESS, or PTXI_ERROR_NOT_FOUND past the last. */
PTXI_API ptxiResult ptxiDeviceEnumerateProfile(const char **name, unsigned index);

/*! ptxiCtxSetWorkers() , ptxiCtxGetWorkers() :
 *  Host threads that run the context's kernels; results do not depend on it. Launches made before keep their workers until
 *  they end; the call does not wait for them. The environment variable PTXI_WORKERS gives the number for new contexts;
 *  without it the host's processors.
 * `ctx`     NULL: the current context (here and below).
 * `workers` 1..1024; 0: the number for new contexts.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiCtxSetWorkers(ptxiContext ctx, unsigned workers);
PTXI_API ptxiResult ptxiCtxGetWorkers(ptxiContext ctx, unsigned *workers);

/*! ptxiCtxSetOutput() :
 *  Where device-side printf goes; default: stdout. `sink` is called from threads of the library, one call at a time a
 *  context, before the launch that printed counts as ended; it must not call ptxi functions.
 * `sink` NULL: stdout. `text` is `length` bytes, not NUL-terminated. Failed assertions go to stderr in any case, as with CUDA.
 * `user` for `sink`; the caller's.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxSetOutput(ptxiContext ctx, void (*sink)(void *user, const char *text, size_t length),
                                     void *user);

/*! ptxiCtxSetProgress() :
 *  Be told how far launches made later are: `report` is called now and then, some ten times a second, from a thread that
 *  runs the kernel, never for short ones and not once more at the end; it must not call ptxi functions.
 * `report` NULL: nobody is told (default). `blocksDone` of `blocks` CTAs of one launch have ended. */
PTXI_API ptxiResult ptxiCtxSetProgress(ptxiContext ctx, void (*report)(void *user, unsigned long long blocksDone,
                                                                       unsigned long long blocks), void *user);

/*! ptxiCtxInterrupt() :
 *  End launches from another thread: launches that were made before the call, and run or wait in the context's streams, fail with
 *  PTXI_ERROR_LAUNCH_TIMEOUT, with all that their kernels have launched or asked for. So does ptxiGraphLaunch in the loop of a
 *  conditional node. Other queued work and launches made later are not touched. Does not wait: a host function that runs ends
 *  first. Also for a context that another thread is destroying.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, or PTXI_ERROR_CONTEXT_IS_DESTROYED. */
PTXI_API ptxiResult ptxiCtxInterrupt(ptxiContext ctx);

/*! ptxiCtxSetChecking() :
 *  Turn the checks of kernels' memory accesses off (0) or on (default) for launches made later. Without them a kernel
 *  may read and write all of the process, and a bad access may end it.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxSetChecking(ptxiContext ctx, int on);

/*! ptxiCtxSetDialect() :
 *  What modules loaded later, and templates of ptxiAsm, may use beyond the PTX ISA.
 * `dialect` of ptxiDialect, added up; PTXI_DIALECT_NONE is the default.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE. */
PTXI_API ptxiResult ptxiCtxSetDialect(ptxiContext ctx, unsigned dialect);

/* For ptxiCtxSetSchedule(). */
#define PTXI_SCHEDULE_RUN 0
#define PTXI_SCHEDULE_FAIR 18446744073709551615ULL

/*! ptxiCtxSetSchedule() , ptxiCtxGetSchedule() :
 *  The order in which launches made later run: the usual one, a fair one, or a random one.
 *
 *  PTXI_SCHEDULE_RUN, the default, is the fastest. A warp runs until it waits, and a CTA until all of its warps wait. So a warp that
 *  overwrites, without a barrier, what others have yet to read does it before they read.
 *
 *  PTXI_SCHEDULE_FAIR lets all warps of a CTA advance together, as a GPU does: a warp runs 8 instructions, then the next one of the CTA
 *  does. After 8 such rounds the next CTA runs, and all CTAs that can be resident begin together. Programs that work on a GPU
 *  only because the other warps have read a word long before it is overwritten get the GPU's results. It takes two to three times as long
 *  where a grid has many CTAs. With one worker a run repeats exactly.
 *
 *  Any other number is the seed of a random order, to find programs that work in one order only: which CTA, which
 *  warp and which lanes of it go on next, after how many instructions others do, when each asynchronous copy is done (from soon after
 *  it was asked for to the last moment, in any order), how often a wait at an mbarrier ends in vain, and whether a store is done after
 *  the load from elsewhere that stands behind it. What a bulk copy writes need
 *  not be there after cp.async.bulk.wait_group.read, and nobody may arrive at an mbarrier after mbarrier.inval. All of it is what the
 *  PTX ISA allows. With one worker a run repeats exactly for the same seed and the same launches before it; with more, what
 *  happens inside of each cluster does as far as it does not depend on others.
 *
 *  In the first two orders copies are done as late as may be. The order of new contexts is that of the environment variable PTXI_SCHED:
 *  `run`, `fair` or `seed:N`, where N is a number as this call takes it. PTXI_SCHED_SEED=N, where PTXI_SCHED is not set or not one of
 *  these, means PTXI_SCHED=seed:N.
 * `seed` PTXI_SCHEDULE_RUN, PTXI_SCHEDULE_FAIR or a seed. */
PTXI_API ptxiResult ptxiCtxSetSchedule(ptxiContext ctx, unsigned long long seed);
PTXI_API ptxiResult ptxiCtxGetSchedule(ptxiContext ctx, unsigned long long *seed);

enum { PTXI_RANGE_READ = 1, PTXI_RANGE_WRITE = 2 };

/*! ptxiMemOpenRange() , ptxiMemCloseRange() :
 *  Let kernels of all contexts use `bytes` bytes of the caller's memory at `base`, and end that. Unlike
 *  ptxiMemHostRegister it is no property of a context, and copies do not take the range for device memory. Close waits as
 *  ptxiMemHostUnregister does for other contexts: the memory may then be freed, and later accesses fail.
 * `flags` PTXI_RANGE_READ, PTXI_RANGE_WRITE or both.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE where the range is empty or overlaps memory known to the device, or
 *         was not opened at `base`. */
PTXI_API ptxiResult ptxiMemOpenRange(void *base, size_t bytes, unsigned flags);
PTXI_API ptxiResult ptxiMemCloseRange(void *base);

/* What went wrong in a kernel, and the result that goes with it. */
typedef enum ptxiFault {
    PTXI_FAULT_NONE = 0,
    PTXI_FAULT_OUT_OF_BOUNDS = 1,             /* ILLEGAL_ADDRESS: in no allocation, or past its end */
    PTXI_FAULT_NULL = 2,                      /* ILLEGAL_ADDRESS: at or near address 0 */
    PTXI_FAULT_FREED = 3,                     /* ILLEGAL_ADDRESS: in memory that was freed */
    PTXI_FAULT_READ_ONLY = 4,                 /* ILLEGAL_ADDRESS: a write to constant or read-only memory */
    PTXI_FAULT_OTHER_BLOCK_SHARED = 5,        /* ILLEGAL_ADDRESS: shared memory outside this block's; ILLEGAL_INSTRUCTION: of another
                                                 block, LAUNCH_FAILED: of none, in a cluster */
    PTXI_FAULT_OTHER_THREAD_LOCAL = 6,        /* ILLEGAL_ADDRESS: local memory outside this thread's */
    PTXI_FAULT_MISALIGNED = 7,                /* MISALIGNED_ADDRESS */
    PTXI_FAULT_ADDRESS_SPACE = 8,             /* INVALID_ADDRESS_SPACE: the instruction does not take this state space */
    PTXI_FAULT_TRAP = 9,                      /* LAUNCH_FAILED: trap or brkpt */
    PTXI_FAULT_ASSERT = 10,                   /* ASSERT: __assertfail */
    PTXI_FAULT_DEADLOCK = 11,                 /* LAUNCH_FAILED: threads wait and none can run */
    PTXI_FAULT_BARRIER = 12,                  /* LAUNCH_FAILED: a barrier or an mbarrier used against its rules; ILLEGAL_INSTRUCTION: a
                                                 thread count that is no multiple of 32, an mbarrier that is not in shared memory */
    PTXI_FAULT_BUDGET = 13,                   /* LAUNCH_TIMEOUT: PTXI_LIMIT_INSTRUCTIONS */
    PTXI_FAULT_TIMEOUT = 14,                  /* LAUNCH_TIMEOUT: PTXI_LIMIT_MILLISECONDS */
    PTXI_FAULT_STACK_OVERFLOW = 15,           /* ILLEGAL_ADDRESS, as on an H200 */
    PTXI_FAULT_UNSUPPORTED_INSTRUCTION = 16,  /* ILLEGAL_INSTRUCTION: legal PTX that this version cannot execute */
    PTXI_FAULT_ILLEGAL_INSTRUCTION = 17,      /* ILLEGAL_INSTRUCTION: operands that the PTX ISA does not allow */
    PTXI_FAULT_INVALID_BRANCH = 18,           /* INVALID_PC: a call or branch to what is no function or label */
    PTXI_FAULT_UNRESOLVED = 19,               /* SHARED_OBJECT_SYMBOL_NOT_FOUND at the launch: .extern names that the kernel can
                                                 reach are defined nowhere; LAUNCH_FAILED: a call of one through a pointer */
    PTXI_FAULT_OUT_OF_MEMORY = 20,            /* OUT_OF_MEMORY: the host has no memory to run the grid */
    PTXI_FAULT_HOST_FUNCTION = 21,            /* LAUNCH_FAILED: a host function called ptxiHostFail */
    PTXI_FAULT_FREE = 22,                     /* ILLEGAL_ADDRESS: free() of what malloc() has not given, or twice */
    PTXI_FAULT_INTERRUPTED = 23,              /* LAUNCH_TIMEOUT: ptxiCtxInterrupt */
    PTXI_FAULT_MISUSE = 24                    /* LAUNCH_FAILED: a matrix instruction, a bulk copy, a tensor map or tensor memory
                                                 used against its rules */
} ptxiFault;

typedef enum ptxiAccess {
    PTXI_ACCESS_NONE = 0, PTXI_ACCESS_READ = 1, PTXI_ACCESS_WRITE = 2, PTXI_ACCESS_ATOMIC = 3
} ptxiAccess;

/* What is known of a failure. Numbers are 0 and strings NULL where they do not apply; the strings belong to the calling
 * host thread and are good until its next ptxiGetLastReport. */
typedef struct ptxiReport {
    size_t size;                  /* set by the caller: sizeof(ptxiReport) */
    ptxiResult result;
    ptxiFault fault;
    const char *text;             /* the whole report for a reader, some lines */
    const char *kernel;           /* name of the launched kernel */
    const char *function;         /* name of the function the thread was in */
    unsigned block[3];            /* x, y, z of the first thread that failed */
    unsigned thread[3];
    unsigned long long threads;   /* threads of its warp that failed with it */
    ptxiAccess access;
    unsigned accessSize;          /* bytes, a thread */
    ptxiDevicePtr address;
    ptxiDevicePtr nearestBase;    /* the allocation that the address is in or closest to */
    size_t nearestSize;
    const char *ptxFile;
    unsigned ptxLine, ptxColumn;  /* from 1 */
    const char *sourceFile;       /* from the module's .loc directives */
    unsigned sourceLine, sourceColumn;
} ptxiReport;

/*! ptxiGetLastReport() :
 *  The report of the failure that a call on this context returned last, from any thread.
 * `report` its `size` is set by the caller; bytes beyond what the library knows stay as they are.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND where nothing has failed, or PTXI_ERROR_INVALID_VALUE for a size too
 *         small to hold result and fault. */
PTXI_API ptxiResult ptxiGetLastReport(ptxiContext ctx, ptxiReport *report);

typedef enum ptxiSeverity { PTXI_SEVERITY_NOTE = 0, PTXI_SEVERITY_WARNING = 1, PTXI_SEVERITY_ERROR = 2 } ptxiSeverity;

/* A message about a module's text. */
typedef struct ptxiDiagnostic {
    size_t size;                  /* set by the caller: sizeof(ptxiDiagnostic) */
    ptxiSeverity severity;
    const char *file;
    unsigned line, column;        /* from 1; 0: the message is about the whole module */
    unsigned length;              /* bytes underlined from column on */
    const char *message;          /* one line */
    const char *text;             /* as in the logs: place, message, the line, the caret */
} ptxiDiagnostic;

/*! ptxiGetLastDiagnostic() :
 *  Message number `index`, from 0, of this host thread's last module load, whether it failed or not. Its strings are
 *  good until the thread's next load.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND past the last, or PTXI_ERROR_INVALID_VALUE for a bad size. */
PTXI_API ptxiResult ptxiGetLastDiagnostic(unsigned index, ptxiDiagnostic *diagnostic);

/* Sums over the launches of a context that have ended, while counting was on. */
typedef struct ptxiCounters {
    size_t size;                            /* set by the caller: sizeof(ptxiCounters) */
    unsigned long long launches;
    unsigned long long blocks;
    unsigned long long threads;
    unsigned long long warpInstructions;    /* instructions executed, each once a warp split */
    unsigned long long threadInstructions;  /* the same, each once an active thread */
    unsigned long long sharedRequests;      /* accesses of a warp to shared memory: ld, st, atom, red, ldmatrix, stmatrix */
    unsigned long long sharedWavefronts;    /* passes over the banks that they take, if nothing else disturbs them */
    unsigned long long sharedBankConflicts; /* those of them that are due to lanes wanting different words of one bank */
} ptxiCounters;

/*! ptxiCtxSetCounting() , ptxiCtxGetCounters() , ptxiCtxResetCounters() :
 *  Count what kernels execute. Off by default, since counting costs time; switching holds for launches made later.
 *  Synchronise before reading. `counters->size` is set by the caller.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a bad size. */
PTXI_API ptxiResult ptxiCtxSetCounting(ptxiContext ctx, int on);
PTXI_API ptxiResult ptxiCtxGetCounters(ptxiContext ctx, ptxiCounters *counters);
PTXI_API ptxiResult ptxiCtxResetCounters(ptxiContext ctx);

/* A kernel's parameter as PTX declares it. */
typedef struct ptxiParam {
    size_t size;                  /* set by the caller: sizeof(ptxiParam) */
    size_t offset, bytes;         /* its place in the parameter buffer, and its size */
    size_t align;                 /* bytes */
    size_t count;                 /* elements of an array; 0: it is none */
    const char *name;
    const char *type;             /* of an element, without the dot: "u64", "f32", "b8"; or "texref", "samplerref", "surfref" */
    const char *space;            /* the state space that its .ptr attribute names, "global"; NULL: none */
} ptxiParam;

/*! ptxiFuncGetParam() , ptxiFuncGetSignature() :
 *  What ptxiFuncGetParamInfo leaves out, for those who make arguments from another language's values: parameter number
 *  `paramIndex`, from 0; and the kernel with all its parameters as a text, "lerp(.u64 x, .f32 alpha)".
 * `param->size` is set by the caller. `*text` is the caller's, to be freed with ptxiFree.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_INVALID_VALUE past the last parameter or for a bad size, or
 *         PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiFuncGetParam(ptxiFunction func, size_t paramIndex, ptxiParam *param);
PTXI_API ptxiResult ptxiFuncGetSignature(ptxiFunction func, char **text);

/*! ptxiAsm() , ptxiAsmArrays() :
 *  Run PTX instructions as asm() of CUDA C++ takes them, and wait for the end:
 *      ptxiAsm("mad.lo.u32 %0, %1, %2, %3;", "=r,r,r,n", &d, &a, &b, &(long long){ 5 });
 *  The first use of a template loads a module, which is kept for the next ones.
 * `text`        one or more statements, also with { }, labels and declarations. %0, %1, ... are the operands, in any order
 *               and number; %% is a percent sign, as is a % before anything but a digit.
 * `constraints` one an operand, separated by commas, outputs first: = for one that is written, + for one that is read and
 *               written, and a letter: h, r, l for integers of 16, 32, 64 bits, f and d for f32 and f64, q for 128 bits; n
 *               for an integer constant and C for a text, which are pasted into the template.
 * `...`, `operands`  a pointer for each operand: to a value of the constraint's size, to a long long for n, or to the text
 *               for C. ptxiAsmArrays: to an array with a value for each thread, but for n and C. Outputs of = that the
 *               template does not write are undefined. l may be an address of memory that kernels may use.
 * `threads`     up to 1024 make one block; more are in blocks of 256, the last one smaller.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE  a constraint that is not one (see ptxiGetLastDiagnostic), or a NULL operand
 *         PTXI_ERROR_INVALID_PTX    the template is not right; the places of diagnostics are places in it
 *         PTXI_ERROR_OUT_OF_MEMORY, or the failure of the instructions (see ptxiGetLastReport). */
PTXI_API ptxiResult ptxiAsm(const char *text, const char *constraints, ...);
PTXI_API ptxiResult ptxiAsmArrays(const char *text, const char *constraints, size_t threads, void *const *operands);

/* A function in place of an .extern .func, cast to this type; and one that gets pointers to its arguments and its result. */
typedef void (*ptxiHostFunction)(void);
typedef void (*ptxiHostCallback)(void *userData, void *const *arguments, void *result);

/*! ptxiModuleBindHostFunction() , ptxiModuleBindHostCallback() :
 *  Let kernels of the module call a function of the host's where they call `name`, an .extern .func. It is called once for each
 *  thread, in the order of the lanes of a warp. A launch calls what was bound when it was made. The call waits until no launch
 *  and no other call uses what was bound before, which the program may then free.
 * `function`  any function of the C ABI, cast; NULL: no longer any, or what the library itself has of that name.
 * `callback`  the same for languages that have no such functions: arguments[i] points to the value of parameter i, `result` to
 *             room for the result, at addresses aligned to 16.
 * `signature` the function's type in C, "float(int, {float, float[2]}, const char *)": void, bool, char, short, int, long,
 *             long long, with signed or unsigned, intN_t, uintN_t, size_t, float, double; any pointer; and structures by value as
 *             their fields in braces. It must have the sizes of the declaration; integers below 32 bits may be .b32 there.
 *  In the function: pointers from the kernel are host addresses where they lead to global memory; ptxiHostGetPointer leads anywhere. It
 *  runs in a thread of the library, with the FPU set to round to nearest, and calls no ptxi functions but the three below. Several
 *  threads call it at the same time, from different warps: data that it shares needs atomics or locks. It may not wait for
 *  another thread of the grid, since the lanes behind it do not run meanwhile, nor leave by longjmp or an exception.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_NOT_FOUND      no function of that name is declared, or it has a body
 *         PTXI_ERROR_INVALID_VALUE  a signature that is none, or does not fit the declaration (see ptxiGetLastDiagnostic)
 *         PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_OUT_OF_MEMORY */
PTXI_API ptxiResult ptxiModuleBindHostFunction(ptxiModule mod, const char *name, ptxiHostFunction function, const char *signature);
PTXI_API ptxiResult ptxiModuleBindHostCallback(ptxiModule mod, const char *name, ptxiHostCallback callback, void *userData,
                                               const char *signature);

/* The thread that called a host function. */
typedef struct ptxiHostThread {
    size_t size;               /* set by the caller: sizeof(ptxiHostThread) */
    unsigned gridDim[3], blockDim[3];
    unsigned block[3], thread[3];
    unsigned lane, warp;       /* in its warp; of the block */
    const char *function;      /* the name that was called */
    const char *kernel;
} ptxiHostThread;

/*! ptxiHostGetThread() , ptxiHostGetPointer() , ptxiHostFail() :
 *  For host functions, in the host thread that they are called in: who calls; the host's address of `bytes` bytes at a generic
 *  address of that thread, also in shared and local memory, good until the function returns; and to let the launch fail when the function
 *  returns, with a text for the report. All of the bytes lie in one allocation. Nobody may free, unregister or close it
 *  before the function returns.
 * `write` 0: for reading. A range that the thread may not use so fails the launch as its own access would.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_PERMITTED outside of a host function, PTXI_ERROR_INVALID_VALUE, or
 *         PTXI_ERROR_ILLEGAL_ADDRESS: the launch has failed, the function should return. */
PTXI_API ptxiResult ptxiHostGetThread(ptxiHostThread *thread);
PTXI_API ptxiResult ptxiHostGetPointer(void **pointer, ptxiDevicePtr address, size_t bytes, int write);
PTXI_API ptxiResult ptxiHostFail(const char *message);

/*! ptxiModuleGetUnsupported() :
 *  Which functions contain legal instructions that this version cannot execute: a line for each instruction, with
 *  function, place and spelling, and one for each function that is too large; the empty string where there is none.
 * `*text` the caller's, to be freed with ptxiFree.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiModuleGetUnsupported(ptxiModule mod, char **text);

/*! ptxiModuleDump() :
 *  The bytecode of one function, or of all where `function` is NULL, as text.
 * `*text` the caller's, to be freed with ptxiFree.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiModuleDump(ptxiModule mod, const char *function, char **text);

/*! ptxiFree() :
 *  Free a text that a call gave to the caller; NULL is accepted. Works always. */
PTXI_API void ptxiFree(void *text);

#ifdef __cplusplus
}
#endif

#endif
