/* ptxi.h: run PTX on a CPU. The only public header of libptxi.
 *
 * The calls have the names, argument order, handle meanings and numbers of the CUDA driver API, with `ptxi` for `cu`
 * and `PTXI_` for `CU_` or `CUDA_`. Where the driver has several versions of a call, this header has the shape of
 * `_v2`. "Source: cuX." at the end of a comment names the driver call with the same meaning. Calls that a driver does
 * not have are in the last section.
 *
 *   ptxiInit(0); ptxiDeviceGet(&dev, 0); ptxiCtxCreate(&ctx, 0, dev);
 *   ptxiModuleLoad(&mod, "lerp.ptx"); ptxiModuleGetFunction(&f, mod, "lerp"); ptxiMemAlloc(&p, bytes);
 *   ptxiLaunchKernel(f, 1,1,1, 128,1,1, 0, NULL, params, NULL);
 *   if (ptxiCtxSynchronize() != PTXI_SUCCESS) {
 *       ptxiReport r = { sizeof r };
 *       ptxiGetLastReport(NULL, &r);
 *       puts(r.text);
 *   }
 *
 * Device memory is host memory: a ptxiDevicePtr is the host address of the same byte. The host may read and write it
 * directly whenever no kernel and no queued copy is using it.
 *
 * The following holds for every call, unless its own comment differs:
 *  Results  A call returns PTXI_SUCCESS or an error. If it returns an error, it has written no output. Comments list
 *           only the errors that are not listed here.
 *  Errors   PTXI_ERROR_NOT_INITIALIZED  before ptxiInit, and in a child process created by fork()
 *           PTXI_ERROR_NOT_PERMITTED    inside a host function that a stream or a kernel calls, and inside the
 *                                       callbacks of ptxiCtxSetOutput and ptxiCtxSetProgress
 *           PTXI_ERROR_INVALID_CONTEXT  the call needs a current context and the calling thread has none
 *           PTXI_ERROR_INVALID_VALUE    a pointer is NULL, and the comment does not permit NULL
 *           PTXI_ERROR_INVALID_HANDLE   a handle is not valid, or its object has been destroyed
 *           PTXI_ERROR_CONTEXT_IS_DESTROYED  the context of the call or of a handle has been or is being destroyed
 *           PTXI_ERROR_OUT_OF_MEMORY    the host has too little memory
 *  Failures of asynchronous work are returned once, by the next call that synchronises with the stream in which the
 *           work ran: Synchronize, Query, and copies and memsets without Async. Until then, work queued in that stream
 *           is dropped. The context remains usable.
 *  Threads  Any host thread may call at any time, and any number of threads at once. Objects that a call uses stay
 *           alive until the call returns, even if another thread destroys them meanwhile. The handle of a destroyed
 *           object may be reused for a new object.
 *  Strings  that are passed to a call are copied. Strings that a call returns belong to the library and live as long as
 *           the handle that was passed.
 *  Streams  A call uses the context of its stream, which need not be the current one. Only launches and captures need a
 *           stream of the current context.
 *  NULL     as a context means the current context, and as a stream the legacy default stream. */
#ifndef PTXI_H
#define PTXI_H

#include <stddef.h>
#include <stdint.h>

#define PTXI_VERSION_MAJOR 0
#define PTXI_VERSION_MINOR 1
#define PTXI_VERSION_PATCH 0
#define PTXI_VERSION (PTXI_VERSION_MAJOR * 10000 + PTXI_VERSION_MINOR * 100 + PTXI_VERSION_PATCH)

/* The CUDA driver version that this header follows: 1000 * major + 10 * minor. See ptxiDriverGetVersion(). */
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

/*  X(name, number, meaning). ptxiResult, ptxiGetErrorName() and ptxiGetErrorString() are generated from this list. */
#define PTXI_RESULTS(X) \
    X(SUCCESS,                            0, "no error") \
    X(ERROR_INVALID_VALUE,                1, "an argument is out of range or NULL") \
    X(ERROR_OUT_OF_MEMORY,                2, "out of memory") \
    X(ERROR_NOT_INITIALIZED,              3, "ptxiInit has not been called in this process") \
    X(ERROR_DEINITIALIZED,                4, "the library is shutting down") \
    X(ERROR_NO_DEVICE,                  100, "no device is available") \
    X(ERROR_INVALID_DEVICE,             101, "invalid device number or unknown device profile") \
    X(ERROR_INVALID_IMAGE,              200, "the image is not a PTX module") \
    X(ERROR_INVALID_CONTEXT,            201, "no context is current, or the context is not valid") \
    X(ERROR_NO_BINARY_FOR_GPU,          209, "the module cannot run on this device profile") \
    X(ERROR_UNSUPPORTED_LIMIT,          215, "the device does not have this limit") \
    X(ERROR_CONTEXT_ALREADY_IN_USE,     216, "the context is in use by another thread") \
    X(ERROR_PEER_ACCESS_UNSUPPORTED,    217, "the devices cannot access each other's memory, or are the same") \
    X(ERROR_INVALID_PTX,                218, "invalid PTX") \
    X(ERROR_UNSUPPORTED_PTX_VERSION,    222, "unsupported PTX version") \
    X(ERROR_UNSUPPORTED_EXEC_AFFINITY,  224, "contexts cannot be restricted to a part of the device") \
    X(ERROR_INVALID_SOURCE,             300, "the inputs cannot be linked") \
    X(ERROR_FILE_NOT_FOUND,             301, "the file cannot be opened") \
    X(ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302, "an external symbol of the module is undefined") \
    X(ERROR_OPERATING_SYSTEM,           304, "a call to the operating system failed") \
    X(ERROR_INVALID_HANDLE,             400, "invalid handle") \
    X(ERROR_ILLEGAL_STATE,              401, "the object is not in a state that allows the call") \
    X(ERROR_LOSSY_QUERY,                402, "the query would discard edge data") \
    X(ERROR_NOT_FOUND,                  500, "name, symbol or entry not found") \
    X(ERROR_NOT_READY,                  600, "work has not finished yet") \
    X(ERROR_ILLEGAL_ADDRESS,            700, "a kernel made an invalid memory access") \
    X(ERROR_LAUNCH_OUT_OF_RESOURCES,    701, "the launch needs more registers, threads or parameters than available") \
    X(ERROR_LAUNCH_TIMEOUT,             702, "a kernel exceeded its time or instruction limit, or was interrupted") \
    X(ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, "peer access to the context is already enabled") \
    X(ERROR_PEER_ACCESS_NOT_ENABLED,    705, "peer access to the context is not enabled") \
    X(ERROR_PRIMARY_CONTEXT_ACTIVE,     708, "the primary context is in use") \
    X(ERROR_CONTEXT_IS_DESTROYED,       709, "the context has been destroyed") \
    X(ERROR_ASSERT,                     710, "a device-side assertion failed") \
    X(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, "the host memory is already registered") \
    X(ERROR_HOST_MEMORY_NOT_REGISTERED, 713, "the host memory is not registered") \
    X(ERROR_HARDWARE_STACK_ERROR,       714, "a thread's call stack overflowed or was corrupted") \
    X(ERROR_ILLEGAL_INSTRUCTION,        715, "a kernel reached an instruction that cannot be executed") \
    X(ERROR_MISALIGNED_ADDRESS,         716, "a kernel accessed memory at a misaligned address") \
    X(ERROR_INVALID_ADDRESS_SPACE,      717, "an instruction got an address of another state space") \
    X(ERROR_INVALID_PC,                 718, "a kernel branched to or called an invalid address") \
    X(ERROR_LAUNCH_FAILED,              719, "a kernel failed") \
    X(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, "the cooperative grid does not fit on the device at once") \
    X(ERROR_NOT_PERMITTED,              800, "the call is not permitted here") \
    X(ERROR_NOT_SUPPORTED,              801, "the call or option is not supported") \
    X(ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "the call is not permitted while a stream is being captured") \
    X(ERROR_STREAM_CAPTURE_INVALIDATED, 901, "the capture was invalidated by an earlier call") \
    X(ERROR_STREAM_CAPTURE_MERGE,       902, "the event would merge two captures") \
    X(ERROR_STREAM_CAPTURE_UNMATCHED,   903, "the capture was begun in another stream") \
    X(ERROR_STREAM_CAPTURE_UNJOINED,    904, "the capture contains work of another stream that was not joined") \
    X(ERROR_STREAM_CAPTURE_ISOLATION,   905, "captured work cannot wait for work that is not captured") \
    X(ERROR_STREAM_CAPTURE_IMPLICIT,    906, "the default stream cannot wait for captured work") \
    X(ERROR_CAPTURED_EVENT,             907, "the event was recorded in a capture") \
    X(ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, "the capture was begun by another thread") \
    X(ERROR_TIMEOUT,                    909, "a wait exceeded its time limit") \
    X(ERROR_GRAPH_EXEC_UPDATE_FAILURE,  910, "the graph differs from the instance in more than parameters") \
    X(ERROR_INVALID_CLUSTER_SIZE,       912, "the cluster shape does not fit the kernel, the grid or the device") \
    X(ERROR_UNKNOWN,                    999, "an internal error")

/* Result of a call. The numbers are those of CUresult. */
typedef enum ptxiResult {
#define PTXI_RESULT_ENUM(name, number, text) PTXI_##name = number,
    PTXI_RESULTS(PTXI_RESULT_ENUM)
#undef PTXI_RESULT_ENUM
    PTXI_RESULT_MAX = 0x7fffffff
} ptxiResult;

/* ---- types --------------------------------------------------------------------------------------------------- */

typedef int ptxiDevice;                          /* ordinal of a device: 0, 1, ... */
typedef unsigned long long ptxiDevicePtr;        /* host address of a byte of device memory; 0: none */
typedef struct ptxiContext_st  *ptxiContext;     /* owner of memory, modules, streams, events, arrays and textures */
typedef struct ptxiModule_st   *ptxiModule;      /* PTX that is loaded in a context */
typedef struct ptxiFunction_st *ptxiFunction;    /* a kernel of a module */
typedef struct ptxiStream_st   *ptxiStream;      /* queue of work; NULL: the legacy default stream */
typedef struct ptxiEvent_st    *ptxiEvent;       /* mark in a stream */
typedef struct ptxiArray_st    *ptxiArray;       /* texels in an opaque layout; for copies, textures and surfaces */
typedef struct ptxiLibrary_st  *ptxiLibrary;     /* PTX that belongs to no context */
typedef struct ptxiKernel_st   *ptxiKernel;      /* a kernel of a library; can be launched when cast to ptxiFunction */
typedef struct ptxiMemPool_st  *ptxiMemoryPool;  /* counts stream-ordered allocations and may limit them */
typedef struct ptxiLinkState_st *ptxiLinkState;  /* a link in progress */
typedef struct ptxiGraph_st     *ptxiGraph;      /* work with dependencies */
typedef struct ptxiGraphNode_st *ptxiGraphNode;  /* one piece of work in a graph; lives as long as the graph */
typedef struct ptxiGraphExec_st *ptxiGraphExec;  /* an instance of a graph, which can be launched */
typedef struct ptxiUserObject_st *ptxiUserObject; /* counts references to an object of the program */
typedef size_t (*ptxiOccupancyB2DSize)(int blockSize); /* bytes of dynamic shared memory for that size */
typedef struct ptxiMipmappedArray_st *ptxiMipmappedArray; /* an array and its mipmap levels */
typedef struct ptxiTexRef_st   *ptxiTexRef;      /* a .texref variable of a module */
typedef struct ptxiSurfRef_st  *ptxiSurfRef;     /* a .surfref variable of a module */
typedef unsigned long long ptxiTexObject;        /* a texture, as kernels receive it; never 0 */
typedef unsigned long long ptxiSurfObject;       /* a surface, as kernels receive it; never 0 */
typedef void (*ptxiHostFn)(void *userData);      /* host function that a stream runs */

#define PTXI_STREAM_LEGACY     ((ptxiStream)0x1) /* the legacy default stream, as NULL */
#define PTXI_STREAM_PER_THREAD ((ptxiStream)0x2) /* the default stream of the calling host thread */

/*  X(name, number). Other attribute numbers of the driver read as 0: the device does not have the feature.
 * Sizes are in bytes, clock rates in kHz, the bus width in bits, and features are 0 or 1. */
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
    X(MAXIMUM_TEXTURE1D_WIDTH,                       21) \
    X(MAXIMUM_TEXTURE2D_WIDTH,                       22) \
    X(MAXIMUM_TEXTURE2D_HEIGHT,                      23) \
    X(MAXIMUM_TEXTURE3D_WIDTH,                       24) \
    X(MAXIMUM_TEXTURE3D_HEIGHT,                      25) \
    X(MAXIMUM_TEXTURE3D_DEPTH,                       26) \
    X(MAXIMUM_TEXTURE2D_LAYERED_WIDTH,               27) \
    X(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,              28) \
    X(MAXIMUM_TEXTURE2D_LAYERED_LAYERS,              29) \
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
    X(MAXIMUM_TEXTURE1D_LAYERED_WIDTH,               42) \
    X(MAXIMUM_TEXTURE1D_LAYERED_LAYERS,              43) \
    X(MAXIMUM_TEXTURE2D_GATHER_WIDTH,                45) \
    X(MAXIMUM_TEXTURE2D_GATHER_HEIGHT,               46) \
    X(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,             47) \
    X(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,            48) \
    X(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE,             49) \
    X(PCI_DOMAIN_ID,                                 50) \
    X(TEXTURE_PITCH_ALIGNMENT,                       51) \
    X(MAXIMUM_TEXTURECUBEMAP_WIDTH,                  52) \
    X(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,          53) \
    X(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS,         54) \
    X(MAXIMUM_SURFACE1D_WIDTH,                       55) \
    X(MAXIMUM_SURFACE2D_WIDTH,                       56) \
    X(MAXIMUM_SURFACE2D_HEIGHT,                      57) \
    X(MAXIMUM_SURFACE3D_WIDTH,                       58) \
    X(MAXIMUM_SURFACE3D_HEIGHT,                      59) \
    X(MAXIMUM_SURFACE3D_DEPTH,                       60) \
    X(MAXIMUM_SURFACE1D_LAYERED_WIDTH,               61) \
    X(MAXIMUM_SURFACE1D_LAYERED_LAYERS,              62) \
    X(MAXIMUM_SURFACE2D_LAYERED_WIDTH,               63) \
    X(MAXIMUM_SURFACE2D_LAYERED_HEIGHT,              64) \
    X(MAXIMUM_SURFACE2D_LAYERED_LAYERS,              65) \
    X(MAXIMUM_SURFACECUBEMAP_WIDTH,                  66) \
    X(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,          67) \
    X(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS,         68) \
    X(MAXIMUM_TEXTURE1D_LINEAR_WIDTH,                69) \
    X(MAXIMUM_TEXTURE2D_LINEAR_WIDTH,                70) \
    X(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT,               71) \
    X(MAXIMUM_TEXTURE2D_LINEAR_PITCH,                72) \
    X(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH,             73) \
    X(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT,            74) \
    X(COMPUTE_CAPABILITY_MAJOR,                      75) \
    X(COMPUTE_CAPABILITY_MINOR,                      76) \
    X(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH,             77) \
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
    X(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,  103) \
    X(MAX_BLOCKS_PER_MULTIPROCESSOR,                106) \
    X(MAX_PERSISTING_L2_CACHE_SIZE,                 108) \
    X(MAX_ACCESS_POLICY_WINDOW_SIZE,                109) \
    X(RESERVED_SHARED_MEMORY_PER_BLOCK,             111) \
    X(READ_ONLY_HOST_REGISTER_SUPPORTED,            113) \
    X(MEMORY_POOLS_SUPPORTED,                       115) \
    X(MEMPOOL_SUPPORTED_HANDLE_TYPES,               119) \
    X(CLUSTER_LAUNCH,                               120) \
    X(CAN_USE_64_BIT_STREAM_MEM_OPS,                122) \
    X(CAN_USE_STREAM_WAIT_VALUE_NOR,                123) \
    X(IPC_EVENT_SUPPORTED,                          125) \
    X(MEM_SYNC_DOMAIN_COUNT,                        126) \
    X(TENSOR_MAP_ACCESS_SUPPORTED,                  127) \
    X(UNIFIED_FUNCTION_POINTERS,                    129) \
    X(MULTICAST_SUPPORTED,                          132) \
    X(HOST_MEMORY_POOLS_SUPPORTED,                  144)

/* Attribute of the device; see ptxiDeviceGetAttribute(). */
typedef enum ptxiDeviceAttribute {
#define PTXI_DEVICE_ATTRIBUTE_ENUM(name, number) PTXI_DEVICE_ATTRIBUTE_##name = number,
    PTXI_DEVICE_ATTRIBUTES(PTXI_DEVICE_ATTRIBUTE_ENUM)
#undef PTXI_DEVICE_ATTRIBUTE_ENUM
    PTXI_DEVICE_ATTRIBUTE_MAX = 148
} ptxiDeviceAttribute;

/* Properties of a device. Layout of CUdevprop. */
typedef struct ptxiDevprop {
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int sharedMemPerBlock, totalConstantMemory; /* bytes */
    int SIMDWidth;                  /* threads of a warp */
    int memPitch, regsPerBlock;     /* bytes; 32-bit registers */
    int clockRate, textureAlign;    /* kHz; bytes */
} ptxiDevprop;

/* Identifier of a device. Layout of CUuuid. */
typedef struct ptxiUuid {
    char bytes[16];
} ptxiUuid;

/* Attribute of a pair of devices; see ptxiDeviceGetP2PAttribute(). */
typedef enum ptxiDeviceP2PAttribute {
    PTXI_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK = 1,                     /* 0 */
    PTXI_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 2,                     /* 1 */
    PTXI_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 3,              /* 1 */
    PTXI_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED = 4,          /* 1 */
    PTXI_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED = 5  /* 0 */
} ptxiDeviceP2PAttribute;

/* Attribute of a kernel; see ptxiFuncGetAttribute(). Attributes are read-only unless their comment says "settable". */
typedef enum ptxiFunctionAttribute {
    PTXI_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,           /* threads; limited by .maxntid or .reqntid */
    PTXI_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,               /* bytes of static .shared memory of a block */
    PTXI_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,                /* bytes of .const memory of the module */
    PTXI_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,                /* bytes of .local memory of a thread, without callees */
    PTXI_FUNC_ATTRIBUTE_NUM_REGS = 4,                        /* 32-bit registers of a thread, estimated from liveness */
    PTXI_FUNC_ATTRIBUTE_PTX_VERSION = 5,                     /* 10 * major + minor of .target: 90 for sm_90 */
    PTXI_FUNC_ATTRIBUTE_BINARY_VERSION = 6,                  /* the same of the profile that the module runs with */
    PTXI_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,                   /* 0 */
    PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,   /* settable; bytes of a block */
    PTXI_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,/* settable; percent, or -1; affects occupancy only */
    PTXI_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET = 10,       /* 1: .explicitcluster; a launch gives a cluster size */
    PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,         /* blocks; settable without .reqnctapercluster */
    PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,        /* as the width */
    PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,         /* as the width */
    PTXI_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14, /* settable; 1: clusters of up to 16 blocks, not 8 */
    PTXI_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15, /* settable, 0 to 2; a hint without effect */
    PTXI_FUNC_ATTRIBUTE_MAX = 16
} ptxiFunctionAttribute;

/* Preferred split between shared memory and L1 cache. All values have no effect. */
typedef enum ptxiFuncCache {
    PTXI_FUNC_CACHE_PREFER_NONE = 0,
    PTXI_FUNC_CACHE_PREFER_SHARED = 1,
    PTXI_FUNC_CACHE_PREFER_L1 = 2,
    PTXI_FUNC_CACHE_PREFER_EQUAL = 3
} ptxiFuncCache;

/* Width of the banks of shared memory. All values have no effect. */
typedef enum ptxiSharedConfig {
    PTXI_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE = 0,
    PTXI_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE = 1,
    PTXI_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE = 2
} ptxiSharedConfig;

/* Options of ptxiModuleLoadDataEx. The value of an option is stored in the void * itself, unless the comment says that
 * it is a pointer. Options without a comment are accepted and have no effect. */
typedef enum ptxiJitOption {
    PTXI_JIT_MAX_REGISTERS = 0,               /* limits PTXI_FUNC_ATTRIBUTE_NUM_REGS of kernels without .maxnreg */
    PTXI_JIT_THREADS_PER_BLOCK = 1,
    PTXI_JIT_WALL_TIME = 2,                   /* output: milliseconds as a float, stored in the bytes of the void * */
    PTXI_JIT_INFO_LOG_BUFFER = 3,             /* pointer to char: buffer for warnings and notes */
    PTXI_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,  /* in: size of that buffer; out: bytes written, with the NUL, or 0 */
    PTXI_JIT_ERROR_LOG_BUFFER = 5,            /* pointer to char: buffer for errors */
    PTXI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6, /* in: size of that buffer; out: bytes written, with the NUL, or 0 */
    PTXI_JIT_OPTIMIZATION_LEVEL = 7,          /* 0: execute the operations as written, without fusing or removing any;
                                                 other values: the default */
    PTXI_JIT_TARGET_FROM_CONTEXT = 8,
    PTXI_JIT_TARGET = 9,
    PTXI_JIT_FALLBACK_STRATEGY = 10,
    PTXI_JIT_GENERATE_DEBUG_INFO = 11,        /* nonzero: as PTXI_JIT_OPTIMIZATION_LEVEL 0, and as .target debug */
    PTXI_JIT_LOG_VERBOSE = 12,                /* nonzero: write a summary of the module to the info log */
    PTXI_JIT_GENERATE_LINE_INFO = 13,
    PTXI_JIT_CACHE_MODE = 14,
    PTXI_JIT_FAST_COMPILE = 16,
    PTXI_JIT_FMA = 24,                        /* 0: never fuse mul and add; default 1: fuse them as ptxas does, if
                                                 neither has a rounding modifier */
    PTXI_JIT_POSITION_INDEPENDENT_CODE = 30,
    PTXI_JIT_MIN_CTA_PER_SM = 31,
    PTXI_JIT_MAX_THREADS_PER_BLOCK = 32,
    PTXI_JIT_OVERRIDE_DIRECTIVE_VALUES = 33,
    PTXI_JIT_STRICT_TARGET = 0x10000,         /* libptxi only. Nonzero: loading a module that the device profile could
                                                 not run fails with NO_BINARY_FOR_GPU; default: it runs with the profile
                                                 of its own target */
    PTXI_JIT_FILE_NAME = 0x10001,             /* libptxi only. Pointer to const char: the file name that diagnostics and
                                                 reports show */
    PTXI_JIT_STRICT_SYMBOLS = 0x10002,        /* libptxi only. Nonzero: loading a module with undefined functions or
                                                 variables fails with SHARED_OBJECT_SYMBOL_NOT_FOUND; default: the
                                                 launch of a kernel that can reach one fails with it */
    PTXI_JIT_DIALECT = 0x10003                /* libptxi only. Bits of ptxiDialect, beside those of ptxiCtxSetDialect */
} ptxiJitOption;

/* Options of ptxiLibraryLoadData. Both have no effect. */
typedef enum ptxiLibraryOption {
    PTXI_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE = 0,
    PTXI_LIBRARY_BINARY_IS_PRESERVED = 1
} ptxiLibraryOption;

/* Syntax that a module may use beyond the PTX ISA. The values are bits that can be combined. */
typedef enum ptxiDialect {
    PTXI_DIALECT_NONE = 0,
    PTXI_DIALECT_OCELOT = 1,                  /* rcp, sqrt, sin, lg2 and ex2 with .approx.f64, computed in double;
                                                 sin.approx.f32 rounded from the double result */
    PTXI_DIALECT_ANY_WIDTH = 2                /* integer types of 1 to 64 bits, such as add.s17, in registers of 16, 32
                                                 or 64 bits. The low bits of operands are read, results are extended to
                                                 the register. For abs add and div mad max min mov mul neg not or popc
                                                 rem sad selp set setp shl shr slct sub xor, without .cc .hi .relu .sat
                                                 .wide */
} ptxiDialect;

/* Kind of an input to the linker. */
typedef enum ptxiJitInputType {
    PTXI_JIT_INPUT_CUBIN = 0,      /* an image of ptxiLinkComplete; GPU code is not supported */
    PTXI_JIT_INPUT_PTX = 1,        /* PTX text */
    PTXI_JIT_INPUT_FATBINARY = 2,  /* a fat binary with PTX */
    PTXI_JIT_INPUT_OBJECT = 3,     /* an ELF file of the host with fat binaries, such as an object of nvcc */
    PTXI_JIT_INPUT_LIBRARY = 4,    /* a static archive of such objects */
    PTXI_JIT_INPUT_NVVM = 5        /* not supported */
} ptxiJitInputType;

/* Limits of a context; see ptxiCtxSetLimit(). */
typedef enum ptxiLimit {
    PTXI_LIMIT_STACK_SIZE = 0,                        /* bytes of local memory and call frames of a thread, up to
                                                         512 KiB, rounded up to a multiple of 16 */
    PTXI_LIMIT_PRINTF_FIFO_SIZE = 1,                  /* bytes; stored only */
    PTXI_LIMIT_MALLOC_HEAP_SIZE = 2,                  /* bytes that kernels may have allocated with malloc at one time;
                                                         the size of each block is rounded up to 16 */
    PTXI_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 3,            /* not supported, as on recent devices */
    PTXI_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4,  /* tail launches that a grid may request */
    PTXI_LIMIT_MAX_L2_FETCH_GRANULARITY = 5,          /* bytes, up to 128; stored only */
    PTXI_LIMIT_PERSISTING_L2_CACHE_SIZE = 6,          /* bytes, up to the device's MAX_PERSISTING_L2_CACHE_SIZE; stored
                                                         only */
    /* libptxi only. Warp instructions that a launch may execute, including the grids that it launches; 0: no limit.
     * A copy or fill that a kernel requests counts one instruction for each started 512 bytes of a row. A conditional
     * node WHILE counts one for each iteration of its loop. */
    PTXI_LIMIT_INSTRUCTIONS = 0x10000,
    /* libptxi only. Milliseconds of wall-clock time for a launch with everything that it launches, or for the loop of a
     * conditional node; 0: no limit. */
    PTXI_LIMIT_MILLISECONDS = 0x10001
} ptxiLimit;

/* Attribute of a pointer, with the type that ptxiPointerGetAttribute() stores. */
typedef enum ptxiPointerAttribute {
    PTXI_POINTER_ATTRIBUTE_CONTEXT = 1,           /* ptxiContext: the context of the allocation */
    PTXI_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,       /* unsigned: PTXI_MEMORYTYPE_HOST or _DEVICE */
    PTXI_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,    /* ptxiDevicePtr: the address for kernels */
    PTXI_POINTER_ATTRIBUTE_HOST_POINTER = 4,      /* void *: the address for the host; not for device memory */
    PTXI_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,       /* int: 0 or 1 */
    PTXI_POINTER_ATTRIBUTE_BUFFER_ID = 7,         /* unsigned long long: unique in the process */
    PTXI_POINTER_ATTRIBUTE_IS_MANAGED = 8,        /* int: 0 or 1 */
    PTXI_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,    /* int: the device of the context or of the pool */
    PTXI_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10, /* int: 1 if ptxiIpcGetMemHandle accepts it, or 0 */
    PTXI_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11, /* ptxiDevicePtr: start of the allocation */
    PTXI_POINTER_ATTRIBUTE_RANGE_SIZE = 12,       /* size_t: size of the allocation in bytes */
    PTXI_POINTER_ATTRIBUTE_MAPPED = 13,           /* int: 1 */
    PTXI_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14, /* unsigned long long: handle types of a pool's memory, or 0 */
    PTXI_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15, /* int: 0 */
    PTXI_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,     /* int: 1 if kernels may read, 3 if they may read and write */
    PTXI_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,   /* ptxiMemoryPool; NULL: not allocated from a pool */
    PTXI_POINTER_ATTRIBUTE_MAPPING_SIZE = 18,     /* size_t: as RANGE_SIZE */
    PTXI_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19, /* ptxiDevicePtr: as RANGE_START_ADDR */
    PTXI_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID = 20,  /* unsigned long long: as BUFFER_ID */
    PTXI_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE = 21 /* int: 0 */
} ptxiPointerAttribute;

/* Kind of memory at one end of a copy. */
typedef enum ptxiMemoryType {
    PTXI_MEMORYTYPE_HOST = 1,    /* the member ...Host */
    PTXI_MEMORYTYPE_DEVICE = 2,  /* the member ...Device */
    PTXI_MEMORYTYPE_ARRAY = 3,   /* the member ...Array */
    PTXI_MEMORYTYPE_UNIFIED = 4  /* the member ...Device, which may also be a host address */
} ptxiMemoryType;

/* Location of memory, and access to it. Numbers and layouts of CUmemLocation, CUmemAccessDesc and CUmemPoolProps. */
typedef enum ptxiMemLocationType {
    PTXI_MEM_LOCATION_TYPE_INVALID = 0, /* for managed memory: no place */
    PTXI_MEM_LOCATION_TYPE_DEVICE = 1,
    PTXI_MEM_LOCATION_TYPE_HOST = 2,
    PTXI_MEM_LOCATION_TYPE_HOST_NUMA = 3,
    PTXI_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4
} ptxiMemLocationType;

typedef struct ptxiMemLocation {
    ptxiMemLocationType type;
    int id;                         /* of a device: its ordinal */
} ptxiMemLocation;

typedef enum ptxiMemAccessFlags {
    PTXI_MEM_ACCESS_FLAGS_PROT_NONE = 0,
    PTXI_MEM_ACCESS_FLAGS_PROT_READ = 1,
    PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE = 3
} ptxiMemAccessFlags;

/* The access that a location has to the memory of a pool. */
typedef struct ptxiMemAccessDesc {
    ptxiMemLocation location;
    ptxiMemAccessFlags flags;
} ptxiMemAccessDesc;

typedef enum ptxiMemAllocationType {
    PTXI_MEM_ALLOCATION_TYPE_INVALID = 0,
    PTXI_MEM_ALLOCATION_TYPE_PINNED = 1,
    PTXI_MEM_ALLOCATION_TYPE_MANAGED = 2
} ptxiMemAllocationType;

/* Memory without an address; see ptxiMemCreate(). */
typedef unsigned long long ptxiMemGenericAllocationHandle;

typedef enum ptxiMemAllocationHandleType {
    PTXI_MEM_HANDLE_TYPE_NONE = 0,
    PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1, /* an int */
    PTXI_MEM_HANDLE_TYPE_WIN32 = 2,                 /* not supported, as the following ones */
    PTXI_MEM_HANDLE_TYPE_WIN32_KMT = 4,
    PTXI_MEM_HANDLE_TYPE_FABRIC = 8
} ptxiMemAllocationHandleType;

typedef enum ptxiMemAllocationGranularityFlags {
    PTXI_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    PTXI_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
} ptxiMemAllocationGranularityFlags;

/* Properties of memory without an address. Layout of CUmemAllocationProp. */
typedef struct ptxiMemAllocationProp {
    ptxiMemAllocationType type;      /* PTXI_MEM_ALLOCATION_TYPE_PINNED */
    ptxiMemAllocationHandleType requestedHandleTypes; /* NONE, or POSIX_FILE_DESCRIPTOR: it can be exported */
    ptxiMemLocation location;        /* the device */
    void *win32HandleMetaData;       /* NULL */
    struct {
        unsigned char compressionType;      /* 0 or 1; no effect, and 0 in the properties of a handle */
        unsigned char gpuDirectRDMACapable; /* 0 or 1; no effect */
        unsigned short usage;               /* 0 */
        unsigned char reserved[4];
    } allocFlags;
} ptxiMemAllocationProp;

/* Properties of a new pool. */
typedef struct ptxiMemPoolProps {
    ptxiMemAllocationType allocType; /* PINNED or MANAGED */
    int handleTypes;                 /* POSIX_FILE_DESCRIPTOR: processes may share it; 0: they may not */
    ptxiMemLocation location;        /* the device */
    void *win32SecurityAttributes;   /* NULL */
    size_t maxSize;                  /* bytes that may be allocated at one time, rounded up to 32 MiB; 0: no limit */
    unsigned short usage;            /* ignored */
    unsigned char reserved[54];      /* zeros */
} ptxiMemPoolProps;

/* What ptxiMemPoolExportPointer() returns for another process. Layout of CUmemPoolPtrExportData. */
typedef struct ptxiMemPoolPtrExportData {
    unsigned char reserved[64];
} ptxiMemPoolPtrExportData;

/* Handles of memory and events for other processes. Layout of CUipcMemHandle and CUipcEventHandle. */
typedef struct ptxiIpcMemHandle {
    char reserved[64];
} ptxiIpcMemHandle;
typedef struct ptxiIpcEventHandle {
    char reserved[64];
} ptxiIpcEventHandle;
enum { PTXI_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1 };

/* Attribute of a pool, with the type that its value has. */
typedef enum ptxiMemPoolAttribute {
    PTXI_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,   /* int, 0 or 1; settable, without effect */
    PTXI_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2,         /* int, 0 or 1; settable, without effect */
    PTXI_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3, /* int, 0 or 1; settable, without effect */
    PTXI_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,                 /* uint64_t, bytes; settable, without effect */
    PTXI_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,              /* uint64_t, bytes; as USED: a pool keeps no memory */
    PTXI_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,                 /* uint64_t, bytes; maximum; set to 0 to restart */
    PTXI_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,                  /* uint64_t, bytes that are allocated now */
    PTXI_MEMPOOL_ATTR_USED_MEM_HIGH = 8                      /* uint64_t, bytes; maximum; set to 0 to restart */
} ptxiMemPoolAttribute;

/* Condition for which a stream waits, where x is the word in memory and v the given value. */
enum {
    PTXI_STREAM_WAIT_VALUE_GEQ = 0, /* x - v, as a signed number, is not negative */
    PTXI_STREAM_WAIT_VALUE_EQ = 1,  /* x == v */
    PTXI_STREAM_WAIT_VALUE_AND = 2, /* x & v is not 0 */
    PTXI_STREAM_WAIT_VALUE_NOR = 3, /* ~(x | v) is not 0 */
    PTXI_STREAM_WAIT_VALUE_FLUSH = 0x40000000 /* bit added to one of the others; not supported, as on an H200 */
};
enum { PTXI_STREAM_WRITE_VALUE_DEFAULT = 0 };

/* Kind of an operation of ptxiStreamBatchMemOp(). */
typedef enum ptxiStreamBatchMemOpType {
    PTXI_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
    PTXI_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
    PTXI_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3, /* not supported */
    PTXI_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
    PTXI_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
    PTXI_STREAM_MEM_OP_BARRIER = 6              /* no effect: operations run in order */
} ptxiStreamBatchMemOpType;

/* One operation of ptxiStreamBatchMemOp(). Layout of CUstreamBatchMemOpParams. */
typedef struct ptxiStreamBatchMemOpParams {
    ptxiStreamBatchMemOpType operation;
    unsigned operationFlags;        /* of a barrier: its flags, 0 or 1 */
    ptxiDevicePtr address;          /* of the word; a multiple of its size */
    uint64_t value64;               /* value to wait for or to write; operations of 32 bits use the lower half */
    unsigned flags;                 /* of a wait: PTXI_STREAM_WAIT_VALUE_...; of a write: 0 */
    ptxiDevicePtr alias;            /* ignored */
    uint64_t pad;
} ptxiStreamBatchMemOpParams;

enum { /* flags of ptxiCtxCreate: how a host thread waits; stored, without effect */
    PTXI_CTX_SCHED_AUTO = 0, PTXI_CTX_SCHED_SPIN = 1, PTXI_CTX_SCHED_YIELD = 2, PTXI_CTX_SCHED_BLOCKING_SYNC = 4,
    PTXI_CTX_SCHED_MASK = 7, PTXI_CTX_MAP_HOST = 8, PTXI_CTX_LMEM_RESIZE_TO_MAX = 0x10, PTXI_CTX_FLAGS_MASK = 0xff
};
enum { PTXI_STREAM_DEFAULT = 0, PTXI_STREAM_NON_BLOCKING = 1 };
enum { PTXI_EVENT_DEFAULT = 0, PTXI_EVENT_BLOCKING_SYNC = 1, PTXI_EVENT_DISABLE_TIMING = 2,
       PTXI_EVENT_INTERPROCESS = 4 };
enum { PTXI_MEM_ATTACH_GLOBAL = 1, PTXI_MEM_ATTACH_HOST = 2, PTXI_MEM_ATTACH_SINGLE = 4 };
enum { PTXI_MEMHOSTALLOC_PORTABLE = 1, PTXI_MEMHOSTALLOC_DEVICEMAP = 2, PTXI_MEMHOSTALLOC_WRITECOMBINED = 4 };
enum { PTXI_MEMHOSTREGISTER_PORTABLE = 1, PTXI_MEMHOSTREGISTER_DEVICEMAP = 2, PTXI_MEMHOSTREGISTER_IOMEMORY = 4,
       PTXI_MEMHOSTREGISTER_READ_ONLY = 8 };

/* Keys of the `extra` array of ptxiLaunchKernel. */
#define PTXI_LAUNCH_PARAM_END            ((void *)0x00)
#define PTXI_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define PTXI_LAUNCH_PARAM_BUFFER_SIZE    ((void *)0x02)

/* Attribute of a launch. Numbers and layouts of CUlaunchAttribute and CUlaunchConfig. "No effect" means that the value
 * is checked and otherwise ignored. */
typedef enum ptxiLaunchAttributeID {
    PTXI_LAUNCH_ATTRIBUTE_IGNORE = 0,
    PTXI_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,                     /* no effect */
    PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,                              /* all blocks are resident at once */
    PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3,                   /* for streams only: INVALID_VALUE */
    PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,                        /* blocks of a cluster; zeros: no clusters */
    PTXI_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,     /* 0 to 2; no effect */
    PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,        /* sets edges of captures; no other effect */
    PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,                       /* the event is recorded after the grid */
    PTXI_LAUNCH_ATTRIBUTE_PRIORITY = 8,                                 /* no effect */
    PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9,                      /* two domains, each 0 to 3; no effect */
    PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10,                         /* 0 or 1; no effect */
    PTXI_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,             /* multiple of the clusters; no effect */
    PTXI_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12,                 /* the event is recorded after the grid */
    PTXI_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE = 13,            /* not supported */
    PTXI_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14,        /* percent, up to 100; no effect */
    PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW = 0x70740001                   /* run only some clusters; not in CUDA */
} ptxiLaunchAttributeID;

typedef union ptxiLaunchAttributeValue {
    char pad[64];
    int cooperative;                                                    /* 0 or 1 */
    struct { unsigned x, y, z; } clusterDim;                            /* blocks */
    int programmaticStreamSerializationAllowed;                         /* 0 or 1 */
    struct { ptxiEvent event; int flags, triggerAtBlockStart; } programmaticEvent; /* flags 0 */
    struct { ptxiEvent event; int flags; } launchCompletionEvent;       /* flags 0 */
    int priority;
    int syncPolicy;                                                     /* PTXI_SYNC_POLICY_...; -1: not set */
    struct { unsigned char default_, remote; } memSyncDomainMap;        /* 0 to 3 */
    int memSyncDomain;                                                  /* 0 or 1 */
    /* the clusters first, first + 1, ..., in the order of their numbers; %gridid, or 0 for a new one */
    struct { uint64_t first, count, gridid; } clusterWindow;
} ptxiLaunchAttributeValue;

/* How a host thread waits for a stream. No effect. */
enum { PTXI_SYNC_POLICY_AUTO = 1, PTXI_SYNC_POLICY_SPIN = 2, PTXI_SYNC_POLICY_YIELD = 3,
       PTXI_SYNC_POLICY_BLOCKING_SYNC = 4 };

typedef struct ptxiLaunchAttribute {
    ptxiLaunchAttributeID id;
    char pad[8 - sizeof(ptxiLaunchAttributeID)];
    ptxiLaunchAttributeValue value;
} ptxiLaunchAttribute;

typedef struct ptxiLaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ;    /* blocks */
    unsigned blockDimX, blockDimY, blockDimZ; /* threads */
    unsigned sharedMemBytes;                  /* bytes of dynamic shared memory of a block */
    ptxiStream hStream;
    ptxiLaunchAttribute *attrs;               /* numAttrs of them; NULL if there are none */
    unsigned numAttrs;
} ptxiLaunchConfig;

/* An opaque tensor map, aligned to 64 bytes. Kernels read it from a parameter (__grid_constant__) or from memory. */
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

/* A rectangle to copy. Layout of CUDA_MEMCPY2D. */
typedef struct PTXI_MEMCPY2D {
    size_t srcXInBytes, srcY;       /* first byte of a row, and first row */
    ptxiMemoryType srcMemoryType;   /* selects one of the next three members */
    const void *srcHost;
    ptxiDevicePtr srcDevice;
    ptxiArray srcArray;
    size_t srcPitch;                /* bytes from one row to the next; 0: WidthInBytes; ignored for arrays */
    size_t dstXInBytes, dstY;       /* as for the source */
    ptxiMemoryType dstMemoryType;
    void *dstHost;
    ptxiDevicePtr dstDevice;
    ptxiArray dstArray;
    size_t dstPitch;
    size_t WidthInBytes;            /* bytes of a row to copy */
    size_t Height;                  /* rows to copy */
} PTXI_MEMCPY2D;

/* A box to copy. Layout of CUDA_MEMCPY3D. */
typedef struct PTXI_MEMCPY3D {
    size_t srcXInBytes, srcY, srcZ, srcLOD; /* first byte of a row, row, and slice or layer; LOD 0 */
    ptxiMemoryType srcMemoryType;   /* selects one of the next three members */
    const void *srcHost;
    ptxiDevicePtr srcDevice;
    ptxiArray srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight;     /* bytes of a row, and rows of a slice; 0: WidthInBytes and Height */
    size_t dstXInBytes, dstY, dstZ, dstLOD; /* as for the source */
    ptxiMemoryType dstMemoryType;
    void *dstHost;
    ptxiDevicePtr dstDevice;
    ptxiArray dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth; /* bytes of a row, rows, and slices or layers to copy */
} PTXI_MEMCPY3D;

/* A box to copy between contexts. Members as those of PTXI_MEMCPY3D. Layout of CUDA_MEMCPY3D_PEER. */
typedef struct PTXI_MEMCPY3D_PEER {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    ptxiMemoryType srcMemoryType;
    const void *srcHost;
    ptxiDevicePtr srcDevice;
    ptxiArray srcArray;
    ptxiContext srcContext;         /* NULL: the current context */
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    ptxiMemoryType dstMemoryType;
    void *dstHost;
    ptxiDevicePtr dstDevice;
    ptxiArray dstArray;
    ptxiContext dstContext;         /* NULL: the current context */
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} PTXI_MEMCPY3D_PEER;

/* Advice about managed memory. It has no effect, but can be queried. */
typedef enum ptxiMemAdvice {
    PTXI_MEM_ADVISE_SET_READ_MOSTLY = 1,
    PTXI_MEM_ADVISE_UNSET_READ_MOSTLY = 2,
    PTXI_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
    PTXI_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
    PTXI_MEM_ADVISE_SET_ACCESSED_BY = 5,
    PTXI_MEM_ADVISE_UNSET_ACCESSED_BY = 6
} ptxiMemAdvice;

/* Attribute of a range of managed memory, an int. A location is the number of a device, -1 for the host, or -2 if it is
 * unknown or not the same in the whole range. */
typedef enum ptxiMemRangeAttribute {
    PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,            /* 1: advised for the whole range */
    PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
    PTXI_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,            /* array of locations; unused elements are -2 */
    PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4,
    PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 5, /* ptxiMemLocationType */
    PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 6,
    PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7,
    PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8
} ptxiMemRangeAttribute;

/* When a batch reads the source of a copy. */
typedef enum ptxiMemcpySrcAccessOrder {
    PTXI_MEMCPY_SRC_ACCESS_ORDER_INVALID = 0,
    PTXI_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,             /* when the stream reaches it */
    PTXI_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL = 2,    /* before the call returns */
    PTXI_MEMCPY_SRC_ACCESS_ORDER_ANY = 3                 /* at any time; as STREAM */
} ptxiMemcpySrcAccessOrder;

enum { PTXI_MEMCPY_FLAG_DEFAULT = 0, PTXI_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE = 1 }; /* no effect */

/* Attributes of copies of a batch. Layouts of CUmemcpyAttributes and the like. */
typedef struct ptxiMemcpyAttributes {
    ptxiMemcpySrcAccessOrder srcAccessOrder;
    ptxiMemLocation srcLocHint, dstLocHint;              /* ignored */
    unsigned flags;                                      /* PTXI_MEMCPY_FLAG_... */
} ptxiMemcpyAttributes;

typedef enum ptxiMemcpy3DOperandType {
    PTXI_MEMCPY_OPERAND_TYPE_POINTER = 1,
    PTXI_MEMCPY_OPERAND_TYPE_ARRAY = 2
} ptxiMemcpy3DOperandType;

typedef struct ptxiOffset3D {
    size_t x, y, z;                                      /* elements */
} ptxiOffset3D;

typedef struct ptxiExtent3D {
    size_t width, height, depth;                         /* elements */
} ptxiExtent3D;

typedef union ptxiMemcpy3DOperandValue {
    struct {
        ptxiDevicePtr ptr;                               /* device or host address */
        size_t rowLength, layerHeight;                   /* elements of a row, rows of a layer; 0: those of the copy */
        ptxiMemLocation locHint;                         /* ignored */
    } ptr;
    struct {
        ptxiArray array;
        ptxiOffset3D offset;
    } array;
} ptxiMemcpy3DOperandValue;

typedef struct ptxiMemcpy3DOperand {
    ptxiMemcpy3DOperandType type;                        /* selects the member of `op` */
    ptxiMemcpy3DOperandValue op;
} ptxiMemcpy3DOperand;

/* One copy of a batch. Elements are those of its array; without an array they are bytes. */
typedef struct PTXI_MEMCPY3D_BATCH_OP {
    ptxiMemcpy3DOperand src, dst;
    ptxiExtent3D extent;                                 /* not 0 */
    ptxiMemcpySrcAccessOrder srcAccessOrder;
    unsigned flags;                                      /* PTXI_MEMCPY_FLAG_... */
} PTXI_MEMCPY3D_BATCH_OP;

typedef enum ptxiGraphNodeType {
    PTXI_GRAPH_NODE_TYPE_KERNEL = 0,
    PTXI_GRAPH_NODE_TYPE_MEMCPY = 1,
    PTXI_GRAPH_NODE_TYPE_MEMSET = 2,
    PTXI_GRAPH_NODE_TYPE_HOST = 3,
    PTXI_GRAPH_NODE_TYPE_GRAPH = 4,
    PTXI_GRAPH_NODE_TYPE_EMPTY = 5,
    PTXI_GRAPH_NODE_TYPE_WAIT_EVENT = 6,
    PTXI_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
    PTXI_GRAPH_NODE_TYPE_MEM_ALLOC = 10,
    PTXI_GRAPH_NODE_TYPE_MEM_FREE = 11,
    PTXI_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12,
    PTXI_GRAPH_NODE_TYPE_CONDITIONAL = 13
} ptxiGraphNodeType;

enum { /* flags of ptxiGraphInstantiate */
    PTXI_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1, /* a launch frees what earlier launches have left allocated */
    PTXI_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2,              /* as ptxiGraphUpload */
    PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4,       /* kernels of graphs can launch it, after an upload */
    PTXI_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8    /* no effect */
};

/* Parameters of graph nodes. Layouts of CUDA_KERNEL_NODE_PARAMS and the like. */
typedef struct PTXI_KERNEL_NODE_PARAMS {
    ptxiFunction func;                        /* the kernel; NULL: `kern` */
    unsigned gridDimX, gridDimY, gridDimZ;    /* blocks */
    unsigned blockDimX, blockDimY, blockDimZ; /* threads */
    unsigned sharedMemBytes;                  /* bytes of dynamic shared memory of a block */
    void **kernelParams;                      /* as in ptxiLaunchKernel */
    void **extra;                             /* as in ptxiLaunchKernel */
    ptxiKernel kern;                          /* the kernel of a library; used if `func` is NULL */
    ptxiContext ctx;                          /* ignored */
} PTXI_KERNEL_NODE_PARAMS;

typedef struct PTXI_MEMSET_NODE_PARAMS {
    ptxiDevicePtr dst;
    size_t pitch;                   /* bytes from one row to the next; ignored for one row */
    unsigned value;                 /* the lowest elementSize bytes are used */
    unsigned elementSize;           /* bytes: 1, 2 or 4 */
    size_t width;                   /* elements of a row */
    size_t height;                  /* rows */
} PTXI_MEMSET_NODE_PARAMS;

typedef struct PTXI_HOST_NODE_PARAMS {
    ptxiHostFn fn;
    void *userData;                 /* argument of `fn` */
} PTXI_HOST_NODE_PARAMS;

/* A condition of a graph. Its value is an unsigned number, which kernels set with cudaGraphSetConditional. */
typedef unsigned long long ptxiGraphConditionalHandle;

enum { PTXI_GRAPH_COND_ASSIGN_DEFAULT = 1 }; /* each launch begins with the default value */

typedef enum ptxiGraphConditionalNodeType {
    PTXI_GRAPH_COND_TYPE_IF = 0,    /* run body 0 if the value is not 0; otherwise body 1, if there is one */
    PTXI_GRAPH_COND_TYPE_WHILE = 1, /* run body 0 repeatedly while the value is not 0 */
    PTXI_GRAPH_COND_TYPE_SWITCH = 2 /* run the body that has the value as its index, if any */
} ptxiGraphConditionalNodeType;

typedef struct PTXI_CONDITIONAL_NODE_PARAMS {
    ptxiGraphConditionalHandle handle;
    ptxiGraphConditionalNodeType type;
    unsigned size;                  /* number of bodies: IF 1 or 2, WHILE 1, SWITCH 1 to 65536 */
    ptxiGraph *phGraph_out;         /* output: `size` empty graphs of the node, which the caller fills */
    ptxiContext ctx;                /* ignored */
} PTXI_CONDITIONAL_NODE_PARAMS;

typedef struct PTXI_MEMCPY_NODE_PARAMS {
    int flags, reserved;            /* ignored */
    ptxiContext copyCtx;            /* ignored */
    PTXI_MEMCPY3D copyParams;
} PTXI_MEMCPY_NODE_PARAMS;

typedef enum ptxiGraphChildGraphNodeOwnership {
    PTXI_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE = 0, /* the node gets a copy */
    PTXI_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE = 1   /* the graph belongs to the node from now on */
} ptxiGraphChildGraphNodeOwnership;

typedef struct PTXI_CHILD_GRAPH_NODE_PARAMS {
    ptxiGraph graph;                /* copied into the node, or moved */
    ptxiGraphChildGraphNodeOwnership ownership; /* MOVE: the graph may have nodes that allocate or free memory */
} PTXI_CHILD_GRAPH_NODE_PARAMS;

typedef struct PTXI_MEM_ALLOC_NODE_PARAMS {
    ptxiMemPoolProps poolProps;     /* where the memory is; handleTypes and maxSize 0 */
    const ptxiMemAccessDesc *accessDescs; /* other devices that access it; there are none */
    size_t accessDescCount;
    size_t bytesize;                /* bytes, at least 1 */
    ptxiDevicePtr dptr;             /* output: the address, which is the same in all launches */
} PTXI_MEM_ALLOC_NODE_PARAMS;

typedef struct PTXI_MEM_FREE_NODE_PARAMS {
    ptxiDevicePtr dptr;             /* address of a node that allocates memory */
} PTXI_MEM_FREE_NODE_PARAMS;

typedef struct PTXI_BATCH_MEM_OP_NODE_PARAMS {
    ptxiContext ctx;                /* not NULL in calls for this type of node; ignored */
    unsigned count;                 /* operations, at most 255 */
    ptxiStreamBatchMemOpParams *paramArray;
    unsigned flags;                 /* 0 */
} PTXI_BATCH_MEM_OP_NODE_PARAMS;

/* Attribute of the memory of graphs, a uint64_t in bytes. */
typedef enum ptxiGraphMemAttribute {
    PTXI_GRAPH_MEM_ATTR_USED_MEM_CURRENT = 0,     /* most memory allocated at one time since ptxiDeviceGraphMemTrim,
                                                     rounded up to 32 MiB */
    PTXI_GRAPH_MEM_ATTR_USED_MEM_HIGH = 1,        /* maximum; set to 0 to restart */
    PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT = 2, /* as USED */
    PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH = 3     /* maximum; set to 0 to restart */
} ptxiGraphMemAttribute;

enum { PTXI_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1 }; /* flag of ptxiUserObjectCreate, always set */
enum { PTXI_GRAPH_USER_OBJECT_MOVE = 1 };         /* flag of ptxiGraphRetainUserObject */

enum { /* flags of ptxiGraphDebugDotPrint: what the text includes */
    PTXI_GRAPH_DEBUG_DOT_FLAGS_VERBOSE = 1,       /* everything */
    PTXI_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES = 2, /* no effect */
    PTXI_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS = 0x4,
    PTXI_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS = 0x8,
    PTXI_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS = 0x10,
    PTXI_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS = 0x20,
    PTXI_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS = 0x40,
    PTXI_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS = 0x80, /* no effect: there are no such nodes */
    PTXI_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS = 0x100,   /* no effect: there are no such nodes */
    PTXI_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES = 0x200,
    PTXI_GRAPH_DEBUG_DOT_FLAGS_HANDLES = 0x400,
    PTXI_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS = 0x800,
    PTXI_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS = 0x1000,
    PTXI_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS = 0x2000,
    PTXI_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO = 0x4000,             /* data of edges */
    PTXI_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS = 0x8000
};

/* How ptxiStreamUpdateCaptureDependencies changes the dependencies of a stream. */
enum { PTXI_STREAM_ADD_CAPTURE_DEPENDENCIES = 0, PTXI_STREAM_SET_CAPTURE_DEPENDENCIES = 1 };

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
    PTXI_MEM_ALLOC_NODE_PARAMS alloc;
    PTXI_MEM_FREE_NODE_PARAMS free;
    PTXI_BATCH_MEM_OP_NODE_PARAMS memOp;
    PTXI_CONDITIONAL_NODE_PARAMS conditional;
} ptxiGraphNodeParamsValue;

/* Parameters of a node of any type. Layout of CUgraphNodeParams. */
typedef struct ptxiGraphNodeParams {
    ptxiGraphNodeType type;         /* selects the member of `value` */
    int reserved0[3];
    ptxiGraphNodeParamsValue value;
    long long reserved2;
} ptxiGraphNodeParams;

/* Data of an edge. Layout of CUgraphEdgeData. All zeros: the second node begins after the first has ended. Kernel nodes
 * may also have programmatic edges: type PTXI_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, another port than DEFAULT, to_port 0.
 * They permit an earlier start, which does not happen. */
#define PTXI_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC 1
#define PTXI_GRAPH_KERNEL_NODE_PORT_DEFAULT 0
#define PTXI_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC 1 /* all CTAs have executed griddepcontrol.launch_dependents */
#define PTXI_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER 2 /* all CTAs have begun */
typedef struct ptxiGraphEdgeData {
    unsigned char from_port, to_port, type, reserved[5];
} ptxiGraphEdgeData;

/* Result of ptxiGraphInstantiateWithParams. Numbers and layout of the driver. */
typedef enum ptxiGraphInstantiateResult {
    PTXI_GRAPH_INSTANTIATE_SUCCESS = 0,
    PTXI_GRAPH_INSTANTIATE_ERROR = 1,
    PTXI_GRAPH_INSTANTIATE_INVALID_STRUCTURE = 2, /* the graph has a cycle */
    PTXI_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED = 3 /* of a graph that kernels launch */
} ptxiGraphInstantiateResult;

typedef struct PTXI_GRAPH_INSTANTIATE_PARAMS {
    unsigned long long flags;       /* PTXI_GRAPH_INSTANTIATE_FLAG_... */
    ptxiStream hUploadStream;       /* ignored */
    ptxiGraphNode hErrNode_out;     /* output: a node of a graph with a cycle; otherwise NULL */
    ptxiGraphInstantiateResult result_out; /* output */
} PTXI_GRAPH_INSTANTIATE_PARAMS;

/* Result of ptxiGraphExecUpdate. Numbers and layout of the driver. */
typedef enum ptxiGraphExecUpdateResult {
    PTXI_GRAPH_EXEC_UPDATE_SUCCESS = 0,
    PTXI_GRAPH_EXEC_UPDATE_ERROR = 1,
    PTXI_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,  /* other nodes, dependencies or bodies */
    PTXI_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3, /* a node has another type */
    PTXI_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED = 5 /* a node allocates or frees other memory */
} ptxiGraphExecUpdateResult;

typedef struct ptxiGraphExecUpdateResultInfo {
    ptxiGraphExecUpdateResult result;
    ptxiGraphNode errorNode;        /* the node of the new graph that has another type; otherwise NULL */
    ptxiGraphNode errorFromNode;    /* NULL */
} ptxiGraphExecUpdateResultInfo;

/* The threads that may end a capture. */
typedef enum ptxiStreamCaptureMode {
    PTXI_STREAM_CAPTURE_MODE_GLOBAL = 0,        /* the thread that began it */
    PTXI_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,  /* the thread that began it */
    PTXI_STREAM_CAPTURE_MODE_RELAXED = 2        /* any thread */
} ptxiStreamCaptureMode;

typedef enum ptxiStreamCaptureStatus {
    PTXI_STREAM_CAPTURE_STATUS_NONE = 0,        /* the stream is not captured */
    PTXI_STREAM_CAPTURE_STATUS_ACTIVE = 1,
    PTXI_STREAM_CAPTURE_STATUS_INVALIDATED = 2  /* an earlier call invalidated the capture */
} ptxiStreamCaptureStatus;

/* Format of a channel of an array, or of a whole texel. */
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
    PTXI_AD_FORMAT_BC1_UNORM = 0x91, PTXI_AD_FORMAT_BC1_UNORM_SRGB = 0x92,
    PTXI_AD_FORMAT_BC2_UNORM = 0x93, PTXI_AD_FORMAT_BC2_UNORM_SRGB = 0x94,
    PTXI_AD_FORMAT_BC3_UNORM = 0x95, PTXI_AD_FORMAT_BC3_UNORM_SRGB = 0x96,
    PTXI_AD_FORMAT_BC4_UNORM = 0x97, PTXI_AD_FORMAT_BC4_SNORM = 0x98,
    PTXI_AD_FORMAT_BC5_UNORM = 0x99, PTXI_AD_FORMAT_BC5_SNORM = 0x9a,
    PTXI_AD_FORMAT_BC6H_UF16 = 0x9b, PTXI_AD_FORMAT_BC6H_SF16 = 0x9c,
    PTXI_AD_FORMAT_BC7_UNORM = 0x9d, PTXI_AD_FORMAT_BC7_UNORM_SRGB = 0x9e
} ptxiArrayFormat;

/* Texels that coordinates outside of a texture read. */
typedef enum ptxiAddressMode {
    PTXI_TR_ADDRESS_MODE_WRAP = 0,
    PTXI_TR_ADDRESS_MODE_CLAMP = 1,
    PTXI_TR_ADDRESS_MODE_MIRROR = 2,
    PTXI_TR_ADDRESS_MODE_BORDER = 3   /* the border colour */
} ptxiAddressMode;

typedef enum ptxiFilterMode {
    PTXI_TR_FILTER_MODE_POINT = 0,    /* the nearest texel */
    PTXI_TR_FILTER_MODE_LINEAR = 1    /* a weighted mean of neighbours */
} ptxiFilterMode;

typedef enum ptxiResourceType {
    PTXI_RESOURCE_TYPE_ARRAY = 0,
    PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
    PTXI_RESOURCE_TYPE_LINEAR = 2,
    PTXI_RESOURCE_TYPE_PITCH2D = 3
} ptxiResourceType;

/* Formats of CUresourceViewFormat: 1, 2 or 4 channels with a width and kind, numbered in this order. */
typedef enum ptxiResourceViewFormat {
    PTXI_RES_VIEW_FORMAT_NONE = 0x00,
    PTXI_RES_VIEW_FORMAT_UINT_1X8 = 0x01, PTXI_RES_VIEW_FORMAT_UINT_2X8 = 0x02, PTXI_RES_VIEW_FORMAT_UINT_4X8 = 0x03,
    PTXI_RES_VIEW_FORMAT_SINT_1X8 = 0x04, PTXI_RES_VIEW_FORMAT_SINT_2X8 = 0x05, PTXI_RES_VIEW_FORMAT_SINT_4X8 = 0x06,
    PTXI_RES_VIEW_FORMAT_UINT_1X16 = 0x07, PTXI_RES_VIEW_FORMAT_UINT_2X16 = 0x08, PTXI_RES_VIEW_FORMAT_UINT_4X16 = 0x09,
    PTXI_RES_VIEW_FORMAT_SINT_1X16 = 0x0a, PTXI_RES_VIEW_FORMAT_SINT_2X16 = 0x0b, PTXI_RES_VIEW_FORMAT_SINT_4X16 = 0x0c,
    PTXI_RES_VIEW_FORMAT_UINT_1X32 = 0x0d, PTXI_RES_VIEW_FORMAT_UINT_2X32 = 0x0e, PTXI_RES_VIEW_FORMAT_UINT_4X32 = 0x0f,
    PTXI_RES_VIEW_FORMAT_SINT_1X32 = 0x10, PTXI_RES_VIEW_FORMAT_SINT_2X32 = 0x11, PTXI_RES_VIEW_FORMAT_SINT_4X32 = 0x12,
    PTXI_RES_VIEW_FORMAT_FLOAT_1X16 = 0x13, PTXI_RES_VIEW_FORMAT_FLOAT_2X16 = 0x14,
    PTXI_RES_VIEW_FORMAT_FLOAT_4X16 = 0x15, PTXI_RES_VIEW_FORMAT_FLOAT_1X32 = 0x16,
    PTXI_RES_VIEW_FORMAT_FLOAT_2X32 = 0x17, PTXI_RES_VIEW_FORMAT_FLOAT_4X32 = 0x18,
    PTXI_RES_VIEW_FORMAT_UNSIGNED_BC1 = 0x19, PTXI_RES_VIEW_FORMAT_UNSIGNED_BC2 = 0x1a,
    PTXI_RES_VIEW_FORMAT_UNSIGNED_BC3 = 0x1b, PTXI_RES_VIEW_FORMAT_UNSIGNED_BC4 = 0x1c,
    PTXI_RES_VIEW_FORMAT_SIGNED_BC4 = 0x1d, PTXI_RES_VIEW_FORMAT_UNSIGNED_BC5 = 0x1e,
    PTXI_RES_VIEW_FORMAT_SIGNED_BC5 = 0x1f, PTXI_RES_VIEW_FORMAT_UNSIGNED_BC6H = 0x20,
    PTXI_RES_VIEW_FORMAT_SIGNED_BC6H = 0x21, PTXI_RES_VIEW_FORMAT_UNSIGNED_BC7 = 0x22
} ptxiResourceViewFormat;

enum { /* flags of arrays; VIDEO_ENCODE_DECODE has no effect, DEPTH_TEXTURE and COLOR_ATTACHMENT are not accepted */
    PTXI_ARRAY3D_LAYERED = 1, PTXI_ARRAY3D_SURFACE_LDST = 2, PTXI_ARRAY3D_CUBEMAP = 4, PTXI_ARRAY3D_TEXTURE_GATHER = 8,
    PTXI_ARRAY3D_DEPTH_TEXTURE = 0x10, PTXI_ARRAY3D_COLOR_ATTACHMENT = 0x20, PTXI_ARRAY3D_VIDEO_ENCODE_DECODE = 0x100
};
enum { /* flags of textures */
    PTXI_TRSF_READ_AS_INTEGER = 1, PTXI_TRSF_NORMALIZED_COORDINATES = 2, PTXI_TRSF_SRGB = 0x10,
    PTXI_TRSF_DISABLE_TRILINEAR_OPTIMIZATION = 0x20, PTXI_TRSF_SEAMLESS_CUBEMAP = 0x40
};
#define PTXI_TRSA_OVERRIDE_FORMAT 0x01 /* flag of ptxiTexRefSetArray */

/* Shape and format of an array. Layouts of CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR. */
typedef struct PTXI_ARRAY_DESCRIPTOR {
    size_t Width, Height;           /* elements; Height 0: one dimension */
    ptxiArrayFormat Format;         /* of a channel */
    unsigned NumChannels;           /* 1, 2 or 4; formats that include a number of channels need that number */
} PTXI_ARRAY_DESCRIPTOR;

typedef struct PTXI_ARRAY3D_DESCRIPTOR {
    size_t Width, Height, Depth;    /* elements; Depth of a layered array: layers; of cubemaps: 6 for each cube */
    ptxiArrayFormat Format;         /* of a channel */
    unsigned NumChannels;           /* 1, 2 or 4; formats that include a number of channels need that number */
    unsigned Flags;                 /* PTXI_ARRAY3D_... */
} PTXI_ARRAY3D_DESCRIPTOR;

typedef union ptxiResource {
    struct { ptxiArray hArray; } array;
    struct { ptxiMipmappedArray hMipmappedArray; } mipmap;
    /* One row of texels in device memory. */
    struct { ptxiDevicePtr devPtr; ptxiArrayFormat format; unsigned numChannels; size_t sizeInBytes; } linear;
    /* Rows of texels in device memory; width and height are in texels. */
    struct {
        ptxiDevicePtr devPtr; ptxiArrayFormat format; unsigned numChannels; size_t width, height, pitchInBytes;
    } pitch2D;
    struct { int reserved[32]; } reserved;
} ptxiResource;

/* Resource of a texture or surface object. Layouts of CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC and
 * CUDA_RESOURCE_VIEW_DESC. */
typedef struct PTXI_RESOURCE_DESC {
    ptxiResourceType resType;       /* selects the member of `res` */
    ptxiResource res;
    unsigned flags;                 /* 0 */
} PTXI_RESOURCE_DESC;

/* How a texture object is sampled. */
typedef struct PTXI_TEXTURE_DESC {
    ptxiAddressMode addressMode[3]; /* for x, y, z */
    ptxiFilterMode filterMode;      /* within a level */
    unsigned flags;                 /* PTXI_TRSF_... */
    unsigned maxAnisotropy;         /* largest ratio; rounded down to 0, 2, 4, 6, 8, 10, 12 or 16 */
    ptxiFilterMode mipmapFilterMode; /* between levels */
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp; /* levels; the bias is clamped to -15 to 15 */
    float borderColor[4];           /* channels of texels outside, for PTXI_TR_ADDRESS_MODE_BORDER */
    int reserved[12];               /* zeros */
} PTXI_TEXTURE_DESC;

/* A view of an array with another format, or with fewer levels or layers. Ignored for textures in device memory. */
typedef struct PTXI_RESOURCE_VIEW_DESC {
    ptxiResourceViewFormat format;  /* with as many bytes per texel as the array, or blocks of them */
    size_t width, height, depth;    /* width and height of level 0, in texels of the view */
    unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer; /* inclusive ranges */
    unsigned reserved[16];
} PTXI_RESOURCE_VIEW_DESC;

/* ---- start and errors ---------------------------------------------------------------------------------------- */

/*! ptxiInit() :
 *  Initialises the library. A program calls it first; further calls do nothing. It reads the environment variables
 *  PTXI_DEVICE, PTXI_WORKERS, PTXI_SCHED, PTXI_SCHED_SEED, PTXI_FILL and PTXI_ON_FAULT (see README.md). Invalid values
 *  are ignored, except in PTXI_DEVICE. For programs that are not made for this library there are two more: with
 *  PTXI_REPORT=1, each failed launch is written to stderr when it fails, with its report and the host's calls that led
 *  to it. With PTXI_STATS=stderr, or a file to append to, a table of kernels, copies and memory is written when the
 *  process ends.
 * `flags` 0.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE    flags is not 0
 *         PTXI_ERROR_INVALID_DEVICE   PTXI_DEVICE is not a list of one to 32 names of device profiles
 *         PTXI_ERROR_NOT_INITIALIZED  the process was created by fork() after ptxiInit
 *  Source: cuInit. */
PTXI_API ptxiResult ptxiInit(unsigned flags);

/*! ptxiDriverGetVersion() :
 *  Returns PTXI_DRIVER_VERSION, which is 1000 * major + 10 * minor of the CUDA version. Works before ptxiInit.
 *  Source: cuDriverGetVersion. */
PTXI_API ptxiResult ptxiDriverGetVersion(int *driverVersion);

/*! ptxiGetErrorName() :
 *  Returns the name of a result, "PTXI_ERROR_...". `*pStr` is static. Works before ptxiInit.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE, with *pStr = NULL if `error` is not a result.
 *  Source: cuGetErrorName. */
PTXI_API ptxiResult ptxiGetErrorName(ptxiResult error, const char **pStr);

/*! ptxiGetErrorString() :
 *  Returns a description of a result in English, without a full stop. `*pStr` is static. Works before ptxiInit.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE, with *pStr = NULL if `error` is not a result.
 *  Source: cuGetErrorString. */
PTXI_API ptxiResult ptxiGetErrorString(ptxiResult error, const char **pStr);

/* ---- devices ------------------------------------------------------------------------------------------------- */

/*! ptxiDeviceGet() :
 *  Returns the device with this ordinal, which is the same number. Its profile says which GPU it imitates; see
 *  ptxiDeviceSetProfile.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE if there is no such device.
 *  Source: cuDeviceGet. */
PTXI_API ptxiResult ptxiDeviceGet(ptxiDevice *device, int ordinal);

/*! ptxiDeviceGetCount() :
 *  Returns the number of devices: that of the profiles in the environment variable PTXI_DEVICE, such as
 *  "sm_90,sm_80", or 1. Devices share the host's memory and processors. They differ in their profiles, contexts,
 *  memory pools and identifiers, and in the memory that kernels can access (see ptxiCtxEnablePeerAccess).
 *  Source: cuDeviceGetCount. */
PTXI_API ptxiResult ptxiDeviceGetCount(int *count);

/*! ptxiDeviceGetName() :
 *  Copies the device's name, such as "libptxi sm_90 (...)", with the name of the GPU in parentheses.
 * `len` size of `name` in bytes. A longer text is truncated. The result always ends with a NUL.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_VALUE if len < 1.
 *  Source: cuDeviceGetName. */
PTXI_API ptxiResult ptxiDeviceGetName(char *name, int len, ptxiDevice dev);

/*! ptxiDeviceGetAttribute() :
 *  Returns one attribute of the current device profile, with the units of the driver: bytes, kHz, bits, or 0 and 1.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_VALUE for a number outside of
 *         1..PTXI_DEVICE_ATTRIBUTE_MAX - 1.
 *  Source: cuDeviceGetAttribute. */
PTXI_API ptxiResult ptxiDeviceGetAttribute(int *pi, ptxiDeviceAttribute attrib, ptxiDevice dev);

/*! ptxiDeviceTotalMem() :
 *  Returns the number of bytes that can be allocated in all, which is the size of the host's memory.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuDeviceTotalMem. */
PTXI_API ptxiResult ptxiDeviceTotalMem(size_t *bytes, ptxiDevice dev);

/*! ptxiDeviceComputeCapability() :
 *  Returns the compute capability of the current device profile: 9 and 0 for sm_90.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuDeviceComputeCapability. */
PTXI_API ptxiResult ptxiDeviceComputeCapability(int *major, int *minor, ptxiDevice dev);

/*! ptxiDeviceGetProperties() :
 *  Returns some attributes of the current device profile.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuDeviceGetProperties. */
PTXI_API ptxiResult ptxiDeviceGetProperties(ptxiDevprop *prop, ptxiDevice dev);

/*! ptxiDeviceGetUuid() :
 *  Returns an identifier of the device: the bytes "libptxi device ", and the ordinal in the last byte. It is the same
 *  in each process.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuDeviceGetUuid. */
PTXI_API ptxiResult ptxiDeviceGetUuid(ptxiUuid *uuid, ptxiDevice dev);

/*! ptxiDeviceGetPCIBusId() :
 *  Copies the device's name on a PCI bus, such as "0000:01:00.0". The number of the bus is the device's ordinal.
 * `len` size of `pciBusId` in bytes, at least 13.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_VALUE if len < 13.
 *  Source: cuDeviceGetPCIBusId. */
PTXI_API ptxiResult ptxiDeviceGetPCIBusId(char *pciBusId, int len, ptxiDevice dev);

/*! ptxiDeviceGetByPCIBusId() :
 *  Returns the device with this name on a PCI bus.
 * `pciBusId` [domain:]bus:device[.function] in hexadecimal numbers.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE if there is no such device, or PTXI_ERROR_INVALID_VALUE for another
 *         text.
 *  Source: cuDeviceGetByPCIBusId. */
PTXI_API ptxiResult ptxiDeviceGetByPCIBusId(ptxiDevice *dev, const char *pciBusId);

/*! ptxiDeviceCanAccessPeer() :
 *  Returns 1 if kernels of `dev` can access memory of `peerDev` once ptxiCtxEnablePeerAccess permits it. This is true
 *  of all pairs of different devices.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuDeviceCanAccessPeer. */
PTXI_API ptxiResult ptxiDeviceCanAccessPeer(int *canAccessPeer, ptxiDevice dev, ptxiDevice peerDev);

/*! ptxiDeviceGetP2PAttribute() :
 *  Returns an attribute of a pair of devices.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE if a device does not exist or both are the same, or
 *         PTXI_ERROR_INVALID_VALUE if `attrib` is not a ptxiDeviceP2PAttribute.
 *  Source: cuDeviceGetP2PAttribute. */
PTXI_API ptxiResult ptxiDeviceGetP2PAttribute(int *value, ptxiDeviceP2PAttribute attrib, ptxiDevice srcDevice,
                                              ptxiDevice dstDevice);

/* ---- contexts ------------------------------------------------------------------------------------------------ */

/*! ptxiDevicePrimaryCtxRetain() :
 *  Returns the device's primary context, which all parts of a program share, and creates it if it does not exist. Does
 *  not make it current. Each Retain needs a Release. If another thread is destroying the context, the call waits for
 *  the end.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuDevicePrimaryCtxRetain. */
PTXI_API ptxiResult ptxiDevicePrimaryCtxRetain(ptxiContext *pctx, ptxiDevice dev);

/*! ptxiDevicePrimaryCtxRelease() :
 *  Ends one Retain. The last Release destroys the contents of the primary context, as ptxiCtxDestroy does. The handle
 *  becomes valid again with the next Retain.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_CONTEXT for a Release without a Retain.
 *  Source: cuDevicePrimaryCtxRelease. */
PTXI_API ptxiResult ptxiDevicePrimaryCtxRelease(ptxiDevice dev);

/*! ptxiDevicePrimaryCtxReset() :
 *  Destroys the contents of the primary context at once, regardless of the number of Retains, which becomes 0. The
 *  handle becomes valid again with the next Retain. Does nothing if the context does not exist.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuDevicePrimaryCtxReset. */
PTXI_API ptxiResult ptxiDevicePrimaryCtxReset(ptxiDevice dev);

/*! ptxiDevicePrimaryCtxSetFlags() :
 *  Sets the flags of the primary context, whether or not it exists now.
 * `flags` as for ptxiCtxCreate.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_VALUE for unknown flags.
 *  Source: cuDevicePrimaryCtxSetFlags. */
PTXI_API ptxiResult ptxiDevicePrimaryCtxSetFlags(ptxiDevice dev, unsigned flags);

/*! ptxiDevicePrimaryCtxGetState() :
 *  Returns the flags of the primary context, and in `*active` whether it exists now (1) or not (0).
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuDevicePrimaryCtxGetState. */
PTXI_API ptxiResult ptxiDevicePrimaryCtxGetState(ptxiDevice dev, unsigned *flags, int *active);

/*! ptxiCtxCreate() :
 *  Creates a context and pushes it on the calling thread's stack of contexts, so that it is current. The context keeps
 *  the device profile that is set at this time. The caller owns it and ends it with ptxiCtxDestroy.
 * `flags` PTXI_CTX_..., with at most one of the SCHED flags. They have no effect.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for unknown flags, PTXI_ERROR_INVALID_DEVICE, or
 *         PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuCtxCreate. */
PTXI_API ptxiResult ptxiCtxCreate(ptxiContext *pctx, unsigned flags, ptxiDevice dev);

/*! ptxiCtxDestroy() :
 *  Destroys a context with its modules, memory, streams, events, arrays, textures and surfaces. First it refuses new
 *  calls, and waits for calls of other threads in the context and for the context's work. ptxiCtxInterrupt from another
 *  thread ends kernels that it waits for. If the context is current to the calling thread, it is popped. In other
 *  threads it remains current, and calls there fail.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for NULL, or PTXI_ERROR_INVALID_CONTEXT if the context has been
 *         destroyed or is the primary context.
 *  Source: cuCtxDestroy. */
PTXI_API ptxiResult ptxiCtxDestroy(ptxiContext ctx);

/*! ptxiCtxSetCurrent() :
 *  Replaces the top of the calling thread's stack of contexts, which is the current context.
 * `ctx` NULL: the top is popped, and the context below becomes current.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT if `ctx` is not a valid context.
 *  Source: cuCtxSetCurrent. */
PTXI_API ptxiResult ptxiCtxSetCurrent(ptxiContext ctx);

/*! ptxiCtxGetCurrent() : Returns the calling thread's current context, or NULL if there is none.
 *  Source: cuCtxGetCurrent. */
PTXI_API ptxiResult ptxiCtxGetCurrent(ptxiContext *pctx);

/*! ptxiCtxPushCurrent() :
 *  Pushes a context on the calling thread's stack of contexts, so that it becomes current.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for NULL, or PTXI_ERROR_INVALID_CONTEXT if `ctx` is not a valid
 *         context.
 *  Source: cuCtxPushCurrent. */
PTXI_API ptxiResult ptxiCtxPushCurrent(ptxiContext ctx);

/*! ptxiCtxPopCurrent() :
 *  Pops the current context from the calling thread's stack. The context below, if any, becomes current.
 * `pctx` output: the context that was popped; may be NULL.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT if the stack is empty.
 *  Source: cuCtxPopCurrent. */
PTXI_API ptxiResult ptxiCtxPopCurrent(ptxiContext *pctx);

/*! ptxiCtxGetDevice() : Returns the device of the current context. Source: cuCtxGetDevice. */
PTXI_API ptxiResult ptxiCtxGetDevice(ptxiDevice *device);

/*! ptxiCtxGetFlags() : Returns the flags that the current context was created with. Source: cuCtxGetFlags. */
PTXI_API ptxiResult ptxiCtxGetFlags(unsigned *flags);

/*! ptxiCtxGetApiVersion() :
 *  Returns the API version of a context, which is PTXI_DRIVER_VERSION.
 * `ctx` NULL: the current context.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT.
 *  Source: cuCtxGetApiVersion. */
PTXI_API ptxiResult ptxiCtxGetApiVersion(ptxiContext ctx, unsigned *version);

/*! ptxiCtxGetId() :
 *  Returns a number that no other context of the process has or had.
 * `ctx` NULL: the current context.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT.
 *  Source: cuCtxGetId. */
PTXI_API ptxiResult ptxiCtxGetId(ptxiContext ctx, unsigned long long *ctxId);

/*! ptxiCtxEnablePeerAccess() :
 *  Lets kernels of the current context access the memory of another device, which `peerContext` names. Until then, such
 *  an access fails with PTXI_ERROR_ILLEGAL_ADDRESS. Contexts of one device can always access each other's memory. All
 *  devices can access managed memory, host memory that is allocated or registered, and ranges of ptxiMemOpenRange;
 *  ptxiMemPoolSetAccess decides about memory of pools. Copies that calls request need no permission. Peer access ends
 *  with either context.
 * `Flags` 0.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_CONTEXT             peerContext is not a valid context
 *         PTXI_ERROR_INVALID_VALUE               Flags is not 0
 *         PTXI_ERROR_PEER_ACCESS_UNSUPPORTED     both contexts belong to the same device
 *         PTXI_ERROR_PEER_ACCESS_ALREADY_ENABLED
 *  Source: cuCtxEnablePeerAccess. */
PTXI_API ptxiResult ptxiCtxEnablePeerAccess(ptxiContext peerContext, unsigned Flags);

/*! ptxiCtxDisablePeerAccess() :
 *  Ends one ptxiCtxEnablePeerAccess of the current context. Kernels can access the memory of the other device as long
 *  as peer access to another one of its contexts is enabled.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT if `peerContext` is not a valid context, or
 *         PTXI_ERROR_PEER_ACCESS_NOT_ENABLED.
 *  Source: cuCtxDisablePeerAccess. */
PTXI_API ptxiResult ptxiCtxDisablePeerAccess(ptxiContext peerContext);

/*! ptxiCtxGetCacheConfig() :
 *  Returns the value of ptxiCtxSetCacheConfig. The first one is PTXI_FUNC_CACHE_PREFER_NONE.
 *  Source: cuCtxGetCacheConfig. */
PTXI_API ptxiResult ptxiCtxGetCacheConfig(ptxiFuncCache *pconfig);

/*! ptxiCtxSetCacheConfig() :
 *  Sets the preferred split between shared memory and L1 cache for the current context. It has no effect.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a value that is not a ptxiFuncCache.
 *  Source: cuCtxSetCacheConfig. */
PTXI_API ptxiResult ptxiCtxSetCacheConfig(ptxiFuncCache config);

/*! ptxiCtxGetSharedMemConfig() :
 *  Returns the width of the banks of shared memory, which is PTXI_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE.
 *  Source: cuCtxGetSharedMemConfig. */
PTXI_API ptxiResult ptxiCtxGetSharedMemConfig(ptxiSharedConfig *pConfig);

/*! ptxiCtxSetSharedMemConfig() :
 *  Has no effect.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a value that is not a ptxiSharedConfig.
 *  Source: cuCtxSetSharedMemConfig. */
PTXI_API ptxiResult ptxiCtxSetSharedMemConfig(ptxiSharedConfig config);

/*! ptxiCtxResetPersistingL2Cache() : Has no effect. Source: cuCtxResetPersistingL2Cache. */
PTXI_API ptxiResult ptxiCtxResetPersistingL2Cache(void);

/*! ptxiCtxSynchronize() :
 *  Waits until all work of the current context has ended. The calling thread helps to run it.
 * @return PTXI_SUCCESS, or the first failure of work that no call has returned yet (see ptxiGetLastReport).
 *  Source: cuCtxSynchronize. */
PTXI_API ptxiResult ptxiCtxSynchronize(void);

/*! ptxiCtxSetLimit() :
 *  Sets a limit of the current context for launches made later. ptxiLimit has the units and ranges.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for an unknown limit or a value out of range, or
 *         PTXI_ERROR_UNSUPPORTED_LIMIT for a limit that devices no longer have.
 *  Source: cuCtxSetLimit. */
PTXI_API ptxiResult ptxiCtxSetLimit(ptxiLimit limit, size_t value);

/*! ptxiCtxGetLimit() :
 *  Returns a limit of the current context.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for an unknown limit, or PTXI_ERROR_UNSUPPORTED_LIMIT.
 *  Source: cuCtxGetLimit. */
PTXI_API ptxiResult ptxiCtxGetLimit(size_t *pvalue, ptxiLimit limit);

/*! ptxiCtxGetStreamPriorityRange() :
 *  Returns the range of stream priorities: 0 is the least and -5 the greatest. Either pointer may be NULL.
 *  Source: cuCtxGetStreamPriorityRange. */
PTXI_API ptxiResult ptxiCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority);

/* ---- modules and functions ----------------------------------------------------------------------------------- */

/*! ptxiModuleLoad() :
 *  Loads a module from a file, as ptxiModuleLoadDataEx without options.
 * `fname` name of a file: PTX text, an image of ptxiLinkComplete, a fat binary, or an object, executable, shared
 *         library or static archive with fat binaries. All fat binaries of a file are linked into one module.
 * @return as ptxiModuleLoadDataEx, or PTXI_ERROR_FILE_NOT_FOUND if the file cannot be read.
 *  Source: cuModuleLoad. */
PTXI_API ptxiResult ptxiModuleLoad(ptxiModule *module, const char *fname);

/*! ptxiModuleLoadData() :
 *  Loads a module from memory, as ptxiModuleLoadDataEx without options.
 *  Source: cuModuleLoadData. */
PTXI_API ptxiResult ptxiModuleLoadData(ptxiModule *module, const void *image);

/*! ptxiModuleLoadDataEx() :
 *  Loads PTX from memory: parses and checks it, and allocates and initialises its variables in the current context. The
 *  caller owns the module; it ends with ptxiModuleUnload or with the context.
 * `image`        PTX text that ends with a NUL, an image of ptxiLinkComplete, a fat binary of nvcc, or a wrapper (see
 *                ptxiModuleLoadFatBinary); copied. The sizes in the header of a fat binary are trusted. It has PTX for
 *                several targets: the one that the driver would compile for the device profile is loaded, which is the
 *                newest that is not newer than the device. Architecture- and family-specific PTX is taken only for its
 *                own devices, and there before other PTX of the same number.
 * `numOptions`, `options`, `optionValues`  parallel arrays of options and values; NULL if there are none. Sizes and
 *                times are written back into optionValues. ptxiJitOption has the options.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_PTX        PTX with errors, which the logs and ptxiGetLastDiagnostic list
 *         PTXI_ERROR_INVALID_IMAGE      the image is not PTX text, or a fat binary is damaged
 *         PTXI_ERROR_NO_BINARY_FOR_GPU  the image contains only GPU code and no PTX; or the device profile could not
 *                                       run it, and PTXI_JIT_STRICT_TARGET is set
 *         PTXI_ERROR_NOT_SUPPORTED      this build cannot decompress the fat binary
 *         PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND  a symbol is undefined, and PTXI_JIT_STRICT_SYMBOLS is set
 *         PTXI_ERROR_INVALID_VALUE      an unknown option, or a value out of range
 *         PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuModuleLoadDataEx; PTX ISA, "PTX Module Directives". */
PTXI_API ptxiResult ptxiModuleLoadDataEx(ptxiModule *module, const void *image, unsigned numOptions,
                                         ptxiJitOption *options, void **optionValues);

/*! ptxiModuleLoadFatBinary() :
 *  Loads a module from a fat binary in memory, as ptxiModuleLoadData.
 * `fatCubin` a fat binary, or the wrapper of one that a program passes to __cudaRegisterFatBinary (magic number
 *            0x466243b1, struct __fatBinC_Wrapper_t in fatbinary_section.h of the CUDA toolkit). A wrapper of version 2
 *            (nvcc -rdc=true) has a NULL-terminated array of fat binaries: their PTX is linked, without that of parts
 *            that have none for the device profile, and without that of NVIDIA's device runtime (libcudadevrt).
 * @return as ptxiModuleLoadDataEx.
 *  Source: cuModuleLoadFatBinary. */
PTXI_API ptxiResult ptxiModuleLoadFatBinary(ptxiModule *module, const void *fatCubin);

/*! ptxiLinkCreate() :
 *  Begins a link of several PTX texts into one module. The caller owns the link state and ends it with ptxiLinkDestroy.
 * `options`  as for ptxiModuleLoadDataEx, for all inputs. Later calls append to the logs, so the buffers and
 *            optionValues must stay valid until ptxiLinkDestroy.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for an unknown option, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuLinkCreate. */
PTXI_API ptxiResult ptxiLinkCreate(unsigned numOptions, ptxiJitOption *options, void **optionValues,
                                   ptxiLinkState *stateOut);

/*! ptxiLinkAddData() :
 *  Adds a PTX text, an image of an earlier link, or the PTX of all fat binaries in an image. Invalid PTX is reported
 *  and not added. A symbol that one text declares .extern may be defined in another one. A symbol without a linking
 *  directive is local to its text. Of several .weak definitions the first is used, unless there is a .visible one. Of
 *  several .common definitions the largest is used.
 * `type`     PTXI_JIT_INPUT_PTX; PTXI_JIT_INPUT_CUBIN for an image of ptxiLinkComplete; PTXI_JIT_INPUT_FATBINARY,
 *            PTXI_JIT_INPUT_OBJECT or PTXI_JIT_INPUT_LIBRARY for any file with fat binaries. Of a fat binary, the PTX
 *            is taken that ptxiModuleLoadDataEx would load. Of an archive, all members are added.
 * `data`     `size` bytes, copied. Text ends at its first NUL.
 * `name`     file name for messages and reports; NULL: "<ptx>".
 * `options`  checked, without effect: the options of ptxiLinkCreate are used.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_PTX    PTX with errors, which the logs and ptxiGetLastDiagnostic list
 *         PTXI_ERROR_INVALID_IMAGE  not an image of that type, a damaged one, or a type that is not supported
 *         PTXI_ERROR_NO_BINARY_FOR_GPU, PTXI_ERROR_NOT_SUPPORTED  as ptxiModuleLoadDataEx, for fat binaries
 *         PTXI_ERROR_INVALID_VALUE  no data, an unknown type or an unknown option
 *         PTXI_ERROR_ILLEGAL_STATE  ptxiLinkComplete has already succeeded
 *         PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuLinkAddData; PTX ISA, "Linking Directives". */
PTXI_API ptxiResult ptxiLinkAddData(ptxiLinkState state, ptxiJitInputType type, void *data, size_t size,
                                    const char *name, unsigned numOptions, ptxiJitOption *options, void **optionValues);

/*! ptxiLinkAddFile() :
 *  Adds the contents of a file, as ptxiLinkAddData. The messages show `path`.
 * @return as ptxiLinkAddData, or PTXI_ERROR_FILE_NOT_FOUND if the file cannot be read.
 *  Source: cuLinkAddFile. */
PTXI_API ptxiResult ptxiLinkAddFile(ptxiLinkState state, ptxiJitInputType type, const char *path, unsigned numOptions,
                                    ptxiJitOption *options, void **optionValues);

/*! ptxiLinkComplete() :
 *  Links the inputs. Two .visible definitions of a symbol, and declarations that differ from the definition in state
 *  space, size or parameters, are errors. Without inputs the result is an empty module.
 * `cubinOut` output: the image, for ptxiModuleLoadData. It belongs to the link state. Its format may change.
 * `sizeOut`  output: size of the image in bytes, without the NUL at its end; may be NULL.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_SOURCE  the inputs contradict each other; see the logs or ptxiGetLastDiagnostic
 *         PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND  a symbol is undefined, and PTXI_JIT_STRICT_SYMBOLS is set
 *         PTXI_ERROR_ILLEGAL_STATE   ptxiLinkComplete has already succeeded
 *         PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuLinkComplete; PTX ISA, "Linking Directives". */
PTXI_API ptxiResult ptxiLinkComplete(ptxiLinkState state, void **cubinOut, size_t *sizeOut);

/*! ptxiLinkDestroy() : Frees a link state and its image. Source: cuLinkDestroy. */
PTXI_API ptxiResult ptxiLinkDestroy(ptxiLinkState state);

/*! ptxiModuleUnload() :
 *  Frees a module with its functions and variables. First it refuses new calls with the module, and waits for launches
 *  of its functions and for calls that use it.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_NOT_PERMITTED for a module that belongs to a library.
 *  Source: cuModuleUnload. */
PTXI_API ptxiResult ptxiModuleUnload(ptxiModule hmod);

/*! ptxiModuleGetFunction() :
 *  Returns the kernel with this name, spelled as in PTX. It lives as long as the module.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for an empty name.
 *  Source: cuModuleGetFunction. */
PTXI_API ptxiResult ptxiModuleGetFunction(ptxiFunction *hfunc, ptxiModule hmod, const char *name);

/*! ptxiModuleGetFunctionCount() :
 *  Returns the number of kernels in a module.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuModuleGetFunctionCount. */
PTXI_API ptxiResult ptxiModuleGetFunctionCount(unsigned *count, ptxiModule mod);

/*! ptxiModuleEnumerateFunctions() :
 *  Returns the kernels of a module in the order of the text, at most `numFunctions`. If there are fewer, the rest of
 *  the array is not changed.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuModuleEnumerateFunctions. */
PTXI_API ptxiResult ptxiModuleEnumerateFunctions(ptxiFunction *functions, unsigned numFunctions, ptxiModule mod);

/*! ptxiModuleGetGlobal() :
 *  Returns the address and the size in bytes of a .global or .const variable of module scope.
 * `dptr`, `bytes` outputs; one of them may be NULL.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for an empty name
 *         or the name of a kernel.
 *  Source: cuModuleGetGlobal. */
PTXI_API ptxiResult ptxiModuleGetGlobal(ptxiDevicePtr *dptr, size_t *bytes, ptxiModule hmod, const char *name);

/*! ptxiLibraryLoadData() :
 *  Loads PTX that belongs to no context. It is checked at once, and loaded into a context when the context first uses
 *  it. Of a fat binary, the PTX for the device profile of new contexts is taken. Needs no current context. The caller
 *  owns the library and ends it with ptxiLibraryUnload.
 * `code`           as `image` of ptxiModuleLoadDataEx; copied.
 * `jitOptions`, `jitOptionsValues`, `numJitOptions`  as for ptxiModuleLoadDataEx.
 * `libraryOptions`, `libraryOptionValues`, `numLibraryOptions`  PTXI_LIBRARY_..., without effect.
 * @return as ptxiModuleLoadDataEx.
 *  Source: cuLibraryLoadData. */
PTXI_API ptxiResult ptxiLibraryLoadData(ptxiLibrary *library, const void *code, ptxiJitOption *jitOptions,
                                        void **jitOptionsValues, unsigned numJitOptions,
                                        ptxiLibraryOption *libraryOptions, void **libraryOptionValues,
                                        unsigned numLibraryOptions);

/*! ptxiLibraryLoadFromFile() :
 *  Loads a library from a file, as ptxiLibraryLoadData.
 * @return as ptxiModuleLoadDataEx, or PTXI_ERROR_FILE_NOT_FOUND if the file cannot be read.
 *  Source: cuLibraryLoadFromFile. */
PTXI_API ptxiResult ptxiLibraryLoadFromFile(ptxiLibrary *library, const char *fileName, ptxiJitOption *jitOptions,
                                            void **jitOptionsValues, unsigned numJitOptions,
                                            ptxiLibraryOption *libraryOptions, void **libraryOptionValues,
                                            unsigned numLibraryOptions);

/*! ptxiLibraryUnload() :
 *  Frees a library and its modules in all contexts. Waits for the work of these contexts that uses them.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuLibraryUnload. */
PTXI_API ptxiResult ptxiLibraryUnload(ptxiLibrary library);

/*! ptxiLibraryGetKernel() :
 *  Returns the kernel with this name, spelled as in PTX. It lives as long as the library. Cast to ptxiFunction, it can
 *  be passed to launches and occupancy calls, where it means the function of the current context.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuLibraryGetKernel. */
PTXI_API ptxiResult ptxiLibraryGetKernel(ptxiKernel *pKernel, ptxiLibrary library, const char *name);

/*! ptxiLibraryGetKernelCount() :
 *  Returns the number of kernels in a library.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuLibraryGetKernelCount. */
PTXI_API ptxiResult ptxiLibraryGetKernelCount(unsigned *count, ptxiLibrary lib);

/*! ptxiLibraryEnumerateKernels() :
 *  Returns the kernels of a library in the order of the text, at most `numKernels`. If there are fewer, the rest of the
 *  array is not changed.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuLibraryEnumerateKernels. */
PTXI_API ptxiResult ptxiLibraryEnumerateKernels(ptxiKernel *kernels, unsigned numKernels, ptxiLibrary lib);

/*! ptxiKernelGetName() :
 *  Returns the name of a library's kernel. It lives as long as the library.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for NULL.
 *  Source: cuKernelGetName. */
PTXI_API ptxiResult ptxiKernelGetName(const char **name, ptxiKernel hfunc);

/*! ptxiKernelGetLibrary() :
 *  Returns the library that a kernel belongs to.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuKernelGetLibrary. */
PTXI_API ptxiResult ptxiKernelGetLibrary(ptxiLibrary *pLib, ptxiKernel kernel);

/*! ptxiLibraryGetModule() :
 *  Returns the library's module in the current context, and loads it first if necessary. The module belongs to the
 *  library; ptxiModuleUnload refuses it.
 * @return as ptxiModuleLoadDataEx, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuLibraryGetModule. */
PTXI_API ptxiResult ptxiLibraryGetModule(ptxiModule *pMod, ptxiLibrary library);

/*! ptxiLibraryGetGlobal() :
 *  Returns the address and the size in bytes of the library's variable in the current context, as ptxiModuleGetGlobal.
 * @return as ptxiModuleGetGlobal and ptxiLibraryGetModule.
 *  Source: cuLibraryGetGlobal. */
PTXI_API ptxiResult ptxiLibraryGetGlobal(ptxiDevicePtr *dptr, size_t *bytes, ptxiLibrary library, const char *name);

/*! ptxiLibraryGetManaged() :
 *  As ptxiLibraryGetGlobal, for variables with the attribute .managed only.
 * @return as ptxiLibraryGetGlobal; PTXI_ERROR_NOT_FOUND also for a kernel and for a variable that is not managed.
 *  Source: cuLibraryGetManaged. */
PTXI_API ptxiResult ptxiLibraryGetManaged(ptxiDevicePtr *dptr, size_t *bytes, ptxiLibrary library, const char *name);

/*! ptxiKernelGetFunction() :
 *  Returns the kernel's function in the current context, and loads the library there first if necessary.
 * @return as ptxiLibraryGetModule.
 *  Source: cuKernelGetFunction. */
PTXI_API ptxiResult ptxiKernelGetFunction(ptxiFunction *pFunc, ptxiKernel kernel);

/*! ptxiKernelGetAttribute() :
 *  As ptxiFuncGetAttribute, for the kernel's function in the current context.
 * @return as ptxiFuncGetAttribute and ptxiLibraryGetModule, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuKernelGetAttribute. */
PTXI_API ptxiResult ptxiKernelGetAttribute(int *pi, ptxiFunctionAttribute attrib, ptxiKernel kernel, ptxiDevice dev);

/*! ptxiKernelSetAttribute() :
 *  As ptxiFuncSetAttribute, for the kernel's function in the current context.
 * @return as ptxiFuncSetAttribute and ptxiLibraryGetModule, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuKernelSetAttribute. */
PTXI_API ptxiResult ptxiKernelSetAttribute(ptxiFunctionAttribute attrib, int val, ptxiKernel kernel, ptxiDevice dev);

/*! ptxiKernelSetCacheConfig() :
 *  As ptxiFuncSetCacheConfig, for the kernel's function in the current context.
 * @return as ptxiFuncSetCacheConfig and ptxiLibraryGetModule, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuKernelSetCacheConfig. */
PTXI_API ptxiResult ptxiKernelSetCacheConfig(ptxiKernel kernel, ptxiFuncCache config, ptxiDevice dev);

/*! ptxiKernelGetParamInfo() :
 *  As ptxiFuncGetParamInfo, for the kernel's function in the current context.
 * @return as ptxiFuncGetParamInfo and ptxiLibraryGetModule, or PTXI_ERROR_INVALID_VALUE if `kernel` is NULL.
 *  Source: cuKernelGetParamInfo. */
PTXI_API ptxiResult ptxiKernelGetParamInfo(ptxiKernel kernel, size_t paramIndex, size_t *paramOffset,
                                           size_t *paramSize);

/*! ptxiFuncGetAttribute() :
 *  Returns an attribute of a kernel. ptxiFunctionAttribute has the units.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE   an unknown attribute
 *         PTXI_ERROR_INVALID_HANDLE  not a kernel
 *         PTXI_ERROR_NOT_SUPPORTED   the kernel is too large to be compiled, see ptxiModuleGetUnsupported
 *  Source: cuFuncGetAttribute. */
PTXI_API ptxiResult ptxiFuncGetAttribute(int *pi, ptxiFunctionAttribute attrib, ptxiFunction hfunc);

/*! ptxiFuncSetAttribute() :
 *  Sets an attribute of a kernel that ptxiFunctionAttribute marks as settable, for launches made later.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE   an unknown or read-only attribute, or a value that the device profile does not
 *                                    allow
 *         PTXI_ERROR_INVALID_HANDLE  not a kernel
 *         PTXI_ERROR_NOT_SUPPORTED   the kernel is too large to be compiled, see ptxiModuleGetUnsupported
 *  Source: cuFuncSetAttribute. */
PTXI_API ptxiResult ptxiFuncSetAttribute(ptxiFunction hfunc, ptxiFunctionAttribute attrib, int value);

/*! ptxiFuncSetCacheConfig() :
 *  Sets the preferred split between shared memory and L1 cache. The value is checked and has no effect.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for a value that is not a ptxiFuncCache.
 *  Source: cuFuncSetCacheConfig. */
PTXI_API ptxiResult ptxiFuncSetCacheConfig(ptxiFunction hfunc, ptxiFuncCache config);

/*! ptxiFuncSetSharedMemConfig() :
 *  Has no effect.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for a value that is not a
 *         ptxiSharedConfig.
 *  Source: cuFuncSetSharedMemConfig. */
PTXI_API ptxiResult ptxiFuncSetSharedMemConfig(ptxiFunction hfunc, ptxiSharedConfig config);

/*! ptxiFuncGetModule() :
 *  Returns the module that a kernel belongs to.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for NULL.
 *  Source: cuFuncGetModule. */
PTXI_API ptxiResult ptxiFuncGetModule(ptxiModule *hmod, ptxiFunction hfunc);

/*! ptxiFuncGetName() :
 *  Returns the name of a kernel. It lives as long as the module.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for NULL.
 *  Source: cuFuncGetName. */
PTXI_API ptxiResult ptxiFuncGetName(const char **name, ptxiFunction hfunc);

/*! ptxiFuncGetParamInfo() :
 *  Returns the place of a kernel's parameter in the parameter buffer.
 * `paramIndex`   from 0.
 * `paramOffset`  output: bytes from the start of the buffer.
 * `paramSize`    output: bytes; may be NULL.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE if there is no such parameter.
 *  Source: cuFuncGetParamInfo. */
PTXI_API ptxiResult ptxiFuncGetParamInfo(ptxiFunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize);

/*! ptxiOccupancyMaxActiveBlocksPerMultiprocessor() :
 *  Returns the number of blocks that a multiprocessor of the device profile can hold at once. It depends on threads,
 *  blocks and shared memory; registers are not considered.
 * `blockSize`       threads of a block.
 * `dynamicSMemSize` bytes of dynamic shared memory of a block. If they exceed the kernel's limit, the result is 0.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE if blockSize < 1.
 *  Source: cuOccupancyMaxActiveBlocksPerMultiprocessor. */
PTXI_API ptxiResult ptxiOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, ptxiFunction func, int blockSize,
                                                                  size_t dynamicSMemSize);

/*! ptxiOccupancyMaxActiveBlocksPerMultiprocessorWithFlags() :
 *  As ptxiOccupancyMaxActiveBlocksPerMultiprocessor.
 * `flags` 0 or 1, without effect.
 * @return as ptxiOccupancyMaxActiveBlocksPerMultiprocessor; PTXI_ERROR_INVALID_VALUE also for other flags.
 *  Source: cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags. */
PTXI_API ptxiResult ptxiOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, ptxiFunction func,
                                                                           int blockSize, size_t dynamicSMemSize,
                                                                           unsigned flags);

/*! ptxiOccupancyMaxPotentialBlockSize() :
 *  Returns the block size with which the most threads are resident on a multiprocessor. Of several such sizes it is the
 *  largest one.
 * `minGridSize`     output: blocks that fill the whole device.
 * `blockSize`       output: threads of a block; 0 if no block fits.
 * `blockSizeToDynamicSMemSize`  called with a block size, returns bytes of dynamic shared memory. NULL:
 *                   `dynamicSMemSize` bytes for every block size.
 * `blockSizeLimit`  largest block size; 0: the limit of the kernel.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE if blockSizeLimit < 0.
 *  Source: cuOccupancyMaxPotentialBlockSize. */
PTXI_API ptxiResult ptxiOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, ptxiFunction func,
                                                       ptxiOccupancyB2DSize blockSizeToDynamicSMemSize,
                                                       size_t dynamicSMemSize, int blockSizeLimit);

/*! ptxiOccupancyMaxPotentialBlockSizeWithFlags() :
 *  As ptxiOccupancyMaxPotentialBlockSize.
 * `flags` 0 or 1, without effect.
 * @return as ptxiOccupancyMaxPotentialBlockSize; PTXI_ERROR_INVALID_VALUE also for other flags.
 *  Source: cuOccupancyMaxPotentialBlockSizeWithFlags. */
PTXI_API ptxiResult ptxiOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, ptxiFunction func,
                                                                ptxiOccupancyB2DSize blockSizeToDynamicSMemSize,
                                                                size_t dynamicSMemSize, int blockSizeLimit,
                                                                unsigned flags);

/*! ptxiOccupancyAvailableDynamicSMemPerBlock() :
 *  Returns the bytes of dynamic shared memory that each block can have if `numBlocks` blocks are resident on a
 *  multiprocessor, limited by what the kernel may have.
 * `blockSize` threads of a block.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE, also if this number of blocks cannot be
 *         resident.
 *  Source: cuOccupancyAvailableDynamicSMemPerBlock. */
PTXI_API ptxiResult ptxiOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, ptxiFunction func, int numBlocks,
                                                              int blockSize);

/*! ptxiOccupancyMaxActiveClusters() :
 *  Returns the number of clusters of a launch that the device can hold at once; 0 if the launch has no clusters.
 * `config` as for ptxiLaunchKernelEx; the stream is ignored.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_INVALID_CLUSTER_SIZE, or PTXI_ERROR_INVALID_VALUE.
 *  Source: cuOccupancyMaxActiveClusters. */
PTXI_API ptxiResult ptxiOccupancyMaxActiveClusters(int *numClusters, ptxiFunction func, const ptxiLaunchConfig *config);

/*! ptxiOccupancyMaxPotentialClusterSize() :
 *  Returns the largest number of blocks that a cluster can have in a launch.
 * `config` as for ptxiLaunchKernelEx; the stream is ignored.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_INVALID_CLUSTER_SIZE, or PTXI_ERROR_INVALID_VALUE.
 *  Source: cuOccupancyMaxPotentialClusterSize. */
PTXI_API ptxiResult ptxiOccupancyMaxPotentialClusterSize(int *clusterSize, ptxiFunction func,
                                                         const ptxiLaunchConfig *config);

/* ---- memory -------------------------------------------------------------------------------------------------- */

/*! ptxiMemAlloc() :
 *  Allocates device memory, aligned to at least 256 bytes. It contains zeros, unless PTXI_FILL says otherwise; a
 *  program for a GPU cannot rely on that. The caller owns it; it ends with ptxiMemFree or with the context.
 * `bytesize` bytes, at least 1.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for 0 bytes, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuMemAlloc. */
PTXI_API ptxiResult ptxiMemAlloc(ptxiDevicePtr *dptr, size_t bytesize);

/*! ptxiMemAllocManaged() :
 *  As ptxiMemAlloc. Pointer attributes show the memory as managed; there is no other difference.
 * `flags` PTXI_MEM_ATTACH_GLOBAL or PTXI_MEM_ATTACH_HOST, without effect.
 * @return as ptxiMemAlloc; PTXI_ERROR_INVALID_VALUE also for other flags.
 *  Source: cuMemAllocManaged. */
PTXI_API ptxiResult ptxiMemAllocManaged(ptxiDevicePtr *dptr, size_t bytesize, unsigned flags);

/*! ptxiMemAllocPitch() :
 *  Allocates rows of device memory, as ptxiMemAlloc.
 * `pPitch`           output: bytes from one row to the next, a multiple of 512.
 * `WidthInBytes`     bytes of a row, at least 1.
 * `Height`           rows, at least 1.
 * `ElementSizeBytes` 4, 8 or 16; without effect.
 * @return as ptxiMemAlloc; PTXI_ERROR_INVALID_VALUE also for 0 rows and for another element size.
 *  Source: cuMemAllocPitch. */
PTXI_API ptxiResult ptxiMemAllocPitch(ptxiDevicePtr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                                      unsigned ElementSizeBytes);

/*! ptxiMemFree() :
 *  Waits for all work of the allocation's context, and then frees device memory. Accesses soon after that are reported
 *  as PTXI_FAULT_FREED. Also frees memory of ptxiMemAllocAsync.
 * `dptr` start of an allocation, or 0, which does nothing.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if `dptr` is not the start of an allocation of device memory.
 *  Source: cuMemFree. */
PTXI_API ptxiResult ptxiMemFree(ptxiDevicePtr dptr);

/*! ptxiMemAllocHost() :
 *  Allocates host memory, as ptxiMemHostAlloc without flags. Source: cuMemAllocHost. */
PTXI_API ptxiResult ptxiMemAllocHost(void **pp, size_t bytesize);

/*! ptxiMemHostAlloc() :
 *  Allocates host memory that kernels can use at the same address. The caller owns it; it ends with ptxiMemFreeHost or
 *  with the context.
 * `pp`       output: the address; NULL for 0 bytes.
 * `Flags`    PTXI_MEMHOSTALLOC_..., without effect.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for unknown flags, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuMemHostAlloc. */
PTXI_API ptxiResult ptxiMemHostAlloc(void **pp, size_t bytesize, unsigned Flags);

/*! ptxiMemFreeHost() :
 *  Waits for all work of the allocation's context, and then frees memory of ptxiMemHostAlloc.
 * `p` start of an allocation, or NULL, which does nothing.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if `p` is not the start of such an allocation.
 *  Source: cuMemFreeHost. */
PTXI_API ptxiResult ptxiMemFreeHost(void *p);

/*! ptxiMemHostRegister() :
 *  Lets kernels use memory of the caller, at the same address. The caller still owns the memory, and must unregister it
 *  before freeing it.
 * `Flags` PTXI_MEMHOSTREGISTER_... With READ_ONLY, writes of kernels fail, and calls that would write there return
 *         PTXI_ERROR_INVALID_VALUE. The other flags have no effect.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE  an empty range, unknown flags, addresses that the process has not mapped, or a
 *                                   range that overlaps other memory known to the device
 *         PTXI_ERROR_HOST_MEMORY_ALREADY_REGISTERED  the range overlaps registered memory
 *         PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuMemHostRegister. */
PTXI_API ptxiResult ptxiMemHostRegister(void *p, size_t bytesize, unsigned Flags);

/*! ptxiMemHostUnregister() :
 *  Ends a registration. Waits for the work of the context in which the memory was registered, and until no other
 *  kernel, copy or stream is accessing the memory. The caller may then free it. Later accesses fail, also those of work
 *  that was queued before. The call does not wait for two kinds of users, which must have ended: a host function with a
 *  pointer from ptxiHostGetPointer, and a kernel of another context that runs without checks (ptxiCtxSetChecking).
 * `p` start of the registered range.
 * @return PTXI_SUCCESS, PTXI_ERROR_HOST_MEMORY_NOT_REGISTERED if the device does not know the memory, or
 *         PTXI_ERROR_INVALID_VALUE for NULL and for memory that is not the start of a registration.
 *  Source: cuMemHostUnregister. */
PTXI_API ptxiResult ptxiMemHostUnregister(void *p);

/*! ptxiMemHostGetDevicePointer() :
 *  Returns the address that kernels use for allocated or registered host memory, which is the same address.
 * `Flags` 0.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for memory that is neither allocated nor registered.
 *  Source: cuMemHostGetDevicePointer. */
PTXI_API ptxiResult ptxiMemHostGetDevicePointer(ptxiDevicePtr *pdptr, void *p, unsigned Flags);

/*! ptxiMemHostGetFlags() :
 *  Returns the flags with which host memory was allocated or registered. PTXI_MEMHOSTALLOC_DEVICEMAP is always set for
 *  allocated memory.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for memory that is neither allocated nor registered.
 *  Source: cuMemHostGetFlags. */
PTXI_API ptxiResult ptxiMemHostGetFlags(unsigned *pFlags, void *p);

/*! ptxiMemGetInfo() :
 *  Returns the bytes that can still be allocated, and those of ptxiDeviceTotalMem. The parameter is not called `free`
 *  as in the driver, because C has a function of that name. Source: cuMemGetInfo. */
PTXI_API ptxiResult ptxiMemGetInfo(size_t *freeBytes, size_t *total);

/*! ptxiMemGetAddressRange() :
 *  Returns the start and the size in bytes of the allocation that contains an address. Either output may be NULL.
 * @return PTXI_SUCCESS, or PTXI_ERROR_NOT_FOUND.
 *  Source: cuMemGetAddressRange. */
PTXI_API ptxiResult ptxiMemGetAddressRange(ptxiDevicePtr *pbase, size_t *psize, ptxiDevicePtr dptr);

/*! ptxiPointerGetAttribute() :
 *  Returns an attribute of the memory at an address.
 * `data` output: a value of the type that ptxiPointerAttribute gives.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for an unknown attribute, for memory that the device does not know,
 *         and for PTXI_POINTER_ATTRIBUTE_HOST_POINTER of device memory.
 *  Source: cuPointerGetAttribute. */
PTXI_API ptxiResult ptxiPointerGetAttribute(void *data, ptxiPointerAttribute attribute, ptxiDevicePtr ptr);

/*! ptxiPointerGetAttributes() :
 *  Returns several attributes of the memory at an address. For memory that the device does not know, DEVICE_ORDINAL is
 *  -2, RANGE_SIZE is not written, and the others are 0.
 * `data` `numAttributes` outputs, each of the type that ptxiPointerAttribute gives.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for no attributes, an unknown attribute, or a NULL pointer;
 *         attributes before it have been written.
 *  Source: cuPointerGetAttributes. */
PTXI_API ptxiResult ptxiPointerGetAttributes(unsigned numAttributes, ptxiPointerAttribute *attributes, void **data,
                                             ptxiDevicePtr ptr);

/*! ptxiPointerSetAttribute() :
 *  Sets PTXI_POINTER_ATTRIBUTE_SYNC_MEMOPS, the only settable attribute. It has no effect.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for another attribute or memory that the device does not know.
 *  Source: cuPointerSetAttribute. */
PTXI_API ptxiResult ptxiPointerSetAttribute(const void *value, ptxiPointerAttribute attribute, ptxiDevicePtr ptr);

/*! ptxiMemAllocAsync() :
 *  Allocates device memory from the device's current pool. The address can be used at once. Otherwise as ptxiMemAlloc;
 *  either of ptxiMemFree and ptxiMemFreeAsync frees it. In a stream under capture the call adds a node that allocates
 *  memory (ptxiGraphAddMemAllocNode).
 * `dptr`     output: the address; 0 for 0 bytes and after PTXI_ERROR_OUT_OF_MEMORY.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_OUT_OF_MEMORY  too little memory, or the pool's maxSize would be exceeded
 *         PTXI_ERROR_INVALID_HANDLE
 *  Source: cuMemAllocAsync. */
PTXI_API ptxiResult ptxiMemAllocAsync(ptxiDevicePtr *dptr, size_t bytesize, ptxiStream hStream);

/*! ptxiMemAllocFromPoolAsync() :
 *  As ptxiMemAllocAsync, from the given pool.
 * @return as ptxiMemAllocAsync, or PTXI_ERROR_INVALID_VALUE if `pool` is not a pool, or is imported.
 *  Source: cuMemAllocFromPoolAsync. */
PTXI_API ptxiResult ptxiMemAllocFromPoolAsync(ptxiDevicePtr *dptr, size_t bytesize, ptxiMemoryPool pool,
                                              ptxiStream hStream);

/*! ptxiMemFreeAsync() :
 *  Frees device memory when the stream reaches this point, without waiting. For calls made after this one the memory is
 *  no longer allocated. In a stream under capture the call adds a node that frees memory (ptxiGraphAddMemFreeNode).
 * `dptr` start of an allocation of device memory, or 0, which does nothing.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE  not the start of an allocation, or already being freed; in a stream under capture:
 *                                   not the memory of a graph
 *         PTXI_ERROR_NOT_SUPPORTED  managed memory
 *         PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuMemFreeAsync. */
PTXI_API ptxiResult ptxiMemFreeAsync(ptxiDevicePtr dptr, ptxiStream hStream);

/*! ptxiMemPoolCreate() :
 *  Creates a pool. A pool counts the memory that is allocated from it until it is freed, and may limit it. It keeps no
 *  freed memory. Needs no current context. The caller owns the pool and ends it with ptxiMemPoolDestroy. Devices cannot
 *  access memory of a pool of the host until ptxiMemPoolSetAccess permits it.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE  invalid properties; handleTypes for memory that is not that of a device
 *         PTXI_ERROR_NOT_SUPPORTED  PTXI_MEM_HANDLE_TYPE_FABRIC
 *         PTXI_ERROR_OUT_OF_MEMORY  also if maxSize is more than the device has, or too many files are open
 *  Source: cuMemPoolCreate. */
PTXI_API ptxiResult ptxiMemPoolCreate(ptxiMemoryPool *pool, const ptxiMemPoolProps *poolProps);

/*! ptxiMemPoolDestroy() :
 *  Ends a pool. Its memory stays valid until it is freed. If the pool is the device's current pool, the default pool
 *  becomes current.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if `pool` is not a pool or is the default pool.
 *  Source: cuMemPoolDestroy. */
PTXI_API ptxiResult ptxiMemPoolDestroy(ptxiMemoryPool pool);

/*! ptxiDeviceGetDefaultMemPool() :
 *  Returns the device's own pool, which always exists.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuDeviceGetDefaultMemPool. */
PTXI_API ptxiResult ptxiDeviceGetDefaultMemPool(ptxiMemoryPool *pool_out, ptxiDevice dev);

/*! ptxiDeviceGetMemPool() :
 *  Returns the device's current pool, from which ptxiMemAllocAsync allocates. At the start it is the default pool.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuDeviceGetMemPool. */
PTXI_API ptxiResult ptxiDeviceGetMemPool(ptxiMemoryPool *pool, ptxiDevice dev);

/*! ptxiDeviceSetMemPool() :
 *  Makes a pool the device's current pool.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_VALUE if `pool` is not a pool, or is imported.
 *  Source: cuDeviceSetMemPool. */
PTXI_API ptxiResult ptxiDeviceSetMemPool(ptxiDevice dev, ptxiMemoryPool pool);

/*! ptxiMemGetDefaultMemPool() :
 *  As ptxiDeviceGetDefaultMemPool, for any place.
 * `location` a device, the host, its NUMA node 0, or no place for managed memory.
 * `type`     PTXI_MEM_ALLOCATION_TYPE_PINNED or MANAGED.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for an invalid location or type, or PTXI_ERROR_NOT_SUPPORTED for an
 *         unknown type of location.
 *  Source: cuMemGetDefaultMemPool. */
PTXI_API ptxiResult ptxiMemGetDefaultMemPool(ptxiMemoryPool *pool_out, ptxiMemLocation *location,
                                             ptxiMemAllocationType type);

/*! ptxiMemGetMemPool() :
 *  As ptxiDeviceGetMemPool, with location, type and errors of ptxiMemGetDefaultMemPool. Source: cuMemGetMemPool. */
PTXI_API ptxiResult ptxiMemGetMemPool(ptxiMemoryPool *pool, ptxiMemLocation *location, ptxiMemAllocationType type);

/*! ptxiMemSetMemPool() :
 *  As ptxiDeviceSetMemPool, for any place.
 * `location`, `type`  of ptxiMemGetDefaultMemPool.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if `pool` is not a pool for this place.
 *  Source: cuMemSetMemPool. */
PTXI_API ptxiResult ptxiMemSetMemPool(ptxiMemLocation *location, ptxiMemAllocationType type, ptxiMemoryPool pool);

/*! ptxiMemPoolTrimTo() :
 *  Does nothing, because pools keep no freed memory.
 * `minBytesToKeep` ignored.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if `pool` is not a pool.
 *  Source: cuMemPoolTrimTo. */
PTXI_API ptxiResult ptxiMemPoolTrimTo(ptxiMemoryPool pool, size_t minBytesToKeep);

/*! ptxiMemPoolGetAttribute() :
 *  Returns an attribute of a pool.
 * `value` output, of the type that ptxiMemPoolAttribute gives.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for an unknown attribute or if `pool` is not a pool.
 *  Source: cuMemPoolGetAttribute. */
PTXI_API ptxiResult ptxiMemPoolGetAttribute(ptxiMemoryPool pool, ptxiMemPoolAttribute attr, void *value);

/*! ptxiMemPoolSetAttribute() :
 *  Sets an attribute of a pool.
 * `value` input, of the type that ptxiMemPoolAttribute gives. A maximum can only be set to 0: it becomes the current
 *         amount.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for an unknown or read-only attribute or if `pool` is not a pool.
 *  Source: cuMemPoolSetAttribute. */
PTXI_API ptxiResult ptxiMemPoolSetAttribute(ptxiMemoryPool pool, ptxiMemPoolAttribute attr, void *value);

/*! ptxiMemPoolGetAccess() :
 *  Returns the access to a pool's memory: READWRITE for the place that has it and for devices that
 *  ptxiMemPoolSetAccess permits, otherwise NONE. It is always NONE for managed memory, which all may access.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for an invalid location or if `memPool` is not a pool.
 *  Source: cuMemPoolGetAccess. */
PTXI_API ptxiResult ptxiMemPoolGetAccess(ptxiMemAccessFlags *flags, ptxiMemoryPool memPool, ptxiMemLocation *location);

/*! ptxiMemPoolSetAccess() :
 *  Sets which devices may access memory of a pool, also that which it has given out. What is set for a pool of managed
 *  memory has no effect.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE   not a pool, or unknown flags
 *         PTXI_ERROR_NOT_SUPPORTED   the host, for memory of a device; no access for the host, for its own memory; or
 *                                    read-only access
 *         PTXI_ERROR_INVALID_DEVICE  an unknown device, or no access for the device that has the memory
 *  Source: cuMemPoolSetAccess. */
PTXI_API ptxiResult ptxiMemPoolSetAccess(ptxiMemoryPool pool, const ptxiMemAccessDesc *map, size_t count);

/*! ptxiMemPoolExportToShareableHandle() :
 *  Returns a file descriptor of a pool, for ptxiMemPoolImportFromShareableHandle in another process. The caller passes
 *  it on, for example through a socket, and closes it.
 * `handle_out`  output: an int.
 * `pool`        a pool that was made with PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.
 * `handleType`  PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.
 * `flags`       0.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE, or PTXI_ERROR_OUT_OF_MEMORY if the process has too many open files.
 *  Source: cuMemPoolExportToShareableHandle. */
PTXI_API ptxiResult ptxiMemPoolExportToShareableHandle(void *handle_out, ptxiMemoryPool pool,
                                                       ptxiMemAllocationHandleType handleType,
                                                       unsigned long long flags);

/*! ptxiMemPoolImportFromShareableHandle() :
 *  Returns a pool of another process, from which ptxiMemPoolImportPointer gets memory. Nothing can be allocated from
 *  it. The caller owns the pool, ends it with ptxiMemPoolDestroy, and may close the file descriptor.
 * `handle`      the file descriptor, cast to a pointer.
 * `handleType`  PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.
 * `flags`       0.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE if it is no such file descriptor, PTXI_ERROR_INVALID_DEVICE if this
 *         process does not have the pool's device, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuMemPoolImportFromShareableHandle. */
PTXI_API ptxiResult ptxiMemPoolImportFromShareableHandle(ptxiMemoryPool *pool_out, void *handle,
                                                         ptxiMemAllocationHandleType handleType,
                                                         unsigned long long flags);

/*! ptxiMemPoolExportPointer() :
 *  Returns data that describe an allocation of a pool, for ptxiMemPoolImportPointer in another process.
 * `ptr`  start of an allocation from a pool that was made with PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for another address, or PTXI_ERROR_OPERATING_SYSTEM without /proc.
 *  Source: cuMemPoolExportPointer. */
PTXI_API ptxiResult ptxiMemPoolExportPointer(ptxiMemPoolPtrExportData *shareData_out, ptxiDevicePtr ptr);

/*! ptxiMemPoolImportPointer() :
 *  Maps an allocation of another process's pool. The devices that may access it are those of this process's pool
 *  (ptxiMemPoolSetAccess). The caller frees it with ptxiMemFree or ptxiMemFreeAsync, before the other process does: if
 *  that frees it first, the memory contains zeros from then on.
 * `pool`       an imported pool.
 * `shareData`  what ptxiMemPoolExportPointer has returned for an allocation of that pool.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for other data, or if the allocation does not exist any more, or
 *         PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuMemPoolImportPointer. */
PTXI_API ptxiResult ptxiMemPoolImportPointer(ptxiDevicePtr *ptr_out, ptxiMemoryPool pool,
                                             ptxiMemPoolPtrExportData *shareData);

/*! ptxiIpcGetMemHandle() :
 *  Returns a handle of an allocation, which the program passes to ptxiIpcOpenMemHandle in another process of the same
 *  user. Further calls return the same handle. The first call moves the memory to a file, while kernels and copies of
 *  the process pause; other threads of the program must not write to it then by its host address. Allocations of less
 *  than 64 KiB are moved together with others, up to 1 MiB: as with NVIDIA's driver, kernels of the other process could
 *  only reach those by an invalid access, which is reported. The handle becomes invalid when the memory is freed and
 *  when the process ends.
 * `dptr`  any address of an allocation of ptxiMemAlloc or ptxiMemAllocPitch.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE     other memory: of the host, of a pool, of a module, managed, mapped, imported
 *         PTXI_ERROR_OUT_OF_MEMORY     also if the process has too many open files
 *         PTXI_ERROR_OPERATING_SYSTEM  the system has no /proc
 *  Source: cuIpcGetMemHandle. */
PTXI_API ptxiResult ptxiIpcGetMemHandle(ptxiIpcMemHandle *pHandle, ptxiDevicePtr dptr);

/*! ptxiIpcOpenMemHandle() :
 *  Maps an allocation of another process. If the current context has opened it already, returns the same address again.
 *  The caller ends each successful call with ptxiIpcCloseMemHandle; ptxiMemFree does not accept the address. The memory
 *  stays valid when the other process frees it or ends. If it is less than 64 KiB, later allocations of the other
 *  process may then use it, so it should be closed first. Kernels of the context's device and of that of the allocation
 *  may access it.
 * `pdptr`  output: start of the allocation.
 * `Flags`  PTXI_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE    not a handle of memory, or of memory that has been freed
 *         PTXI_ERROR_INVALID_HANDLE   its process has ended, or may not be accessed
 *         PTXI_ERROR_INVALID_CONTEXT  a handle of this process
 *         PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuIpcOpenMemHandle. */
PTXI_API ptxiResult ptxiIpcOpenMemHandle(ptxiDevicePtr *pdptr, ptxiIpcMemHandle handle, unsigned Flags);

/*! ptxiIpcCloseMemHandle() :
 *  Ends one ptxiIpcOpenMemHandle. The last one waits for the work of its context and ends the mapping.
 * `dptr`  the address that ptxiIpcOpenMemHandle has returned.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for another address.
 *  Source: cuIpcCloseMemHandle. */
PTXI_API ptxiResult ptxiIpcCloseMemHandle(ptxiDevicePtr dptr);

/*! ptxiMemAddressReserve() :
 *  Reserves addresses, to which ptxiMemMap maps memory. Needs no current context, as all calls up to ptxiMemUnmap. The
 *  caller ends the reservation with ptxiMemAddressFree.
 * `size`       bytes, a multiple of 2 MiB.
 * `alignment`  a power of 2, or 0; at least 2 MiB is used.
 * `addr`       the address, if it is possible; 0: any.
 * `flags`      0.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuMemAddressReserve. */
PTXI_API ptxiResult ptxiMemAddressReserve(ptxiDevicePtr *ptr, size_t size, size_t alignment, ptxiDevicePtr addr,
                                          unsigned long long flags);

/*! ptxiMemAddressFree() :
 *  Ends a reservation.
 * `ptr`, `size`  as reserved.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for another range, and if memory is mapped there.
 *  Source: cuMemAddressFree. */
PTXI_API ptxiResult ptxiMemAddressFree(ptxiDevicePtr ptr, size_t size);

/*! ptxiMemGetAllocationGranularity() :
 *  Returns the number of bytes of which sizes and addresses must be multiples: 2 MiB.
 * `prop`  not NULL; ignored.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for an unknown option.
 *  Source: cuMemGetAllocationGranularity. */
PTXI_API ptxiResult ptxiMemGetAllocationGranularity(size_t *granularity, const ptxiMemAllocationProp *prop,
                                                    ptxiMemAllocationGranularityFlags option);

/*! ptxiMemCreate() :
 *  Allocates memory without an address. It contains zeros. The caller ends the handle with ptxiMemRelease.
 * `size`   bytes, a multiple of the granularity.
 * `flags`  0.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE  an invalid size, unknown properties or flags
 *         PTXI_ERROR_INVALID_DEVICE
 *         PTXI_ERROR_NOT_SUPPORTED  memory of the host, and PTXI_MEM_HANDLE_TYPE_FABRIC
 *         PTXI_ERROR_OUT_OF_MEMORY  also if the process has too many open files
 *  Source: cuMemCreate. */
PTXI_API ptxiResult ptxiMemCreate(ptxiMemGenericAllocationHandle *handle, size_t size,
                                  const ptxiMemAllocationProp *prop, unsigned long long flags);

/*! ptxiMemRelease() :
 *  Ends a handle. The memory is freed when it is also mapped nowhere, and no process has it or its file descriptor.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if `handle` is not valid.
 *  Source: cuMemRelease. */
PTXI_API ptxiResult ptxiMemRelease(ptxiMemGenericAllocationHandle handle);

/*! ptxiMemMap() :
 *  Maps memory to reserved addresses. Nothing may access it before ptxiMemSetAccess.
 * `ptr`, `size`  a range within one reservation, where nothing is mapped; multiples of the granularity.
 * `offset`       0.
 * `flags`        0.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for an invalid range or handle, PTXI_ERROR_NOT_SUPPORTED for another
 *         offset or more bytes than the memory has, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuMemMap. */
PTXI_API ptxiResult ptxiMemMap(ptxiDevicePtr ptr, size_t size, size_t offset, ptxiMemGenericAllocationHandle handle,
                               unsigned long long flags);

/*! ptxiMemUnmap() :
 *  Ends mappings. Waits until no kernel, copy or stream is accessing the memory, except for a kernel that runs without
 *  checks (ptxiCtxSetChecking). Later accesses fail, also those of work that was queued before.
 * `ptr`, `size`  a range within one reservation with at least one mapping, and without parts of mappings.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for another range.
 *  Source: cuMemUnmap. */
PTXI_API ptxiResult ptxiMemUnmap(ptxiDevicePtr ptr, size_t size);

/*! ptxiMemSetAccess() :
 *  Sets the access that devices have to mapped memory. If no device has more than PTXI_MEM_ACCESS_FLAGS_PROT_READ,
 *  writes of kernels fail, and calls that would write there return PTXI_ERROR_INVALID_VALUE. If one device may write,
 *  all devices that may read may write.
 * `ptr`, `size`  a range that consists of whole mappings.
 * `desc`         `count` descriptions, of which the last one for a device counts.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE   another range, no descriptions, or unknown flags, locations or devices
 *         PTXI_ERROR_NOT_SUPPORTED   access of the host
 *         PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuMemSetAccess. */
PTXI_API ptxiResult ptxiMemSetAccess(ptxiDevicePtr ptr, size_t size, const ptxiMemAccessDesc *desc, size_t count);

/*! ptxiMemGetAccess() :
 *  Returns the access that a location has to mapped memory: PTXI_MEM_ACCESS_FLAGS_PROT_...; NONE for the host.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for an unknown location and if nothing is mapped at `ptr`, or
 *         PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuMemGetAccess. */
PTXI_API ptxiResult ptxiMemGetAccess(unsigned long long *flags, const ptxiMemLocation *location, ptxiDevicePtr ptr);

/*! ptxiMemGetAllocationPropertiesFromHandle() :
 *  Returns the properties of memory without an address.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if `handle` is not valid.
 *  Source: cuMemGetAllocationPropertiesFromHandle. */
PTXI_API ptxiResult ptxiMemGetAllocationPropertiesFromHandle(ptxiMemAllocationProp *prop,
                                                             ptxiMemGenericAllocationHandle handle);

/*! ptxiMemRetainAllocationHandle() :
 *  Returns the handle of mapped memory, which the caller ends with one more ptxiMemRelease.
 * `addr`  any address of a mapping.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE if nothing is mapped there, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuMemRetainAllocationHandle. */
PTXI_API ptxiResult ptxiMemRetainAllocationHandle(ptxiMemGenericAllocationHandle *handle, void *addr);

/*! ptxiMemExportToShareableHandle() :
 *  Returns a file descriptor of the memory, for ptxiMemImportFromShareableHandle in this or another process. The caller
 *  closes it.
 * `shareableHandle`  output: an int.
 * `handleType`       PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, which the properties must include.
 * `flags`            0.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE, or PTXI_ERROR_OUT_OF_MEMORY if the process has too many open files.
 *  Source: cuMemExportToShareableHandle. */
PTXI_API ptxiResult ptxiMemExportToShareableHandle(void *shareableHandle, ptxiMemGenericAllocationHandle handle,
                                                   ptxiMemAllocationHandleType handleType, unsigned long long flags);

/*! ptxiMemImportFromShareableHandle() :
 *  Returns a handle of memory that another call has exported. The caller ends it with ptxiMemRelease, and may close the
 *  file descriptor.
 * `osHandle`      the file descriptor, cast to a pointer.
 * `shHandleType`  PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE if it is no such file descriptor, PTXI_ERROR_NOT_SUPPORTED for other
 *         types of handles, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuMemImportFromShareableHandle. */
PTXI_API ptxiResult ptxiMemImportFromShareableHandle(ptxiMemGenericAllocationHandle *handle, void *osHandle,
                                                     ptxiMemAllocationHandleType shHandleType);

/*! ptxiMemcpy() :
 *  Copies bytes within the memory of the device and the host. Waits for earlier work of the legacy default stream and
 *  for the copy.
 * `dst`, `src` device or host addresses.
 * `ByteCount`  0 does nothing.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE if a range of device memory is not within one allocation or may not be
 *         written, or an earlier failure of the stream.
 *  Source: cuMemcpy. */
PTXI_API ptxiResult ptxiMemcpy(ptxiDevicePtr dst, ptxiDevicePtr src, size_t ByteCount);

/*! ptxiMemcpyHtoD() :
 *  As ptxiMemcpy, from the host to the device.
 * `dstDevice` device memory, or allocated or registered host memory.
 *  Source: cuMemcpyHtoD. */
PTXI_API ptxiResult ptxiMemcpyHtoD(ptxiDevicePtr dstDevice, const void *srcHost, size_t ByteCount);

/*! ptxiMemcpyDtoH() :
 *  As ptxiMemcpy, from the device to the host.
 * `srcDevice` device memory, or allocated or registered host memory.
 *  Source: cuMemcpyDtoH. */
PTXI_API ptxiResult ptxiMemcpyDtoH(void *dstHost, ptxiDevicePtr srcDevice, size_t ByteCount);

/*! ptxiMemcpyDtoD() : As ptxiMemcpy, within device memory, or allocated or registered host memory.
 *  Source: cuMemcpyDtoD. */
PTXI_API ptxiResult ptxiMemcpyDtoD(ptxiDevicePtr dstDevice, ptxiDevicePtr srcDevice, size_t ByteCount);

/*! ptxiMemcpyAsync() :
 *  As ptxiMemcpy, queued in a stream. Returns before the copy is done if all memory is device memory, or allocated or
 *  registered host memory. Other host memory can be reused when the call returns.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE as for ptxiMemcpy, PTXI_ERROR_INVALID_HANDLE for an invalid stream, or
 *         PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuMemcpyAsync. */
PTXI_API ptxiResult ptxiMemcpyAsync(ptxiDevicePtr dst, ptxiDevicePtr src, size_t ByteCount, ptxiStream hStream);

/*! ptxiMemcpyHtoDAsync() :
 *  As ptxiMemcpyHtoD, queued in a stream. If `srcHost` is allocated or registered host memory, it must stay unchanged
 *  until the copy is done. Other host memory can be reused when the call returns.
 * @return as ptxiMemcpyAsync.
 *  Source: cuMemcpyHtoDAsync. */
PTXI_API ptxiResult ptxiMemcpyHtoDAsync(ptxiDevicePtr dstDevice, const void *srcHost, size_t ByteCount,
                                        ptxiStream hStream);

/*! ptxiMemcpyDtoHAsync() :
 *  As ptxiMemcpyDtoH, queued in a stream. If `dstHost` is allocated or registered host memory, it must stay valid until
 *  the copy is done. For other host memory the call waits for the copy.
 * @return as ptxiMemcpyAsync.
 *  Source: cuMemcpyDtoHAsync. */
PTXI_API ptxiResult ptxiMemcpyDtoHAsync(void *dstHost, ptxiDevicePtr srcDevice, size_t ByteCount, ptxiStream hStream);

/*! ptxiMemcpyDtoDAsync() :
 *  As ptxiMemcpyDtoD, queued in a stream. Returns before the copy is done.
 * @return as ptxiMemcpyAsync.
 *  Source: cuMemcpyDtoDAsync. */
PTXI_API ptxiResult ptxiMemcpyDtoDAsync(ptxiDevicePtr dstDevice, ptxiDevicePtr srcDevice, size_t ByteCount,
                                        ptxiStream hStream);

/*! ptxiMemcpy2D() :
 *  Copies a rectangle of bytes, which PTXI_MEMCPY2D describes. Waits as ptxiMemcpy does. A rectangle without bytes does
 *  nothing.
 * @return as ptxiMemcpy; PTXI_ERROR_INVALID_VALUE also for a pitch that is less than XInBytes + WidthInBytes, an
 *         unknown memory type, or a rectangle that is not inside its array; PTXI_ERROR_INVALID_HANDLE for an invalid
 *         array.
 *  Source: cuMemcpy2D. */
PTXI_API ptxiResult ptxiMemcpy2D(const PTXI_MEMCPY2D *pCopy);

/*! ptxiMemcpy2DUnaligned() : As ptxiMemcpy2D, which has no requirements of alignment. Source: cuMemcpy2DUnaligned. */
PTXI_API ptxiResult ptxiMemcpy2DUnaligned(const PTXI_MEMCPY2D *pCopy);

/*! ptxiMemcpy2DAsync() :
 *  As ptxiMemcpy2D, queued in a stream, with the rules for host memory of ptxiMemcpyAsync. `*pCopy` is read before the
 *  call returns.
 * @return as ptxiMemcpy2D and ptxiMemcpyAsync.
 *  Source: cuMemcpy2DAsync. */
PTXI_API ptxiResult ptxiMemcpy2DAsync(const PTXI_MEMCPY2D *pCopy, ptxiStream hStream);

/*! ptxiMemcpy3D() :
 *  Copies a box of bytes, which PTXI_MEMCPY3D describes. Waits as ptxiMemcpy does. A box without bytes does nothing.
 * @return as ptxiMemcpy2D; PTXI_ERROR_INVALID_VALUE also for a LOD of an array that is not 0, and for srcHeight or
 *         dstHeight less than Height.
 *  Source: cuMemcpy3D. */
PTXI_API ptxiResult ptxiMemcpy3D(const PTXI_MEMCPY3D *pCopy);

/*! ptxiMemcpy3DAsync() :
 *  As ptxiMemcpy3D, queued in a stream, with the rules for host memory of ptxiMemcpyAsync. `*pCopy` is read before the
 *  call returns.
 * @return as ptxiMemcpy3D and ptxiMemcpyAsync.
 *  Source: cuMemcpy3DAsync. */
PTXI_API ptxiResult ptxiMemcpy3DAsync(const PTXI_MEMCPY3D *pCopy, ptxiStream hStream);

/*! ptxiMemcpyPeer() :
 *  As ptxiMemcpyDtoD, from memory of one context to memory of another one. It first waits for the work of both. The
 *  addresses alone select the memory, so peer access is not needed, and ptxiMemcpy copies between contexts, too.
 * `dstContext`, `srcContext` NULL: the current context.
 * @return as ptxiMemcpy, or PTXI_ERROR_INVALID_CONTEXT if a context is not valid.
 *  Source: cuMemcpyPeer. */
PTXI_API ptxiResult ptxiMemcpyPeer(ptxiDevicePtr dstDevice, ptxiContext dstContext, ptxiDevicePtr srcDevice,
                                   ptxiContext srcContext, size_t ByteCount);

/*! ptxiMemcpyPeerAsync() :
 *  As ptxiMemcpyPeer, queued in a stream. Only the order of the stream applies.
 * @return as ptxiMemcpyPeer and ptxiMemcpyAsync.
 *  Source: cuMemcpyPeerAsync. */
PTXI_API ptxiResult ptxiMemcpyPeerAsync(ptxiDevicePtr dstDevice, ptxiContext dstContext, ptxiDevicePtr srcDevice,
                                        ptxiContext srcContext, size_t ByteCount, ptxiStream hStream);

/*! ptxiMemcpy3DPeer() :
 *  As ptxiMemcpy3D, between contexts, with the rules of ptxiMemcpyPeer.
 * @return as ptxiMemcpy3D and ptxiMemcpyPeer.
 *  Source: cuMemcpy3DPeer. */
PTXI_API ptxiResult ptxiMemcpy3DPeer(const PTXI_MEMCPY3D_PEER *pCopy);

/*! ptxiMemcpy3DPeerAsync() :
 *  As ptxiMemcpy3DPeer, queued in a stream. Only the order of the stream applies.
 * @return as ptxiMemcpy3DPeer and ptxiMemcpyAsync.
 *  Source: cuMemcpy3DPeerAsync. */
PTXI_API ptxiResult ptxiMemcpy3DPeerAsync(const PTXI_MEMCPY3D_PEER *pCopy, ptxiStream hStream);

/*! ptxiMemcpyBatchAsync() :
 *  Queues several copies of bytes in a stream, as ptxiMemcpyAsync, in any order. The calls of a batch exist for the
 *  driver's programs; they are not faster than single copies.
 * `dsts`, `srcs`, `sizes`  `count` addresses, device or host, and bytes.
 * `attrs`, `attrsIdxs`     `numAttrs` attributes, and the index of the first copy of each; the first index is 0, and
 *                          they increase.
 * `hStream`                not the legacy default stream.
 * @return as ptxiMemcpyAsync; PTXI_ERROR_INVALID_VALUE also for an empty batch, invalid attributes or indices, and the
 *         legacy default stream. Copies before the error stay queued.
 *  Source: cuMemcpyBatchAsync. */
PTXI_API ptxiResult ptxiMemcpyBatchAsync(ptxiDevicePtr *dsts, ptxiDevicePtr *srcs, size_t *sizes, size_t count,
                                         ptxiMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                         ptxiStream hStream);

/*! ptxiMemcpy3DBatchAsync() :
 *  Queues several copies of boxes in a stream, as ptxiMemcpy3DAsync, in any order.
 * `opList`   `numOps` copies.
 * `flags`    0.
 * `hStream`  not the legacy default stream.
 * @return as ptxiMemcpy3DAsync; PTXI_ERROR_INVALID_VALUE also for an empty batch, invalid operands or flags, and the
 *         legacy default stream. Copies before the error stay queued.
 *  Source: cuMemcpy3DBatchAsync. */
PTXI_API ptxiResult ptxiMemcpy3DBatchAsync(size_t numOps, PTXI_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                           ptxiStream hStream);

/*! ptxiMemPrefetchAsync() :
 *  Stores the location for PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, and does nothing else: device and host use
 *  the same memory.
 * `devPtr`, `count`  a range within one allocation of managed memory, not empty.
 * `location`         the device or the host, or a NUMA node of the host.
 * `flags`            0.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE   another range, location or flags
 *         PTXI_ERROR_INVALID_DEVICE
 *         PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED  the stream is being captured
 *         PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuMemPrefetchAsync. */
PTXI_API ptxiResult ptxiMemPrefetchAsync(ptxiDevicePtr devPtr, size_t count, ptxiMemLocation location, unsigned flags,
                                         ptxiStream hStream);

/*! ptxiMemPrefetchBatchAsync() :
 *  The same for several ranges.
 * `dptrs`, `sizes`                    `count` ranges.
 * `prefetchLocs`, `prefetchLocIdxs`   `numPrefetchLocs` locations, and the index of the first range of each; the first
 *                                     index is 0, and they increase.
 * `flags`                             0.
 * @return as ptxiMemPrefetchAsync; PTXI_ERROR_INVALID_VALUE also for an empty batch and invalid indices. Ranges before
 *         the error have been processed.
 *  Source: cuMemPrefetchBatchAsync. */
PTXI_API ptxiResult ptxiMemPrefetchBatchAsync(ptxiDevicePtr *dptrs, size_t *sizes, size_t count,
                                              ptxiMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                              size_t numPrefetchLocs, unsigned long long flags, ptxiStream hStream);

/*! ptxiMemDiscardBatchAsync() :
 *  Checks ranges of managed memory whose content the program no longer needs. The content stays.
 * `dptrs`, `sizes`  `count` ranges.
 * `flags`           0.
 * @return as ptxiMemPrefetchBatchAsync.
 *  Source: cuMemDiscardBatchAsync. */
PTXI_API ptxiResult ptxiMemDiscardBatchAsync(ptxiDevicePtr *dptrs, size_t *sizes, size_t count,
                                             unsigned long long flags, ptxiStream hStream);

/*! ptxiMemDiscardAndPrefetchBatchAsync() :
 *  ptxiMemDiscardBatchAsync and ptxiMemPrefetchBatchAsync. Source: cuMemDiscardAndPrefetchBatchAsync. */
PTXI_API ptxiResult ptxiMemDiscardAndPrefetchBatchAsync(ptxiDevicePtr *dptrs, size_t *sizes, size_t count,
                                                        ptxiMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                                        size_t numPrefetchLocs, unsigned long long flags,
                                                        ptxiStream hStream);

/*! ptxiMemAdvise() :
 *  Stores advice about managed memory, for ptxiMemRangeGetAttribute. It has no effect.
 * `devPtr`, `count`  a range within one allocation of managed memory, not empty.
 * `location`         a device or the host. A NUMA node of the host is valid, too, except for ACCESSED_BY, and then
 *                    nothing is stored.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for another range, location or advice, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuMemAdvise. */
PTXI_API ptxiResult ptxiMemAdvise(ptxiDevicePtr devPtr, size_t count, ptxiMemAdvice advice, ptxiMemLocation location);

/*! ptxiMemRangeGetAttribute() :
 *  Returns what has been stored for a range of managed memory.
 * `data`             output: an int; for PTXI_MEM_RANGE_ATTRIBUTE_ACCESSED_BY an array.
 * `dataSize`         bytes: 4; of the array a multiple of 4, not 0.
 * `devPtr`, `count`  a range within one allocation of managed memory, not empty.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for another range, attribute or size.
 *  Source: cuMemRangeGetAttribute. */
PTXI_API ptxiResult ptxiMemRangeGetAttribute(void *data, size_t dataSize, ptxiMemRangeAttribute attribute,
                                             ptxiDevicePtr devPtr, size_t count);

/*! ptxiMemRangeGetAttributes() :
 *  The same for several attributes.
 * `data`, `dataSizes`, `attributes`  `numAttributes` outputs, their sizes in bytes, and attributes.
 * @return as ptxiMemRangeGetAttribute; PTXI_ERROR_INVALID_VALUE also for no attributes. Attributes before the error
 *         have been written.
 *  Source: cuMemRangeGetAttributes. */
PTXI_API ptxiResult ptxiMemRangeGetAttributes(void **data, size_t *dataSizes, ptxiMemRangeAttribute *attributes,
                                              size_t numAttributes, ptxiDevicePtr devPtr, size_t count);

/*! ptxiStreamAttachMemAsync() :
 *  Checks that memory may be attached to a stream. Attachments have no effect: any stream may use managed memory.
 * `dptr`    start of an allocation of managed memory.
 * `length`  its size, or 0.
 * `flags`   PTXI_MEM_ATTACH_GLOBAL, HOST or SINGLE; SINGLE needs a stream that is no default stream.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED
 *         if the stream is being captured.
 *  Source: cuStreamAttachMemAsync. */
PTXI_API ptxiResult ptxiStreamAttachMemAsync(ptxiStream hStream, ptxiDevicePtr dptr, size_t length, unsigned flags);

/*! ptxiMemcpyAtoH() :
 *  Copies bytes of an array's first row to the host. Waits as ptxiMemcpy does.
 * `srcOffset` first byte in the row. With `ByteCount`, a multiple of the block size in arrays of compressed blocks.
 * @return as ptxiMemcpy; PTXI_ERROR_INVALID_VALUE also for bytes outside of the row and for NULL as the array;
 *         PTXI_ERROR_INVALID_HANDLE for an invalid array.
 *  Source: cuMemcpyAtoH. */
PTXI_API ptxiResult ptxiMemcpyAtoH(void *dstHost, ptxiArray srcArray, size_t srcOffset, size_t ByteCount);

/*! ptxiMemcpyHtoA() :
 *  Copies bytes of the host to an array's first row, with offsets and errors of ptxiMemcpyAtoH. Waits as ptxiMemcpy
 *  does. Source: cuMemcpyHtoA. */
PTXI_API ptxiResult ptxiMemcpyHtoA(ptxiArray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount);

/*! ptxiMemcpyAtoD() :
 *  Copies bytes of an array's first row to device memory, with offsets and errors of ptxiMemcpyAtoH. Waits as
 *  ptxiMemcpy does. Source: cuMemcpyAtoD. */
PTXI_API ptxiResult ptxiMemcpyAtoD(ptxiDevicePtr dstDevice, ptxiArray srcArray, size_t srcOffset, size_t ByteCount);

/*! ptxiMemcpyDtoA() :
 *  Copies bytes of device memory to an array's first row, with offsets and errors of ptxiMemcpyAtoH. Waits as
 *  ptxiMemcpy does. Source: cuMemcpyDtoA. */
PTXI_API ptxiResult ptxiMemcpyDtoA(ptxiArray dstArray, size_t dstOffset, ptxiDevicePtr srcDevice, size_t ByteCount);

/*! ptxiMemcpyAtoA() :
 *  Copies bytes of one array's first row to that of another, with offsets and errors of ptxiMemcpyAtoH. Waits as
 *  ptxiMemcpy does. Source: cuMemcpyAtoA. */
PTXI_API ptxiResult ptxiMemcpyAtoA(ptxiArray dstArray, size_t dstOffset, ptxiArray srcArray, size_t srcOffset,
                                   size_t ByteCount);

/*! ptxiMemcpyAtoHAsync() :
 *  As ptxiMemcpyAtoH, queued in a stream, with the rules for host memory of ptxiMemcpyDtoHAsync.
 * @return as ptxiMemcpyAtoH and ptxiMemcpyAsync, or PTXI_ERROR_NOT_SUPPORTED if the stream is being captured.
 *  Source: cuMemcpyAtoHAsync. */
PTXI_API ptxiResult ptxiMemcpyAtoHAsync(void *dstHost, ptxiArray srcArray, size_t srcOffset, size_t ByteCount,
                                        ptxiStream hStream);

/*! ptxiMemcpyHtoAAsync() :
 *  As ptxiMemcpyHtoA, queued in a stream, with the rules for host memory of ptxiMemcpyHtoDAsync.
 * @return as ptxiMemcpyAtoH and ptxiMemcpyAsync, or PTXI_ERROR_NOT_SUPPORTED if the stream is being captured.
 *  Source: cuMemcpyHtoAAsync. */
PTXI_API ptxiResult ptxiMemcpyHtoAAsync(ptxiArray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
                                        ptxiStream hStream);

/*! ptxiMemsetD8() :
 *  Fills device memory with a byte. Waits for earlier work of the legacy default stream and for the fill.
 * `N` elements; 0 does nothing.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE if the range is not within one allocation, may not be written, or is
 *         not aligned to the element size, or an earlier failure of the stream.
 *  Source: cuMemsetD8. */
PTXI_API ptxiResult ptxiMemsetD8(ptxiDevicePtr dstDevice, unsigned char uc, size_t N);

/*! ptxiMemsetD16() : As ptxiMemsetD8, with elements of 2 bytes. Source: cuMemsetD16. */
PTXI_API ptxiResult ptxiMemsetD16(ptxiDevicePtr dstDevice, unsigned short us, size_t N);

/*! ptxiMemsetD32() : As ptxiMemsetD8, with elements of 4 bytes. Source: cuMemsetD32. */
PTXI_API ptxiResult ptxiMemsetD32(ptxiDevicePtr dstDevice, unsigned int ui, size_t N);

/*! ptxiMemsetD8Async() :
 *  As ptxiMemsetD8, queued in a stream. Returns before the fill is done.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE as for ptxiMemsetD8, PTXI_ERROR_INVALID_HANDLE for an invalid stream,
 *         or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuMemsetD8Async. */
PTXI_API ptxiResult ptxiMemsetD8Async(ptxiDevicePtr dstDevice, unsigned char uc, size_t N, ptxiStream hStream);

/*! ptxiMemsetD16Async() : As ptxiMemsetD8Async, with elements of 2 bytes. Source: cuMemsetD16Async. */
PTXI_API ptxiResult ptxiMemsetD16Async(ptxiDevicePtr dstDevice, unsigned short us, size_t N, ptxiStream hStream);

/*! ptxiMemsetD32Async() : As ptxiMemsetD8Async, with elements of 4 bytes. Source: cuMemsetD32Async. */
PTXI_API ptxiResult ptxiMemsetD32Async(ptxiDevicePtr dstDevice, unsigned int ui, size_t N, ptxiStream hStream);

/*! ptxiMemsetD2D8() :
 *  Fills rows of device memory with a byte. Waits as ptxiMemsetD8 does. No rows, and rows without elements, do nothing.
 * `dstPitch` bytes from one row to the next: a multiple of the element size, and at least the length of a row. Ignored
 *            for one row.
 * `Width`    elements of a row.
 * `Height`   rows.
 * @return as ptxiMemsetD8; PTXI_ERROR_INVALID_VALUE also for an invalid pitch.
 *  Source: cuMemsetD2D8. */
PTXI_API ptxiResult ptxiMemsetD2D8(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                                   size_t Height);

/*! ptxiMemsetD2D16() : As ptxiMemsetD2D8, with elements of 2 bytes. Source: cuMemsetD2D16. */
PTXI_API ptxiResult ptxiMemsetD2D16(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                    size_t Height);

/*! ptxiMemsetD2D32() : As ptxiMemsetD2D8, with elements of 4 bytes. Source: cuMemsetD2D32. */
PTXI_API ptxiResult ptxiMemsetD2D32(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                                    size_t Height);

/*! ptxiMemsetD2D8Async() :
 *  As ptxiMemsetD2D8, queued in a stream. Returns before the fill is done.
 * @return as ptxiMemsetD2D8 and ptxiMemsetD8Async.
 *  Source: cuMemsetD2D8Async. */
PTXI_API ptxiResult ptxiMemsetD2D8Async(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                                        size_t Height, ptxiStream hStream);

/*! ptxiMemsetD2D16Async() : As ptxiMemsetD2D8Async, with elements of 2 bytes. Source: cuMemsetD2D16Async. */
PTXI_API ptxiResult ptxiMemsetD2D16Async(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                         size_t Height, ptxiStream hStream);

/*! ptxiMemsetD2D32Async() : As ptxiMemsetD2D8Async, with elements of 4 bytes. Source: cuMemsetD2D32Async. */
PTXI_API ptxiResult ptxiMemsetD2D32Async(ptxiDevicePtr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                                         size_t Height, ptxiStream hStream);

/* ---- streams and events -------------------------------------------------------------------------------------- */

/*! ptxiStreamCreate() :
 *  Creates a stream, which is a queue. Its work runs in order and independently of other streams. The legacy default
 *  stream (NULL) waits for all earlier work of blocking streams, and they wait for its work. NON_BLOCKING streams and
 *  the legacy stream do not wait for each other. The caller owns the stream; it ends with ptxiStreamDestroy or with the
 *  context.
 * `Flags` PTXI_STREAM_DEFAULT (blocking) or PTXI_STREAM_NON_BLOCKING.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for other flags, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuStreamCreate. */
PTXI_API ptxiResult ptxiStreamCreate(ptxiStream *phStream, unsigned Flags);

/*! ptxiStreamCreateWithPriority() :
 *  As ptxiStreamCreate, with a priority.
 * `priority` smaller numbers run first if work competes; clamped to the range of ptxiCtxGetStreamPriorityRange.
 * @return as ptxiStreamCreate.
 *  Source: cuStreamCreateWithPriority. */
PTXI_API ptxiResult ptxiStreamCreateWithPriority(ptxiStream *phStream, unsigned flags, int priority);

/*! ptxiStreamGetFlags() :
 *  Returns the flags that a stream was created with.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuStreamGetFlags. */
PTXI_API ptxiResult ptxiStreamGetFlags(ptxiStream hStream, unsigned *flags);

/*! ptxiStreamGetPriority() :
 *  Returns the priority of a stream, after clamping.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuStreamGetPriority. */
PTXI_API ptxiResult ptxiStreamGetPriority(ptxiStream hStream, int *priority);

/*! ptxiStreamGetCtx() :
 *  Returns the context of a stream.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuStreamGetCtx. */
PTXI_API ptxiResult ptxiStreamGetCtx(ptxiStream hStream, ptxiContext *pctx);

/*! ptxiStreamGetDevice() :
 *  Returns the device of the stream's context.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuStreamGetDevice. */
PTXI_API ptxiResult ptxiStreamGetDevice(ptxiStream hStream, ptxiDevice *device);

/*! ptxiStreamGetId() :
 *  Returns a number that no other stream of the process has or had.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuStreamGetId. */
PTXI_API ptxiResult ptxiStreamGetId(ptxiStream hStream, unsigned long long *streamId);

/*! ptxiStreamDestroy() :
 *  Destroys a stream without waiting. Work that is already queued still runs. A capture that began in the stream ends
 *  without a graph; a capture that the stream joined is invalidated.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE, also for the default streams.
 *  Source: cuStreamDestroy. */
PTXI_API ptxiResult ptxiStreamDestroy(ptxiStream hStream);

/*! ptxiStreamGetAttribute() :
 *  Returns an attribute of a stream: ACCESS_POLICY_WINDOW, SYNCHRONIZATION_POLICY, PRIORITY, MEM_SYNC_DOMAIN_MAP or
 *  MEM_SYNC_DOMAIN of ptxiLaunchAttributeID.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for another attribute.
 *  Source: cuStreamGetAttribute. */
PTXI_API ptxiResult ptxiStreamGetAttribute(ptxiStream hStream, ptxiLaunchAttributeID attr,
                                           ptxiLaunchAttributeValue *value_out);

/*! ptxiStreamSetAttribute() :
 *  Sets an attribute of a stream, as for ptxiStreamGetAttribute. It is stored, and has no effect. A priority is clamped
 *  to its range.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for another attribute or a value out of
 *         range.
 *  Source: cuStreamSetAttribute. */
PTXI_API ptxiResult ptxiStreamSetAttribute(ptxiStream hStream, ptxiLaunchAttributeID attr,
                                           const ptxiLaunchAttributeValue *value);

/*! ptxiStreamCopyAttributes() :
 *  Copies all attributes of a stream to another stream of the same context.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuStreamCopyAttributes. */
PTXI_API ptxiResult ptxiStreamCopyAttributes(ptxiStream dst, ptxiStream src);

/*! ptxiStreamSynchronize() :
 *  Waits until all work that is queued in a stream has ended. The calling thread helps to run it.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, an earlier failure of the stream, or
 *         PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED if the stream is being captured, which invalidates the capture.
 *  Source: cuStreamSynchronize. */
PTXI_API ptxiResult ptxiStreamSynchronize(ptxiStream hStream);

/*! ptxiStreamQuery() :
 *  As ptxiStreamSynchronize, without waiting.
 * @return as ptxiStreamSynchronize, or PTXI_ERROR_NOT_READY if work has not ended yet.
 *  Source: cuStreamQuery. */
PTXI_API ptxiResult ptxiStreamQuery(ptxiStream hStream);

/*! ptxiStreamWaitEvent() :
 *  Makes later work of a stream wait until the latest record of an event is reached. No effect if the event was never
 *  recorded. The event may be recorded again or destroyed at once.
 * `Flags` 0, or 1 (external): the stream must be under capture, and its graph gets a node that waits for the event.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE             other flags
 *         PTXI_ERROR_ILLEGAL_STATE             flag 1, and the stream is not being captured
 *         PTXI_ERROR_STREAM_CAPTURE_ISOLATION  the stream is being captured, and the event was recorded outside of a
 *                                              capture
 *         PTXI_ERROR_STREAM_CAPTURE_IMPLICIT   the event was recorded in a capture, and the stream is the legacy
 *                                              default stream
 *         PTXI_ERROR_STREAM_CAPTURE_MERGE      the event was recorded in another capture; both captures are invalidated
 *         PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuStreamWaitEvent. */
PTXI_API ptxiResult ptxiStreamWaitEvent(ptxiStream hStream, ptxiEvent hEvent, unsigned Flags);

/*! ptxiStreamWaitValue32() :
 *  Makes later work of a stream wait until a word of memory has a value. The host, a kernel or another stream may write
 *  it. ptxiCtxInterrupt and the destruction of the context also end the wait, as a failure of the stream.
 * `addr`  address in memory that the device knows, a multiple of the size of the word.
 * `flags` PTXI_STREAM_WAIT_VALUE_...
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE  an invalid address or unknown flags
 *         PTXI_ERROR_NOT_SUPPORTED  PTXI_STREAM_WAIT_VALUE_FLUSH
 *         PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuStreamWaitValue32. */
PTXI_API ptxiResult ptxiStreamWaitValue32(ptxiStream hStream, ptxiDevicePtr addr, uint32_t value, unsigned flags);

/*! ptxiStreamWaitValue64() : As ptxiStreamWaitValue32, with a word of 64 bits. Source: cuStreamWaitValue64. */
PTXI_API ptxiResult ptxiStreamWaitValue64(ptxiStream hStream, ptxiDevicePtr addr, uint64_t value, unsigned flags);

/*! ptxiStreamWriteValue32() :
 *  Writes a word of memory when the stream reaches this point. A reader that sees the value also sees the effects of
 *  earlier work of the stream.
 * `addr`  address in memory that the device knows, a multiple of the size of the word.
 * `flags` 0.
 * @return as ptxiStreamWaitValue32; PTXI_ERROR_INVALID_VALUE also for read-only memory.
 *  Source: cuStreamWriteValue32. */
PTXI_API ptxiResult ptxiStreamWriteValue32(ptxiStream hStream, ptxiDevicePtr addr, uint32_t value, unsigned flags);

/*! ptxiStreamWriteValue64() : As ptxiStreamWriteValue32, with a word of 64 bits. Source: cuStreamWriteValue64. */
PTXI_API ptxiResult ptxiStreamWriteValue64(ptxiStream hStream, ptxiDevicePtr addr, uint64_t value, unsigned flags);

/*! ptxiStreamBatchMemOp() :
 *  Queues several waits and writes, which are executed in order.
 * `count`      0 to 255.
 * `paramArray` `count` operations; copied.
 * `flags`      0.
 * @return as ptxiStreamWaitValue32; PTXI_ERROR_INVALID_VALUE also for a larger count, PTXI_ERROR_NOT_SUPPORTED also for
 *         PTXI_STREAM_MEM_OP_FLUSH_REMOTE_WRITES.
 *  Source: cuStreamBatchMemOp. */
PTXI_API ptxiResult ptxiStreamBatchMemOp(ptxiStream hStream, unsigned count, ptxiStreamBatchMemOpParams *paramArray,
                                         unsigned flags);

/*! ptxiLaunchHostFunc() :
 *  Queues a call of `fn(userData)` in a stream. A thread of the library makes the call, or one that synchronises. `fn`
 *  must not call ptxi functions; they return PTXI_ERROR_NOT_PERMITTED there. It is not called if earlier work of the
 *  stream has failed.
 * `userData` belongs to the caller and must stay valid until the call.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_INVALID_VALUE if `fn` is NULL, or
 *         PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuLaunchHostFunc. */
PTXI_API ptxiResult ptxiLaunchHostFunc(ptxiStream hStream, ptxiHostFn fn, void *userData);

/*! ptxiEventCreate() :
 *  Creates an event, a mark that can be recorded in a stream. The caller owns it; it ends with ptxiEventDestroy or with
 *  the context.
 * `Flags` PTXI_EVENT_... DISABLE_TIMING excludes it from ptxiEventElapsedTime. BLOCKING_SYNC has no effect.
 *         INTERPROCESS, which needs DISABLE_TIMING, makes an event for ptxiIpcGetEventHandle.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for unknown flags, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuEventCreate. */
PTXI_API ptxiResult ptxiEventCreate(ptxiEvent *phEvent, unsigned Flags);

/*! ptxiEventDestroy() :
 *  Destroys an event without waiting. It does not affect streams that wait for the event.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuEventDestroy. */
PTXI_API ptxiResult ptxiEventDestroy(ptxiEvent hEvent);

/*! ptxiEventRecord() :
 *  Records an event in a stream. It is reached when all work that is queued in the stream so far has ended. Replaces an
 *  earlier record. In a stream under capture it marks the work captured so far, for ptxiStreamWaitEvent.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, also if event and stream belong to different contexts, or
 *         PTXI_ERROR_OUT_OF_MEMORY, also if 16384 records of an event with PTXI_EVENT_INTERPROCESS are pending.
 *  Source: cuEventRecord. */
PTXI_API ptxiResult ptxiEventRecord(ptxiEvent hEvent, ptxiStream hStream);

/*! ptxiEventRecordWithFlags() :
 *  As ptxiEventRecord, with flags.
 * `flags` 0, or 1 (external): the stream must be under capture, and its graph gets a node that records the event.
 * @return as ptxiEventRecord, PTXI_ERROR_INVALID_VALUE for other flags, or PTXI_ERROR_ILLEGAL_STATE for flag 1 if the
 *         stream is not being captured.
 *  Source: cuEventRecordWithFlags. */
PTXI_API ptxiResult ptxiEventRecordWithFlags(ptxiEvent hEvent, ptxiStream hStream, unsigned flags);

/*! ptxiEventSynchronize() :
 *  Waits until the latest record of an event is reached. An event that was never recorded counts as reached. If the
 *  latest record is that of another process (ptxiIpcOpenEventHandle), failures of its stream are not returned.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_CAPTURED_EVENT if it was recorded in a capture that has
 *         not ended, an earlier failure of its stream, PTXI_ERROR_LAUNCH_FAILED if the process of the record has ended
 *         before, or PTXI_ERROR_LAUNCH_TIMEOUT if ptxiCtxInterrupt has ended a wait for another process.
 *  Source: cuEventSynchronize. */
PTXI_API ptxiResult ptxiEventSynchronize(ptxiEvent hEvent);

/*! ptxiEventQuery() :
 *  As ptxiEventSynchronize, without waiting.
 * @return as ptxiEventSynchronize, or PTXI_ERROR_NOT_READY if the record is not reached yet.
 *  Source: cuEventQuery. */
PTXI_API ptxiResult ptxiEventQuery(ptxiEvent hEvent);

/*! ptxiEventElapsedTime() :
 *  Returns the wall-clock time between the latest records of two events, in milliseconds. It is negative if `hEnd` was
 *  reached first.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_READY if one is not reached yet, or PTXI_ERROR_INVALID_HANDLE if one was never
 *         recorded or has PTXI_EVENT_DISABLE_TIMING.
 *  Source: cuEventElapsedTime. */
PTXI_API ptxiResult ptxiEventElapsedTime(float *pMilliseconds, ptxiEvent hStart, ptxiEvent hEnd);

/*! ptxiIpcGetEventHandle() :
 *  Returns a handle of an event, which the program passes to ptxiIpcOpenEventHandle in another process of the same
 *  user. It becomes invalid when the event is destroyed and when the process ends.
 * `event`  an event that was made with PTXI_EVENT_INTERPROCESS.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE, or
 *         PTXI_ERROR_INVALID_HANDLE    not an event, or made without that flag
 *         PTXI_ERROR_INVALID_CONTEXT   an event of another process
 *         PTXI_ERROR_OPERATING_SYSTEM  the system has no /proc
 *  Source: cuIpcGetEventHandle. */
PTXI_API ptxiResult ptxiIpcGetEventHandle(ptxiIpcEventHandle *pHandle, ptxiEvent event);

/*! ptxiIpcOpenEventHandle() :
 *  Opens an event of another process. Each process that has the event may record it, and the latest record counts,
 *  whichever process has made it. A thread or a stream that waits for a record learns when its process has ended: then
 *  the wait fails with PTXI_ERROR_LAUNCH_FAILED. ptxiCtxInterrupt ends the waits of a context. The event stays usable
 *  when the other process destroys it or ends. The caller ends it with ptxiEventDestroy.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE    not a handle of an event, or of one that has been destroyed
 *         PTXI_ERROR_INVALID_HANDLE   its process has ended, or may not be accessed
 *         PTXI_ERROR_INVALID_CONTEXT  a handle of this process
 *         PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuIpcOpenEventHandle. */
PTXI_API ptxiResult ptxiIpcOpenEventHandle(ptxiEvent *phEvent, ptxiIpcEventHandle handle);

/* ---- launches ------------------------------------------------------------------------------------------------ */

/*! ptxiLaunchKernel() :
 *  Queues one grid of a kernel in a stream and returns before it ends. Grids that the kernel launches itself (CUDA's
 *  dynamic parallelism, from nvcc -rdc=true) run after it has ended, in the order of their streams. They belong to the
 *  launch: they share its limits, its end and its failure.
 * `f`              a function, or a kernel of a library cast to ptxiFunction.
 * `gridDimX,Y,Z`   blocks (CTAs): 1..2^31-1, 1..65535, 1..65535.
 * `blockDimX,Y,Z`  threads of a block: 1..1024, 1..1024, 1..64; the product at most 1024 and at most what the kernel
 *                  allows.
 * `sharedMemBytes` bytes of dynamic shared memory of a block, in addition to the kernel's static .shared memory. If
 *                  both together exceed 48 KiB, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES must be raised first.
 * `hStream`        NULL: the legacy default stream.
 * `kernelParams`   a pointer to the value of each .param, in the order of declaration; the values are copied. NULL if
 *                  `extra` is given or the kernel has no parameters.
 * `extra`          all parameters in one buffer: PTXI_LAUNCH_PARAM_BUFFER_POINTER, the buffer,
 *                  PTXI_LAUNCH_PARAM_BUFFER_SIZE, pointer to its size (size_t, bytes), PTXI_LAUNCH_PARAM_END.
 *                  ptxiFuncGetParamInfo returns the layout. The buffer is copied; if it is too short, the rest is zero.
 *                  NULL if `kernelParams` is given.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE            a dimension or the shared memory is out of range; .maxntid or .reqntid
 *                                             excludes the block; kernelParams[k] is NULL; both or neither of
 *                                             kernelParams and extra are given; the kernel has more than 511 KiB of
 *                                             .local variables
 *         PTXI_ERROR_INVALID_HANDLE           an invalid function or stream, or one of another context
 *         PTXI_ERROR_LAUNCH_OUT_OF_RESOURCES  the buffer of `extra` is longer than the parameters, or the kernel has
 *                                             more static .shared memory than a block of the profile
 *         PTXI_ERROR_INVALID_CLUSTER_SIZE     the grid is not a multiple of the cluster, the cluster is too large, or
 *                                             the kernel needs a cluster size and has none
 *         PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND  the kernel can reach undefined symbols, which ptxiGetLastReport
 *                                                    lists
 *         PTXI_ERROR_NOT_SUPPORTED            the module has 32-bit addresses, or the kernel is too large
 *         PTXI_ERROR_OUT_OF_MEMORY            nothing was queued
 *         A failure of the grid itself is returned later, by a call that synchronises (see ptxiFault).
 *  Threads: any host thread, any number at once; launches of one stream run in order.
 *  Source: cuLaunchKernel; PTX ISA, "Thread Hierarchy" and "Kernel and Function Directives: .entry". */
PTXI_API ptxiResult ptxiLaunchKernel(ptxiFunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                                     unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
                                     unsigned sharedMemBytes, ptxiStream hStream, void **kernelParams, void **extra);

/*! ptxiLaunchCooperativeKernel() :
 *  As ptxiLaunchKernel, for a grid of which all blocks are resident at once, so that they may wait for each other.
 * @return as ptxiLaunchKernel, or PTXI_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE if the device profile cannot hold the grid at
 *         once.
 *  Source: cuLaunchCooperativeKernel. */
PTXI_API ptxiResult ptxiLaunchCooperativeKernel(ptxiFunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                                                unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
                                                unsigned sharedMemBytes, ptxiStream hStream, void **kernelParams);

/*! ptxiLaunchKernelEx() :
 *  As ptxiLaunchKernel, with attributes for clusters, cooperative launches and events. Attributes that only affect
 *  performance are checked and have no effect. Each grid begins when all earlier work of its stream has ended, even if
 *  the attributes allow an earlier start. With PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
 *  griddepcontrol.wait therefore finds earlier grids complete, and griddepcontrol.launch_dependents starts nothing
 *  early, which is one of the orders that a GPU may choose. PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT and
 *  _LAUNCH_COMPLETION_EVENT record their event after the grid, which is later than necessary.
 *
 *  With PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW only some clusters of the grid run, with the indices and sizes that they
 *  have in the whole grid. A block is a cluster of its own if the launch has none. Clusters are numbered like blocks: x
 *  first, then y, then z. Several such launches, also in different processes, can execute one grid. A grid whose blocks
 *  may depend on each other is refused, and ptxiGetLastReport has the reason: a cooperative launch, a loop that may
 *  wait for another block, an atomic operation on global memory whose result is used or that compares and swaps,
 *  clusterlaunchcontrol, or calls of the device runtime, which may launch grids.
 * `config`  read before the call returns.
 * @return as ptxiLaunchKernel and ptxiLaunchCooperativeKernel, or
 *         PTXI_ERROR_INVALID_VALUE         an attribute that is unknown, out of range, or not for launches
 *         PTXI_ERROR_INVALID_CLUSTER_SIZE  also for a preferred cluster that is not a multiple of the cluster, or does
 *                                          not divide the grid
 *         PTXI_ERROR_NOT_SUPPORTED         an event without PTXI_EVENT_DISABLE_TIMING, or
 *                                          PTXI_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, or a window of a
 *                                          grid whose blocks may depend on each other
 *         PTXI_ERROR_ILLEGAL_STATE         an event with flag 1 (external)
 *  Source: cuLaunchKernelEx. */
PTXI_API ptxiResult ptxiLaunchKernelEx(const ptxiLaunchConfig *config, ptxiFunction f, void **kernelParams,
                                       void **extra);

/* ---- graphs -------------------------------------------------------------------------------------------------- */

/* A graph consists of launches, copies, fills and host functions with dependencies. It can be launched repeatedly. The
 * caller owns graphs and their instances; nodes live as long as their graph.
 *  Errors   in addition to those that a call lists: PTXI_ERROR_INVALID_VALUE for NULL as a graph, node or instance,
 *           PTXI_ERROR_INVALID_HANDLE for an invalid graph, node or instance, and PTXI_ERROR_OUT_OF_MEMORY.
 *  Threads  Calls on graphs exclude each other. A launch of an instance waits for another launch of the same
 *           instance. */

/*! ptxiGraphCreate() :
 *  Creates an empty graph. The caller ends it with ptxiGraphDestroy.
 * `flags` 0.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for other flags.
 *  Source: cuGraphCreate. */
PTXI_API ptxiResult ptxiGraphCreate(ptxiGraph *phGraph, unsigned flags);

/*! ptxiGraphDestroy() :
 *  Destroys a graph with its nodes. Instances stay valid.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for the graph of a node, or PTXI_ERROR_ILLEGAL_STATE for the graph of
 *         a capture that has not ended.
 *  Source: cuGraphDestroy. */
PTXI_API ptxiResult ptxiGraphDestroy(ptxiGraph hGraph);

/*! ptxiGraphClone() :
 *  Copies a graph, including the graphs of its child and conditional nodes. The caller owns the copy.
 *  Source: cuGraphClone. */
PTXI_API ptxiResult ptxiGraphClone(ptxiGraph *phGraphClone, ptxiGraph originalGraph);

/*! ptxiGraphNodeFindInClone() :
 *  Returns the node of a cloned graph that is the copy of a node. Also finds nodes in child graphs and bodies.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if there is no such node.
 *  Source: cuGraphNodeFindInClone. */
PTXI_API ptxiResult ptxiGraphNodeFindInClone(ptxiGraphNode *phNode, ptxiGraphNode hOriginalNode,
                                             ptxiGraph hClonedGraph);

/*! ptxiGraphAddKernelNode() :
 *  Adds a node that launches a kernel.
 * `phGraphNode`   output: the node.
 * `dependencies`  `numDependencies` different nodes of the same graph that end before the new node begins; NULL if
 *                 there are none. This holds for all ptxiGraphAdd calls.
 * `nodeParams`    read before the call returns, with the values of the kernel's parameters.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for invalid dependencies, a grid or block that the kernel does not
 *         allow, or parameters that ptxiLaunchKernel does not accept.
 *  Source: cuGraphAddKernelNode. */
PTXI_API ptxiResult ptxiGraphAddKernelNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph,
                                           const ptxiGraphNode *dependencies, size_t numDependencies,
                                           const PTXI_KERNEL_NODE_PARAMS *nodeParams);

/*! ptxiGraphAddMemcpyNode() :
 *  Adds a node that copies a box. The memory is checked when the node runs.
 * `copyParams`  read before the call returns; Width, Height and Depth are not 0.
 * `ctx`         ignored.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for invalid dependencies or an empty box.
 *  Source: cuGraphAddMemcpyNode. */
PTXI_API ptxiResult ptxiGraphAddMemcpyNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph,
                                           const ptxiGraphNode *dependencies, size_t numDependencies,
                                           const PTXI_MEMCPY3D *copyParams, ptxiContext ctx);

/*! ptxiGraphAddMemsetNode() :
 *  Adds a node that fills rows. The memory is checked when the node runs.
 * `memsetParams`  read before the call returns; width and height are not 0.
 * `ctx`           ignored.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for invalid dependencies, address 0, an element size other than 1,
 *         2 and 4, or no elements.
 *  Source: cuGraphAddMemsetNode. */
PTXI_API ptxiResult ptxiGraphAddMemsetNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph,
                                           const ptxiGraphNode *dependencies, size_t numDependencies,
                                           const PTXI_MEMSET_NODE_PARAMS *memsetParams, ptxiContext ctx);

/*! ptxiGraphAddHostNode() :
 *  Adds a node that calls a host function, as ptxiLaunchHostFunc.
 * `nodeParams`  read before the call returns. `userData` must stay valid for all launches.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for invalid dependencies or if the function is NULL.
 *  Source: cuGraphAddHostNode. */
PTXI_API ptxiResult ptxiGraphAddHostNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph,
                                         const ptxiGraphNode *dependencies, size_t numDependencies,
                                         const PTXI_HOST_NODE_PARAMS *nodeParams);

/*! ptxiGraphAddEmptyNode() :
 *  Adds a node that does nothing. It can join dependencies.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for invalid dependencies.
 *  Source: cuGraphAddEmptyNode. */
PTXI_API ptxiResult ptxiGraphAddEmptyNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph,
                                          const ptxiGraphNode *dependencies, size_t numDependencies);

/*! ptxiGraphAddChildGraphNode() :
 *  Adds a node that runs a copy of another graph. The copy belongs to the node.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for invalid dependencies.
 *  Source: cuGraphAddChildGraphNode. */
PTXI_API ptxiResult ptxiGraphAddChildGraphNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph,
                                               const ptxiGraphNode *dependencies, size_t numDependencies,
                                               ptxiGraph childGraph);

/*! ptxiGraphAddNode() :
 *  Adds a node of any type, also a conditional node, which has no call of its own. A conditional node runs one of its
 *  bodies by the value of a condition. The bodies are output in `nodeParams`, belong to the node, and are filled by the
 *  ptxiGraphAdd calls.
 * `dependencyData`  NULL, or data for each dependency. The data is stored. A node always begins after the nodes that it
 *                   depends on have ended.
 * `nodeParams`      read before the call returns.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE  invalid dependencies, data or parameters
 *         PTXI_ERROR_NOT_SUPPORTED  an unknown type of node
 *  Source: cuGraphAddNode. */
PTXI_API ptxiResult ptxiGraphAddNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                     const ptxiGraphEdgeData *dependencyData, size_t numDependencies,
                                     ptxiGraphNodeParams *nodeParams);

/*! ptxiGraphAddMemAllocNode() :
 *  Adds a node that allocates device memory. Its address is fixed when the node is added. Between launches the memory
 *  is not accessible; its content is kept, unless ptxiDeviceGraphMemTrim drops it. The memory is freed by a node of the
 *  same graph, and then by nothing else, or by a node of another graph, ptxiMemFree, ptxiMemFreeAsync or
 *  PTXI_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH. It remains allocated if the graph and its instance are destroyed.
 *  In a graph with nodes that allocate or free memory, nodes and edges cannot be removed. Such a graph cannot be
 *  copied, has at most one instance, and becomes a child only with PTXI_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE.
 * `nodeParams`  in: size and place; out: the address.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE  invalid dependencies or properties, or 0 bytes
 *         PTXI_ERROR_NOT_SUPPORTED  memory of the host or of several processes, and a graph that belongs to a node
 *         PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuGraphAddMemAllocNode. */
PTXI_API ptxiResult ptxiGraphAddMemAllocNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph,
                                             const ptxiGraphNode *dependencies, size_t numDependencies,
                                             PTXI_MEM_ALLOC_NODE_PARAMS *nodeParams);

/*! ptxiGraphMemAllocNodeGetParams() :
 *  Returns the parameters of a node that allocates memory. The descriptions of access belong to the node.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type.
 *  Source: cuGraphMemAllocNodeGetParams. */
PTXI_API ptxiResult ptxiGraphMemAllocNodeGetParams(ptxiGraphNode hNode, PTXI_MEM_ALLOC_NODE_PARAMS *params_out);

/*! ptxiGraphAddMemFreeNode() :
 *  Adds a node that frees the memory of a node of this graph or of another one. A launch fails with
 *  PTXI_ERROR_INVALID_VALUE if the memory of another graph is not allocated.
 * `dptr`  address of the memory.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_SUPPORTED for a graph that belongs to a node, or PTXI_ERROR_INVALID_VALUE for
 *         invalid dependencies, an address that no node allocates, memory that a node of the same graph frees already,
 *         and memory that nodes of both its own and another graph would free.
 *  Source: cuGraphAddMemFreeNode. */
PTXI_API ptxiResult ptxiGraphAddMemFreeNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph,
                                            const ptxiGraphNode *dependencies, size_t numDependencies,
                                            ptxiDevicePtr dptr);

/*! ptxiGraphMemFreeNodeGetParams() :
 *  Returns the address that a node frees.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type.
 *  Source: cuGraphMemFreeNodeGetParams. */
PTXI_API ptxiResult ptxiGraphMemFreeNodeGetParams(ptxiGraphNode hNode, ptxiDevicePtr *dptr_out);

/*! ptxiDeviceGetGraphMemAttribute() :
 *  Returns an attribute of the memory that nodes of graphs allocate.
 * `value` output: a uint64_t.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_VALUE for an unknown attribute.
 *  Source: cuDeviceGetGraphMemAttribute. */
PTXI_API ptxiResult ptxiDeviceGetGraphMemAttribute(ptxiDevice device, ptxiGraphMemAttribute attr, void *value);

/*! ptxiDeviceSetGraphMemAttribute() :
 *  Restarts a maximum: it becomes the current amount.
 * `value` a uint64_t, 0.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_VALUE for an attribute that is not a maximum
 *         and for another value.
 *  Source: cuDeviceSetGraphMemAttribute. */
PTXI_API ptxiResult ptxiDeviceSetGraphMemAttribute(ptxiDevice device, ptxiGraphMemAttribute attr, void *value);

/*! ptxiDeviceGraphMemTrim() :
 *  Returns the memory of graphs that is not allocated now to the system. The addresses stay reserved.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE.
 *  Source: cuDeviceGraphMemTrim. */
PTXI_API ptxiResult ptxiDeviceGraphMemTrim(ptxiDevice device);

/*! ptxiGraphAddBatchMemOpNode() :
 *  Adds a node that waits for words in memory or writes them, as ptxiStreamBatchMemOp. The memory is checked when the
 *  node runs.
 * `nodeParams`  read before the call returns.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for invalid dependencies, NULL as the context, more than 255
 *         operations, unknown ones or flags, or misaligned addresses, or PTXI_ERROR_NOT_SUPPORTED for
 *         PTXI_STREAM_MEM_OP_FLUSH_REMOTE_WRITES.
 *  Source: cuGraphAddBatchMemOpNode. */
PTXI_API ptxiResult ptxiGraphAddBatchMemOpNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph,
                                               const ptxiGraphNode *dependencies, size_t numDependencies,
                                               const PTXI_BATCH_MEM_OP_NODE_PARAMS *nodeParams);

/*! ptxiGraphBatchMemOpNodeGetParams() :
 *  Returns the parameters of a node with memory operations. The array belongs to the node.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type.
 *  Source: cuGraphBatchMemOpNodeGetParams. */
PTXI_API ptxiResult ptxiGraphBatchMemOpNodeGetParams(ptxiGraphNode hNode,
                                                     PTXI_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out);

/*! ptxiGraphBatchMemOpNodeSetParams() :
 *  Replaces the parameters of a node with memory operations.
 * @return as ptxiGraphAddBatchMemOpNode; PTXI_ERROR_INVALID_VALUE also for a node of another type.
 *  Source: cuGraphBatchMemOpNodeSetParams. */
PTXI_API ptxiResult ptxiGraphBatchMemOpNodeSetParams(ptxiGraphNode hNode,
                                                     const PTXI_BATCH_MEM_OP_NODE_PARAMS *nodeParams);

/*! ptxiGraphExecBatchMemOpNodeSetParams() :
 *  Replaces the parameters of an instance's node with memory operations. `hNode` as for ptxiGraphExecNodeSetParams.
 * @return as ptxiGraphBatchMemOpNodeSetParams; PTXI_ERROR_INVALID_VALUE also for another number of operations, and if
 *         the instance has no copy of the node.
 *  Source: cuGraphExecBatchMemOpNodeSetParams. */
PTXI_API ptxiResult ptxiGraphExecBatchMemOpNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                                         const PTXI_BATCH_MEM_OP_NODE_PARAMS *nodeParams);

/*! ptxiGraphConditionalHandleCreate() :
 *  Creates a condition for conditional nodes of a graph. It belongs to the graph and to its copies. Kernels set its
 *  value with cudaGraphSetConditional.
 * `ctx`                 ignored.
 * `defaultLaunchValue`  the value at the start.
 * `flags`               PTXI_GRAPH_COND_ASSIGN_DEFAULT: each launch begins with the default value. 0: a launch begins
 *                       with the value that the last one left.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for other flags, or PTXI_ERROR_OUT_OF_MEMORY, also if the process has
 *         4096 conditions.
 *  Source: cuGraphConditionalHandleCreate. */
PTXI_API ptxiResult ptxiGraphConditionalHandleCreate(ptxiGraphConditionalHandle *pHandle_out, ptxiGraph hGraph,
                                                     ptxiContext ctx, unsigned defaultLaunchValue, unsigned flags);

/*! ptxiGraphAddDependencies() :
 *  Adds edges between nodes of a graph: to[i] begins after from[i] has ended. If one edge is invalid, none is added.
 * `edgeData`  NULL, or data for each edge, as for ptxiGraphAddNode.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for nodes of another graph, an edge from a node to itself, an edge
 *         that exists already or is given twice, or invalid data.
 *  Source: cuGraphAddDependencies. */
PTXI_API ptxiResult ptxiGraphAddDependencies(ptxiGraph hGraph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                             const ptxiGraphEdgeData *edgeData, size_t numDependencies);

/*! ptxiGraphAddEventRecordNode() :
 *  Adds a node that records an event. If the event is destroyed, launches that reach the node fail.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for invalid dependencies or a NULL event, or PTXI_ERROR_INVALID_HANDLE
 *         for an invalid event.
 *  Source: cuGraphAddEventRecordNode. */
PTXI_API ptxiResult ptxiGraphAddEventRecordNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph,
                                                const ptxiGraphNode *dependencies, size_t numDependencies,
                                                ptxiEvent event);

/*! ptxiGraphAddEventWaitNode() :
 *  Adds a node that waits for the latest record of an event at the time when the node is reached. Otherwise as
 *  ptxiGraphAddEventRecordNode. Source: cuGraphAddEventWaitNode. */
PTXI_API ptxiResult ptxiGraphAddEventWaitNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph,
                                              const ptxiGraphNode *dependencies, size_t numDependencies,
                                              ptxiEvent event);

/*! ptxiGraphEventRecordNodeGetEvent() :
 *  Returns the event of a node that records one.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type.
 *  Source: cuGraphEventRecordNodeGetEvent. */
PTXI_API ptxiResult ptxiGraphEventRecordNodeGetEvent(ptxiGraphNode hNode, ptxiEvent *event_out);

/*! ptxiGraphEventRecordNodeSetEvent() :
 *  Sets the event of a node that records one.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for a node of another type or a NULL event, or
 *         PTXI_ERROR_INVALID_HANDLE for an invalid event.
 *  Source: cuGraphEventRecordNodeSetEvent. */
PTXI_API ptxiResult ptxiGraphEventRecordNodeSetEvent(ptxiGraphNode hNode, ptxiEvent event);

/*! ptxiGraphEventWaitNodeGetEvent() :
 *  Returns the event of a node that waits for one.
 * @return as ptxiGraphEventRecordNodeGetEvent.
 *  Source: cuGraphEventWaitNodeGetEvent. */
PTXI_API ptxiResult ptxiGraphEventWaitNodeGetEvent(ptxiGraphNode hNode, ptxiEvent *event_out);

/*! ptxiGraphEventWaitNodeSetEvent() :
 *  Sets the event of a node that waits for one.
 * @return as ptxiGraphEventRecordNodeSetEvent.
 *  Source: cuGraphEventWaitNodeSetEvent. */
PTXI_API ptxiResult ptxiGraphEventWaitNodeSetEvent(ptxiGraphNode hNode, ptxiEvent event);

/*! ptxiGraphExecEventRecordNodeSetEvent() :
 *  Sets the event of an instance's node that records one. `hNode` is the node of the graph that was instantiated.
 * @return as ptxiGraphEventRecordNodeSetEvent; PTXI_ERROR_INVALID_VALUE also if the instance has no copy of the node.
 *  Source: cuGraphExecEventRecordNodeSetEvent. */
PTXI_API ptxiResult ptxiGraphExecEventRecordNodeSetEvent(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                                         ptxiEvent event);

/*! ptxiGraphExecEventWaitNodeSetEvent() :
 *  Sets the event of an instance's node that waits for one. `hNode` is the node of the graph that was instantiated.
 * @return as ptxiGraphExecEventRecordNodeSetEvent.
 *  Source: cuGraphExecEventWaitNodeSetEvent. */
PTXI_API ptxiResult ptxiGraphExecEventWaitNodeSetEvent(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiEvent event);

/*! ptxiGraphRemoveDependencies() :
 *  Removes edges from a graph. Instances keep theirs.
 * `edgeData`  ignored.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for an edge that does not exist; the edges before it have been
 *         removed.
 *  Source: cuGraphRemoveDependencies. */
PTXI_API ptxiResult ptxiGraphRemoveDependencies(ptxiGraph hGraph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                                const ptxiGraphEdgeData *edgeData, size_t numDependencies);

/*! ptxiGraphDestroyNode() :
 *  Removes a node from its graph, with all edges from and to it. Instances keep theirs. Source: cuGraphDestroyNode. */
PTXI_API ptxiResult ptxiGraphDestroyNode(ptxiGraphNode hNode);

/*! ptxiGraphGetNodes() :
 *  Returns the nodes of a graph in the order in which they were added.
 * `nodes`     output array; NULL: only the number is given.
 * `numNodes`  in: size of the array; out: number of nodes stored, or number of nodes if the array is NULL. Unused
 *             elements become NULL. This holds for all calls that list nodes or edges.
 *  Source: cuGraphGetNodes. */
PTXI_API ptxiResult ptxiGraphGetNodes(ptxiGraph hGraph, ptxiGraphNode *nodes, size_t *numNodes);

/*! ptxiGraphGetRootNodes() :
 *  Returns the nodes of a graph that depend on no other node, the latest first. Arrays as for ptxiGraphGetNodes.
 *  Source: cuGraphGetRootNodes. */
PTXI_API ptxiResult ptxiGraphGetRootNodes(ptxiGraph hGraph, ptxiGraphNode *rootNodes, size_t *numRootNodes);

/*! ptxiGraphGetEdges() :
 *  Returns the edges of a graph. Arrays as for ptxiGraphGetNodes.
 * `from`, `to`  output arrays, or both NULL.
 * `edgeData`    output array of the same size; NULL if all edges have zeros as data.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE  one of `from` and `to` is NULL, or the arrays have size 0 and `edgeData` is NULL
 *         PTXI_ERROR_LOSSY_QUERY    `edgeData` is NULL, and an edge has data
 *  Source: cuGraphGetEdges. */
PTXI_API ptxiResult ptxiGraphGetEdges(ptxiGraph hGraph, ptxiGraphNode *from, ptxiGraphNode *to,
                                      ptxiGraphEdgeData *edgeData, size_t *numEdges);

/*! ptxiGraphNodeGetDependentNodes() :
 *  Returns the nodes that depend on a node, with the data of these edges. Arrays and errors as for ptxiGraphGetEdges.
 *  Source: cuGraphNodeGetDependentNodes. */
PTXI_API ptxiResult ptxiGraphNodeGetDependentNodes(ptxiGraphNode hNode, ptxiGraphNode *dependentNodes,
                                                   ptxiGraphEdgeData *edgeData, size_t *numDependentNodes);

/*! ptxiGraphNodeGetDependencies() :
 *  Returns the nodes that a node depends on, with the data of these edges. Arrays and errors as for ptxiGraphGetEdges.
 *  Source: cuGraphNodeGetDependencies. */
PTXI_API ptxiResult ptxiGraphNodeGetDependencies(ptxiGraphNode hNode, ptxiGraphNode *dependencies,
                                                 ptxiGraphEdgeData *edgeData, size_t *numDependencies);

/*! ptxiGraphNodeGetType() : Returns the type of a node. Source: cuGraphNodeGetType. */
PTXI_API ptxiResult ptxiGraphNodeGetType(ptxiGraphNode hNode, ptxiGraphNodeType *type);

/*! ptxiGraphChildGraphNodeGetGraph() :
 *  Returns the graph of a child graph node. It belongs to the node: it may be changed, and must not be destroyed.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type.
 *  Source: cuGraphChildGraphNodeGetGraph. */
PTXI_API ptxiResult ptxiGraphChildGraphNodeGetGraph(ptxiGraphNode hNode, ptxiGraph *phGraph);

/*! ptxiGraphNodeSetParams() :
 *  Replaces the parameters of a node of any type but conditional. `nodeParams->type` must be the type of the node.
 * `nodeParams` as for ptxiGraphAddNode.
 * @return as ptxiGraphAddNode; PTXI_ERROR_INVALID_VALUE also for a node of another type or a conditional node.
 *  Source: cuGraphNodeSetParams. */
PTXI_API ptxiResult ptxiGraphNodeSetParams(ptxiGraphNode hNode, ptxiGraphNodeParams *nodeParams);

/*! ptxiGraphKernelNodeGetParams() :
 *  Returns the parameters of a kernel node. Pointers in the result belong to the node and are valid until its
 *  parameters are changed. `kernelParams` is NULL if the kernel has no parameters.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type.
 *  Source: cuGraphKernelNodeGetParams. */
PTXI_API ptxiResult ptxiGraphKernelNodeGetParams(ptxiGraphNode hNode, PTXI_KERNEL_NODE_PARAMS *nodeParams);

/*! ptxiGraphKernelNodeGetAttribute() :
 *  Returns an attribute of a kernel node.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type or an attribute that kernel nodes do not
 *         have.
 *  Source: cuGraphKernelNodeGetAttribute. */
PTXI_API ptxiResult ptxiGraphKernelNodeGetAttribute(ptxiGraphNode hNode, ptxiLaunchAttributeID attr,
                                                    ptxiLaunchAttributeValue *value_out);

/*! ptxiGraphKernelNodeCopyAttributes() :
 *  Copies all attributes of the kernel node `src` to the kernel node `dst`.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type, or if `dst` cannot have the clusters of
 *         `src`.
 *  Source: cuGraphKernelNodeCopyAttributes. */
PTXI_API ptxiResult ptxiGraphKernelNodeCopyAttributes(ptxiGraphNode dst, ptxiGraphNode src);

/*! ptxiGraphKernelNodeSetParams() :
 *  Replaces the parameters of a kernel node. Its attributes stay.
 * `nodeParams` as for ptxiGraphAddKernelNode.
 * @return as ptxiGraphAddKernelNode; PTXI_ERROR_INVALID_VALUE also for a node of another type.
 *  Source: cuGraphKernelNodeSetParams. */
PTXI_API ptxiResult ptxiGraphKernelNodeSetParams(ptxiGraphNode hNode, const PTXI_KERNEL_NODE_PARAMS *nodeParams);

/*! ptxiGraphKernelNodeSetAttribute() :
 *  Sets an attribute of a kernel node. COOPERATIVE and CLUSTER_DIMENSION have an effect; ACCESS_POLICY_WINDOW,
 *  CLUSTER_SCHEDULING_POLICY_PREFERENCE, PRIORITY, MEM_SYNC_DOMAIN_MAP, MEM_SYNC_DOMAIN and
 *  PREFERRED_SHARED_MEMORY_CARVEOUT are stored.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE         a node of another type, a value out of range, or an attribute that kernel
 *                                          nodes do not have
 *         PTXI_ERROR_INVALID_CLUSTER_SIZE  a cluster that the kernel or its grid cannot have
 *         PTXI_ERROR_NOT_SUPPORTED         PTXI_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE
 *  Source: cuGraphKernelNodeSetAttribute. */
PTXI_API ptxiResult ptxiGraphKernelNodeSetAttribute(ptxiGraphNode hNode, ptxiLaunchAttributeID attr,
                                                    const ptxiLaunchAttributeValue *value);

/*! ptxiGraphMemcpyNodeSetParams() :
 *  Replaces the parameters of a copy node.
 * `nodeParams` as `copyParams` of ptxiGraphAddMemcpyNode.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type or an empty box.
 *  Source: cuGraphMemcpyNodeSetParams. */
PTXI_API ptxiResult ptxiGraphMemcpyNodeSetParams(ptxiGraphNode hNode, const PTXI_MEMCPY3D *nodeParams);

/*! ptxiGraphMemcpyNodeGetParams() :
 *  Returns the parameters of a copy node.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type.
 *  Source: cuGraphMemcpyNodeGetParams. */
PTXI_API ptxiResult ptxiGraphMemcpyNodeGetParams(ptxiGraphNode hNode, PTXI_MEMCPY3D *nodeParams);

/*! ptxiGraphMemsetNodeSetParams() :
 *  Replaces the parameters of a fill node.
 * `nodeParams` as `memsetParams` of ptxiGraphAddMemsetNode.
 * @return as ptxiGraphAddMemsetNode; PTXI_ERROR_INVALID_VALUE also for a node of another type.
 *  Source: cuGraphMemsetNodeSetParams. */
PTXI_API ptxiResult ptxiGraphMemsetNodeSetParams(ptxiGraphNode hNode, const PTXI_MEMSET_NODE_PARAMS *nodeParams);

/*! ptxiGraphMemsetNodeGetParams() :
 *  Returns the parameters of a fill node.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type.
 *  Source: cuGraphMemsetNodeGetParams. */
PTXI_API ptxiResult ptxiGraphMemsetNodeGetParams(ptxiGraphNode hNode, PTXI_MEMSET_NODE_PARAMS *nodeParams);

/*! ptxiGraphHostNodeSetParams() :
 *  Replaces the function of a host node.
 * `nodeParams` as for ptxiGraphAddHostNode.
 * @return as ptxiGraphAddHostNode; PTXI_ERROR_INVALID_VALUE also for a node of another type.
 *  Source: cuGraphHostNodeSetParams. */
PTXI_API ptxiResult ptxiGraphHostNodeSetParams(ptxiGraphNode hNode, const PTXI_HOST_NODE_PARAMS *nodeParams);

/*! ptxiGraphHostNodeGetParams() :
 *  Returns the function of a host node.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another type.
 *  Source: cuGraphHostNodeGetParams. */
PTXI_API ptxiResult ptxiGraphHostNodeGetParams(ptxiGraphNode hNode, PTXI_HOST_NODE_PARAMS *nodeParams);

/*! ptxiGraphInstantiate() :
 *  Creates an instance of a graph, which can be launched. It is a copy: the graph may then be changed or destroyed. The
 *  caller ends it with ptxiGraphExecDestroy.
 * `flags` PTXI_GRAPH_INSTANTIATE_FLAG_... except UPLOAD.
 *         With PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH, kernels of other graphs can launch the instance (CUDA C++
 *         Programming Guide, "Device Graph Launch"). It may have kernels, fills, and copies of memory that devices can
 *         access.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for a cycle of dependencies, for other flags, or for a graph that
 *         kernels cannot launch, or PTXI_ERROR_NOT_SUPPORTED for a second instance of a graph that allocates or frees
 *         memory.
 *  Source: cuGraphInstantiate. */
PTXI_API ptxiResult ptxiGraphInstantiate(ptxiGraphExec *phGraphExec, ptxiGraph hGraph, unsigned long long flags);

/*! ptxiGraphInstantiateWithFlags() : The same as ptxiGraphInstantiate. Source: cuGraphInstantiateWithFlags. */
PTXI_API ptxiResult ptxiGraphInstantiateWithFlags(ptxiGraphExec *phGraphExec, ptxiGraph hGraph,
                                                  unsigned long long flags);

/*! ptxiGraphInstantiateWithParams() :
 *  As ptxiGraphInstantiate, with more outputs.
 * `instantiateParams`  in: flags, also UPLOAD; out: the result, and a node of the graph if it has a cycle or if kernels
 *                      cannot launch this node.
 * @return as ptxiGraphInstantiate.
 *  Source: cuGraphInstantiateWithParams. */
PTXI_API ptxiResult ptxiGraphInstantiateWithParams(ptxiGraphExec *phGraphExec, ptxiGraph hGraph,
                                                   PTXI_GRAPH_INSTANTIATE_PARAMS *instantiateParams);

/*! ptxiGraphExecGetFlags() :
 *  Returns the flags of an instance, of AUTO_FREE_ON_LAUNCH and DEVICE_LAUNCH.
 *  Source: cuGraphExecGetFlags. */
PTXI_API ptxiResult ptxiGraphExecGetFlags(ptxiGraphExec hGraphExec, unsigned long long *flags);

/*! ptxiGraphExecDestroy() :
 *  Destroys an instance. A launch of it that is in progress in another thread still completes.
 *  Source: cuGraphExecDestroy. */
PTXI_API ptxiResult ptxiGraphExecDestroy(ptxiGraphExec hGraphExec);

/*! ptxiGraphNodeSetEnabled() :
 *  Enables or disables a kernel, copy or fill node of an instance. A disabled node does nothing. Updates do not change
 *  this.
 * `hNode`      the node of the graph that was instantiated, or of a graph in it.
 * `isEnabled`  0: disabled.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another graph or type.
 *  Source: cuGraphNodeSetEnabled. */
PTXI_API ptxiResult ptxiGraphNodeSetEnabled(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, unsigned isEnabled);

/*! ptxiGraphNodeGetEnabled() :
 *  Returns whether a kernel, copy or fill node of an instance is enabled: 0 or 1.
 * `hNode`  as for ptxiGraphNodeSetEnabled.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for a node of another graph or type.
 *  Source: cuGraphNodeGetEnabled. */
PTXI_API ptxiResult ptxiGraphNodeGetEnabled(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, unsigned *isEnabled);

/*! ptxiGraphExecUpdate() :
 *  Replaces the parameters of an instance's nodes by those of another graph, which must have the same nodes and
 *  dependencies in the same order.
 * `resultInfo`  output: what differs, and at which node of `hGraph`; written also after an error; may be NULL.
 * @return PTXI_SUCCESS, PTXI_ERROR_GRAPH_EXEC_UPDATE_FAILURE if the graph has another shape, with no change to the
 *         instance, or PTXI_ERROR_OUT_OF_MEMORY, with some nodes changed.
 *  Source: cuGraphExecUpdate. */
PTXI_API ptxiResult ptxiGraphExecUpdate(ptxiGraphExec hGraphExec, ptxiGraph hGraph,
                                        ptxiGraphExecUpdateResultInfo *resultInfo);

/*! ptxiGraphExecNodeSetParams() :
 *  Replaces the parameters of an instance's node of any type but conditional.
 * `hNode`       the node of the graph that was instantiated, or of a graph in it.
 * `nodeParams`  as for ptxiGraphNodeSetParams.
 * @return as ptxiGraphNodeSetParams; PTXI_ERROR_INVALID_VALUE also if the instance has no copy of the node;
 *         PTXI_ERROR_GRAPH_EXEC_UPDATE_FAILURE for a child graph of another shape.
 *  Source: cuGraphExecNodeSetParams. */
PTXI_API ptxiResult ptxiGraphExecNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                               ptxiGraphNodeParams *nodeParams);

/*! ptxiGraphExecKernelNodeSetParams() :
 *  Replaces the parameters of an instance's kernel node. Its attributes stay. `hNode` as for
 *  ptxiGraphExecNodeSetParams.
 * @return as ptxiGraphKernelNodeSetParams; PTXI_ERROR_INVALID_VALUE also if the instance has no copy of the node.
 *  Source: cuGraphExecKernelNodeSetParams. */
PTXI_API ptxiResult ptxiGraphExecKernelNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                                     const PTXI_KERNEL_NODE_PARAMS *nodeParams);

/*! ptxiGraphExecMemcpyNodeSetParams() :
 *  Replaces the parameters of an instance's copy node. `hNode` as for ptxiGraphExecNodeSetParams. `ctx` is ignored.
 * @return as ptxiGraphMemcpyNodeSetParams; PTXI_ERROR_INVALID_VALUE also if the instance has no copy of the node.
 *  Source: cuGraphExecMemcpyNodeSetParams. */
PTXI_API ptxiResult ptxiGraphExecMemcpyNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                                     const PTXI_MEMCPY3D *copyParams, ptxiContext ctx);

/*! ptxiGraphExecMemsetNodeSetParams() :
 *  Replaces the parameters of an instance's fill node. `hNode` as for ptxiGraphExecNodeSetParams. `ctx` is ignored.
 * @return as ptxiGraphMemsetNodeSetParams; PTXI_ERROR_INVALID_VALUE also if the instance has no copy of the node.
 *  Source: cuGraphExecMemsetNodeSetParams. */
PTXI_API ptxiResult ptxiGraphExecMemsetNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                                     const PTXI_MEMSET_NODE_PARAMS *memsetParams, ptxiContext ctx);

/*! ptxiGraphExecHostNodeSetParams() :
 *  Replaces the function of an instance's host node. `hNode` as for ptxiGraphExecNodeSetParams.
 * @return as ptxiGraphHostNodeSetParams; PTXI_ERROR_INVALID_VALUE also if the instance has no copy of the node.
 *  Source: cuGraphExecHostNodeSetParams. */
PTXI_API ptxiResult ptxiGraphExecHostNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                                   const PTXI_HOST_NODE_PARAMS *nodeParams);

/*! ptxiGraphExecChildGraphNodeSetParams() :
 *  Replaces the parameters of an instance's child graph by those of another graph, as ptxiGraphExecUpdate. `hNode` as
 *  for ptxiGraphExecNodeSetParams.
 * @return as ptxiGraphExecUpdate, or PTXI_ERROR_INVALID_VALUE for a node of another type or if the instance has no copy
 *         of it.
 *  Source: cuGraphExecChildGraphNodeSetParams. */
PTXI_API ptxiResult ptxiGraphExecChildGraphNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                                         ptxiGraph childGraph);

/*! ptxiGraphLaunch() :
 *  Queues the work of an instance in a stream, where it runs node by node in an order that the dependencies allow. The
 *  instance may be changed or destroyed after the call. If it has conditional nodes, the call waits for the stream
 *  before it begins and before each conditional node, to read the condition; such an instance cannot be launched into a
 *  stream under capture.
 * @return PTXI_SUCCESS, or the errors of the calls for the single nodes, such as ptxiLaunchKernelEx and
 *         ptxiMemcpy3DAsync. Nodes before the error stay queued.
 *  Source: cuGraphLaunch. */
PTXI_API ptxiResult ptxiGraphLaunch(ptxiGraphExec hGraphExec, ptxiStream hStream);

/*! ptxiGraphDebugDotPrint() :
 *  Writes a graph as text for Graphviz, with a cluster for each graph in it.
 * `path`   name of the file.
 * `flags`  PTXI_GRAPH_DEBUG_DOT_FLAGS_...; 0: types and kernels only.
 * @return PTXI_SUCCESS, or PTXI_ERROR_OPERATING_SYSTEM if the file cannot be written.
 *  Source: cuGraphDebugDotPrint. */
PTXI_API ptxiResult ptxiGraphDebugDotPrint(ptxiGraph hGraph, const char *path, unsigned flags);

/*! ptxiUserObjectCreate() :
 *  Creates a count of references to an object of the program, such as memory that kernels of a graph use. The graph,
 *  its copies and instances, and their launches that have not ended, keep references to it. When the last reference is
 *  released, a thread of the library calls `destroy`, which may call no function of the library but those for errors.
 * `ptr`              argument of `destroy`.
 * `initialRefcount`  references of the caller, at least 1.
 * `flags`            PTXI_USER_OBJECT_NO_DESTRUCTOR_SYNC.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for another count or flag, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuUserObjectCreate. */
PTXI_API ptxiResult ptxiUserObjectCreate(ptxiUserObject *object_out, void *ptr, ptxiHostFn destroy,
                                         unsigned initialRefcount, unsigned flags);

/*! ptxiUserObjectRetain() :
 *  Adds references of the caller.
 * `count`  at least 1.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for another count or an invalid object.
 *  Source: cuUserObjectRetain. */
PTXI_API ptxiResult ptxiUserObjectRetain(ptxiUserObject object, unsigned count);

/*! ptxiUserObjectRelease() :
 *  Releases references of the caller.
 * `count`  1 to the number of references that the caller has.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for another count or an invalid object.
 *  Source: cuUserObjectRelease. */
PTXI_API ptxiResult ptxiUserObjectRelease(ptxiUserObject object, unsigned count);

/*! ptxiGraphRetainUserObject() :
 *  Adds references of a graph to an object.
 * `count`  at least 1.
 * `flags`  0, or PTXI_GRAPH_USER_OBJECT_MOVE: they are references of the caller, who then no longer has them.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for another count or flag, or an invalid object.
 *  Source: cuGraphRetainUserObject. */
PTXI_API ptxiResult ptxiGraphRetainUserObject(ptxiGraph graph, ptxiUserObject object, unsigned count, unsigned flags);

/*! ptxiGraphReleaseUserObject() :
 *  Releases references of a graph to an object.
 * `count`  1 to the number of references that the graph has.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for another count or an invalid object.
 *  Source: cuGraphReleaseUserObject. */
PTXI_API ptxiResult ptxiGraphReleaseUserObject(ptxiGraph graph, ptxiUserObject object, unsigned count);

/*! ptxiGraphUpload() :
 *  Makes the present work of an instance that was made with PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH known to kernels,
 *  which launch it with cudaGraphLaunch. Does nothing for other instances.
 * `hStream` ignored.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE if a node has got work that kernels cannot launch, or
 *         PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuGraphUpload. */
PTXI_API ptxiResult ptxiGraphUpload(ptxiGraphExec hGraphExec, ptxiStream hStream);

/*! ptxiStreamBeginCapture() :
 *  Begins the capture of a stream. Work that is then queued in it does not run, but becomes nodes of a new graph, each
 *  after the one before: kernels, asynchronous copies and fills, host functions. Another stream joins the capture when
 *  it waits for an event that was recorded in the capture. Before EndCapture, the first stream must wait for it in the
 *  same way.
 * `mode`  GLOBAL and THREAD_LOCAL: the same thread must end the capture. RELAXED: any thread may. Calls that the driver
 *         forbids in a mode are not detected.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE               another mode
 *         PTXI_ERROR_ILLEGAL_STATE               the stream is being captured
 *         PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED  the legacy default stream
 *         PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_OUT_OF_MEMORY
 *         Calls that queue work in a captured stream also return PTXI_ERROR_STREAM_CAPTURE_INVALIDATED if an earlier
 *         call has
 *         invalidated the capture.
 *  Source: cuStreamBeginCapture. */
PTXI_API ptxiResult ptxiStreamBeginCapture(ptxiStream hStream, ptxiStreamCaptureMode mode);

/*! ptxiStreamBeginCaptureToGraph() :
 *  As ptxiStreamBeginCapture, but the nodes are added to a graph of the caller. ptxiStreamEndCapture returns that
 *  graph. If it fails, it destroys the graph, unless the graph belongs to a node. The graph cannot be destroyed before.
 * `dependencies`    `numDependencies` nodes of the graph, which end before the first captured nodes.
 * `dependencyData`  NULL, or zeros for each dependency.
 * @return as ptxiStreamBeginCapture; PTXI_ERROR_INVALID_VALUE also for invalid dependencies;
 *         PTXI_ERROR_ILLEGAL_STATE also for a graph that another capture uses; PTXI_ERROR_NOT_SUPPORTED for other data.
 *  Source: cuStreamBeginCaptureToGraph. */
PTXI_API ptxiResult ptxiStreamBeginCaptureToGraph(ptxiStream hStream, ptxiGraph hGraph,
                                                  const ptxiGraphNode *dependencies,
                                                  const ptxiGraphEdgeData *dependencyData, size_t numDependencies,
                                                  ptxiStreamCaptureMode mode);

/*! ptxiStreamUpdateCaptureDependencies() :
 *  Changes the nodes that the next node of a stream under capture will depend on.
 * `dependencies`    `numDependencies` nodes of the captured graph; NULL if there are none.
 * `dependencyData`  NULL, or zeros for each dependency.
 * `flags`           PTXI_STREAM_ADD_CAPTURE_DEPENDENCIES or PTXI_STREAM_SET_CAPTURE_DEPENDENCIES.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE  other flags, or nodes of another graph
 *         PTXI_ERROR_ILLEGAL_STATE  the stream is not being captured
 *         PTXI_ERROR_STREAM_CAPTURE_INVALIDATED  an earlier call invalidated the capture
 *         PTXI_ERROR_NOT_SUPPORTED  other data
 *         PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuStreamUpdateCaptureDependencies. */
PTXI_API ptxiResult ptxiStreamUpdateCaptureDependencies(ptxiStream hStream, ptxiGraphNode *dependencies,
                                                        const ptxiGraphEdgeData *dependencyData,
                                                        size_t numDependencies, unsigned flags);

/*! ptxiStreamEndCapture() :
 *  Ends the capture of a stream and returns the graph, which the caller owns. The capture ends also with an error,
 *  except for the first three below.
 * `phGraph`  output: the graph; NULL after an error. NULL is accepted if the capture adds to a graph of the program.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_ILLEGAL_STATE                the stream is not being captured
 *         PTXI_ERROR_STREAM_CAPTURE_UNMATCHED     the capture was begun in another stream
 *         PTXI_ERROR_STREAM_CAPTURE_WRONG_THREAD  the capture was begun by another thread, and its mode is not RELAXED
 *         PTXI_ERROR_STREAM_CAPTURE_UNJOINED      the first stream has not waited for all work of a stream that joined
 *         PTXI_ERROR_STREAM_CAPTURE_INVALIDATED   an earlier call invalidated the capture
 *         PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuStreamEndCapture. */
PTXI_API ptxiResult ptxiStreamEndCapture(ptxiStream hStream, ptxiGraph *phGraph);

/*! ptxiStreamIsCapturing() :
 *  Returns whether a stream is being captured.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuStreamIsCapturing. */
PTXI_API ptxiResult ptxiStreamIsCapturing(ptxiStream hStream, ptxiStreamCaptureStatus *captureStatus);

/*! ptxiStreamGetCaptureInfo() :
 *  Returns whether a stream is being captured, and details of an active capture.
 * `captureStatus_out`  output. The following outputs may be NULL, and are written only for an active capture.
 * `id_out`             output: number of the capture, unique in the process.
 * `graph_out`          output: the graph, which belongs to the capture.
 * `dependencies_out`, `edgeData_out`, `numDependencies_out`  output: the nodes that the next node of the stream will
 *                      depend on, and the data of these edges. The arrays belong to the capture and are valid until the
 *                      stream gets more work.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_LOSSY_QUERY: an edge has data, and there is
 *         `dependencies_out` but no `edgeData_out`.
 *  Source: cuStreamGetCaptureInfo. */
PTXI_API ptxiResult ptxiStreamGetCaptureInfo(ptxiStream hStream, ptxiStreamCaptureStatus *captureStatus_out,
                                             unsigned long long *id_out, ptxiGraph *graph_out,
                                             const ptxiGraphNode **dependencies_out,
                                             const ptxiGraphEdgeData **edgeData_out, size_t *numDependencies_out);

/*! ptxiThreadExchangeStreamCaptureMode() :
 *  Stores a capture mode for the calling thread and returns the previous one, at first GLOBAL. The mode has no effect.
 * `mode`  in and out.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for an invalid mode.
 *  Source: cuThreadExchangeStreamCaptureMode. */
PTXI_API ptxiResult ptxiThreadExchangeStreamCaptureMode(ptxiStreamCaptureMode *mode);

/* ---- tensor maps --------------------------------------------------------------------------------------------- */

/*! ptxiTensorMapEncodeTiled() :
 *  Describes a tensor in device memory and the boxes of it that cp.async.bulk.tensor copies. The map works with this
 *  library only.
 * `tensorMap`       output.
 * `tensorRank`      dimensions: 1 to 5; 3 to 5 with interleaving.
 * `globalAddress`   start of the tensor, a multiple of 16, and of 32 with PTXI_TENSOR_MAP_INTERLEAVE_32B.
 * `globalDim`       elements in each dimension, the innermost first: 1..2^32. A row of the innermost one has whole
 *                   bytes.
 * `globalStrides`   bytes from one element to the next, for dimensions 1 and up: less than 2^40, multiples as for the
 *                   address.
 * `boxDim`          elements of a box in each dimension: 1..256. A row of the box is a multiple of 16 bytes; with a
 *                   swizzle it is at most as long as the swizzle's span.
 * `elementStrides`  distance between copied elements in each dimension: 1..8. The first is used with interleaving only.
 * `interleave`      with 16 or 32 bytes, the first dimension counts units of that size and the last but one counts
 *                   slices.
 * `oobFill`         PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA for floating-point types only.
 *  PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B and PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B need rows of a multiple of 128
 *  elements, boxes with 128 of them, an address and strides that are multiples of 32 bytes, no interleaving, and no
 *  swizzle or one of 128 bytes without a flip.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for an argument out of range or not aligned, as the driver checks
 *         them; on devices before sm_100 also for types of 4 and 6 bits, and for swizzles with atoms above 16 bytes.
 *  Source: cuTensorMapEncodeTiled. */
PTXI_API ptxiResult ptxiTensorMapEncodeTiled(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType,
                                             uint32_t tensorRank, void *globalAddress, const uint64_t *globalDim,
                                             const uint64_t *globalStrides, const uint32_t *boxDim,
                                             const uint32_t *elementStrides, ptxiTensorMapInterleave interleave,
                                             ptxiTensorMapSwizzle swizzle, ptxiTensorMapL2promotion l2Promotion,
                                             ptxiTensorMapFloatOOBfill oobFill);

/*! ptxiTensorMapEncodeIm2col() :
 *  As ptxiTensorMapEncodeTiled, for copies in im2col mode: columns of pixels, each with some of its channels.
 * `tensorRank`        3 to 5: channels, one to three dimensions of pixels, and images.
 * `pixelBoxLowerCorner`, `pixelBoxUpperCorner`  tensorRank - 2 numbers each, the innermost dimension first: where
 *                     pixels begin, counted from the first pixel, and where they end, counted from the last one. They
 *                     are within -2^15..2^15-1, -2^7..2^7-1 and -2^4..2^4-1 for 3, 4 and 5 dimensions.
 * `channelsPerPixel`  1..256; a multiple of 16 bytes; with a swizzle at most as long as the swizzle's span.
 * `pixelsPerColumn`   1..1024.
 * @return as ptxiTensorMapEncodeTiled.
 *  Source: cuTensorMapEncodeIm2col. */
PTXI_API ptxiResult ptxiTensorMapEncodeIm2col(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType,
                                              uint32_t tensorRank, void *globalAddress, const uint64_t *globalDim,
                                              const uint64_t *globalStrides, const int *pixelBoxLowerCorner,
                                              const int *pixelBoxUpperCorner, uint32_t channelsPerPixel,
                                              uint32_t pixelsPerColumn, const uint32_t *elementStrides,
                                              ptxiTensorMapInterleave interleave, ptxiTensorMapSwizzle swizzle,
                                              ptxiTensorMapL2promotion l2Promotion, ptxiTensorMapFloatOOBfill oobFill);

/*! ptxiTensorMapEncodeIm2colWide() :
 *  As ptxiTensorMapEncodeIm2col, for the modes im2col::w and im2col::w::128, in which pixels follow each other only
 *  along their innermost dimension.
 * `pixelBoxLowerCornerWidth`, `pixelBoxUpperCornerWidth`  as the corners of ptxiTensorMapEncodeIm2col, for that
 *                    dimension: -2^15..2^15-1.
 * `pixelsPerColumn`  1..1024; ignored with PTXI_TENSOR_MAP_IM2COL_WIDE_MODE_W128, which has 128.
 * `interleave`       none.
 * `swizzle`          none, 64B, 128B or 128B_ATOM_32B.
 * @return as ptxiTensorMapEncodeTiled.
 *  Source: cuTensorMapEncodeIm2colWide. */
PTXI_API ptxiResult ptxiTensorMapEncodeIm2colWide(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType,
                                                  uint32_t tensorRank, void *globalAddress, const uint64_t *globalDim,
                                                  const uint64_t *globalStrides, int pixelBoxLowerCornerWidth,
                                                  int pixelBoxUpperCornerWidth, uint32_t channelsPerPixel,
                                                  uint32_t pixelsPerColumn, const uint32_t *elementStrides,
                                                  ptxiTensorMapInterleave interleave, ptxiTensorMapIm2ColWideMode mode,
                                                  ptxiTensorMapSwizzle swizzle, ptxiTensorMapL2promotion l2Promotion,
                                                  ptxiTensorMapFloatOOBfill oobFill);

/*! ptxiTensorMapReplaceAddress() :
 *  Replaces the address in a map that one of the calls above has made.
 * `globalAddress`  a multiple of 16 below 2^57, not 0.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if `tensorMap` is not a map, or for an invalid address.
 *  Source: cuTensorMapReplaceAddress. */
PTXI_API ptxiResult ptxiTensorMapReplaceAddress(ptxiTensorMap *tensorMap, void *globalAddress);

/* ---- textures and surfaces ----------------------------------------------------------------------------------- */

/*! ptxiArrayCreate() :
 *  Creates an array of one or two dimensions, as ptxiArray3DCreate without depth and flags.
 * @return as ptxiArray3DCreate.
 *  Source: cuArrayCreate. */
PTXI_API ptxiResult ptxiArrayCreate(ptxiArray *pHandle, const PTXI_ARRAY_DESCRIPTOR *pAllocateArray);

/*! ptxiArray3DCreate() :
 *  Creates an array, memory for texels, with the initial content of ptxiMemAlloc. The caller owns it; it ends with
 *  ptxiArrayDestroy or with the context.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE   a size, format, number of channels or combination of flags that the driver does
 *                                    not accept
 *         PTXI_ERROR_NOT_SUPPORTED   compressed blocks with PTXI_ARRAY3D_SURFACE_LDST
 *         PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuArray3DCreate. */
PTXI_API ptxiResult ptxiArray3DCreate(ptxiArray *pHandle, const PTXI_ARRAY3D_DESCRIPTOR *pAllocateArray);

/*! ptxiArrayDestroy() :
 *  Destroys an array. Waits for the context's work that uses it. Does nothing for a level of a mipmapped array.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuArrayDestroy. */
PTXI_API ptxiResult ptxiArrayDestroy(ptxiArray hArray);

/*! ptxiArrayGetDescriptor() :
 *  Returns width, height, format and channels of an array. A level of a mipmapped array has the sizes of that level.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuArrayGetDescriptor. */
PTXI_API ptxiResult ptxiArrayGetDescriptor(PTXI_ARRAY_DESCRIPTOR *pArrayDescriptor, ptxiArray hArray);

/*! ptxiArray3DGetDescriptor() :
 *  Returns the whole descriptor of an array. A level of a mipmapped array has the sizes of that level.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuArray3DGetDescriptor. */
PTXI_API ptxiResult ptxiArray3DGetDescriptor(PTXI_ARRAY3D_DESCRIPTOR *pArrayDescriptor, ptxiArray hArray);

/*! ptxiMipmappedArrayCreate() :
 *  Creates an array with mipmap levels. Each level is half as large as the one before in each dimension, except for
 *  layers. The caller owns it; it ends with ptxiMipmappedArrayDestroy or with the context.
 * `numMipmapLevels` clamped to 1 .. 1 + floor(log2(largest size)).
 * @return as ptxiArray3DCreate.
 *  Source: cuMipmappedArrayCreate. */
PTXI_API ptxiResult ptxiMipmappedArrayCreate(ptxiMipmappedArray *pHandle,
                                             const PTXI_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                             unsigned numMipmapLevels);

/*! ptxiMipmappedArrayGetLevel() :
 *  Returns the array of one level. It belongs to the mipmapped array.
 * `level` from 0, the largest level.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE if there is no such level.
 *  Source: cuMipmappedArrayGetLevel. */
PTXI_API ptxiResult ptxiMipmappedArrayGetLevel(ptxiArray *pLevelArray, ptxiMipmappedArray hMipmappedArray,
                                               unsigned level);

/*! ptxiMipmappedArrayDestroy() :
 *  Destroys a mipmapped array with its levels. Waits for the context's work that uses it.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuMipmappedArrayDestroy. */
PTXI_API ptxiResult ptxiMipmappedArrayDestroy(ptxiMipmappedArray hMipmappedArray);

/*! ptxiTexObjectCreate() :
 *  Creates a texture object, which kernels read with tex, tld4 and txq. Kernels receive the object as a .u64. The
 *  number is valid only in kernels and calls of the context in which it was created. Arrays and memory must live as
 *  long as the object is used. The caller owns the object; it ends with ptxiTexObjectDestroy or with the context.
 * `pResViewDesc` another format of the same bytes, or fewer levels or layers; NULL: the resource as it is.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_INVALID_VALUE   an invalid description, or one that the driver does not accept: unknown modes or
 *                                    flags, memory that is not allocated or not aligned (TEXTURE_ALIGNMENT,
 *                                    TEXTURE_PITCH_ALIGNMENT), or a view that does not fit the resource
 *         PTXI_ERROR_INVALID_HANDLE  an invalid array
 *         PTXI_ERROR_OUT_OF_MEMORY
 *  Source: cuTexObjectCreate. */
PTXI_API ptxiResult ptxiTexObjectCreate(ptxiTexObject *pTexObject, const PTXI_RESOURCE_DESC *pResDesc,
                                        const PTXI_TEXTURE_DESC *pTexDesc, const PTXI_RESOURCE_VIEW_DESC *pResViewDesc);

/*! ptxiTexObjectDestroy() :
 *  Destroys a texture object. Waits for the context's work.
 * `texObject` 0 does nothing.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if there is no such object in the current context.
 *  Source: cuTexObjectDestroy. */
PTXI_API ptxiResult ptxiTexObjectDestroy(ptxiTexObject texObject);

/*! ptxiTexObjectGetResourceDesc() :
 *  Returns the resource that a texture object was created with.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if there is no such object in the current context.
 *  Source: cuTexObjectGetResourceDesc. */
PTXI_API ptxiResult ptxiTexObjectGetResourceDesc(PTXI_RESOURCE_DESC *pResDesc, ptxiTexObject texObject);

/*! ptxiTexObjectGetTextureDesc() :
 *  Returns the sampling description that a texture object was created with.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if there is no such object in the current context.
 *  Source: cuTexObjectGetTextureDesc. */
PTXI_API ptxiResult ptxiTexObjectGetTextureDesc(PTXI_TEXTURE_DESC *pTexDesc, ptxiTexObject texObject);

/*! ptxiTexObjectGetResourceViewDesc() :
 *  Returns the view that a texture object was created with.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if there is no such object in the current context, or it has no
 *         view.
 *  Source: cuTexObjectGetResourceViewDesc. */
PTXI_API ptxiResult ptxiTexObjectGetResourceViewDesc(PTXI_RESOURCE_VIEW_DESC *pResViewDesc, ptxiTexObject texObject);

/*! ptxiSurfObjectCreate() :
 *  Creates a surface object, which kernels access with suld, sust and sured. Otherwise as ptxiTexObjectCreate. It
 *  should be an array with PTXI_ARRAY3D_SURFACE_LDST; like the driver, the call does not insist.
 * `pResDesc` an array; other resources are not accepted.
 * @return as ptxiTexObjectCreate.
 *  Source: cuSurfObjectCreate. */
PTXI_API ptxiResult ptxiSurfObjectCreate(ptxiSurfObject *pSurfObject, const PTXI_RESOURCE_DESC *pResDesc);

/*! ptxiSurfObjectDestroy() :
 *  Destroys a surface object, as ptxiTexObjectDestroy. Source: cuSurfObjectDestroy. */
PTXI_API ptxiResult ptxiSurfObjectDestroy(ptxiSurfObject surfObject);

/*! ptxiSurfObjectGetResourceDesc() :
 *  Returns the resource that a surface object was created with.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if there is no such object in the current context.
 *  Source: cuSurfObjectGetResourceDesc. */
PTXI_API ptxiResult ptxiSurfObjectGetResourceDesc(PTXI_RESOURCE_DESC *pResDesc, ptxiSurfObject surfObject);

/*! ptxiModuleGetTexRef() :
 *  Returns the .texref variable with this name. It lives as long as the module.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuModuleGetTexRef. */
PTXI_API ptxiResult ptxiModuleGetTexRef(ptxiTexRef *pTexRef, ptxiModule hmod, const char *name);

/*! ptxiModuleGetSurfRef() :
 *  Returns the .surfref variable with this name. It lives as long as the module.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuModuleGetSurfRef. */
PTXI_API ptxiResult ptxiModuleGetSurfRef(ptxiSurfRef *pSurfRef, ptxiModule hmod, const char *name);

/*! ptxiTexRefSetArray() :
 *  Binds a texture reference to an array, for launches made later. A new reference has nothing bound, clamps
 *  coordinates, which are not normalised, and filters by point.
 * `Flags`  0 or PTXI_TRSA_OVERRIDE_FORMAT; the format is always that of the array.
 * @return as ptxiTexObjectCreate; PTXI_ERROR_INVALID_HANDLE also for an invalid reference. An error keeps the old
 *         binding.
 *  Source: cuTexRefSetArray. */
PTXI_API ptxiResult ptxiTexRefSetArray(ptxiTexRef hTexRef, ptxiArray hArray, unsigned Flags);

/*! ptxiTexRefSetMipmappedArray() : As ptxiTexRefSetArray, for a mipmapped array. Source: cuTexRefSetMipmappedArray. */
PTXI_API ptxiResult ptxiTexRefSetMipmappedArray(ptxiTexRef hTexRef, ptxiMipmappedArray hMipmappedArray, unsigned Flags);

/*! ptxiTexRefSetAddress() :
 *  Binds a texture reference to one row of texels in device memory, with the format of ptxiTexRefSetFormat. The memory
 *  must live as long as it is bound.
 * `ByteOffset`     output: the distance of `dptr` from the last multiple of the device's TEXTURE_ALIGNMENT, where the
 *                  texture begins; may be NULL if the distance is 0.
 * `dptr`, `bytes`  both 0: nothing is bound any more.
 * @return as ptxiTexRefSetArray; PTXI_ERROR_INVALID_VALUE also if ByteOffset is NULL and the distance is not 0.
 *  Source: cuTexRefSetAddress. */
PTXI_API ptxiResult ptxiTexRefSetAddress(size_t *ByteOffset, ptxiTexRef hTexRef, ptxiDevicePtr dptr, size_t bytes);

/*! ptxiTexRefSetAddress2D() :
 *  Binds a texture reference to rows of texels in device memory, which must live as long as it is bound.
 * `desc`   width and height in texels, and format.
 * `Pitch`  bytes from one row to the next.
 * @return as ptxiTexRefSetArray.
 *  Source: cuTexRefSetAddress2D. */
PTXI_API ptxiResult ptxiTexRefSetAddress2D(ptxiTexRef hTexRef, const PTXI_ARRAY_DESCRIPTOR *desc, ptxiDevicePtr dptr,
                                           size_t Pitch);

/*! ptxiTexRefSetFormat() :
 *  Sets the format for the next ptxiTexRefSetAddress.
 * `NumPackedComponents`  channels: 1, 2 or 4.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for another number of channels and for
 *         formats that include one. If something is bound, also the errors of ptxiTexRefSetArray.
 *  Source: cuTexRefSetFormat. */
PTXI_API ptxiResult ptxiTexRefSetFormat(ptxiTexRef hTexRef, ptxiArrayFormat fmt, int NumPackedComponents);

/*! ptxiTexRefSetAddressMode() :
 *  Sets the mode for coordinates outside of the texture.
 * `dim`  0, 1 or 2: x, y or z.
 * @return as ptxiTexRefSetFormat; PTXI_ERROR_INVALID_VALUE for another dimension or mode.
 *  Source: cuTexRefSetAddressMode. */
PTXI_API ptxiResult ptxiTexRefSetAddressMode(ptxiTexRef hTexRef, int dim, ptxiAddressMode am);

/*! ptxiTexRefSetFilterMode() :
 *  Sets the filter within a level.
 * @return as ptxiTexRefSetFormat; PTXI_ERROR_INVALID_VALUE for another mode.
 *  Source: cuTexRefSetFilterMode. */
PTXI_API ptxiResult ptxiTexRefSetFilterMode(ptxiTexRef hTexRef, ptxiFilterMode fm);

/*! ptxiTexRefSetMipmapFilterMode() :
 *  Sets the filter between levels.
 * @return as ptxiTexRefSetFormat; PTXI_ERROR_INVALID_VALUE for another mode.
 *  Source: cuTexRefSetMipmapFilterMode. */
PTXI_API ptxiResult ptxiTexRefSetMipmapFilterMode(ptxiTexRef hTexRef, ptxiFilterMode fm);

/*! ptxiTexRefSetMipmapLevelBias() :
 *  Sets the number of levels that is added to the computed level.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE. If something is bound, also the errors of ptxiTexRefSetArray.
 *  Source: cuTexRefSetMipmapLevelBias. */
PTXI_API ptxiResult ptxiTexRefSetMipmapLevelBias(ptxiTexRef hTexRef, float bias);

/*! ptxiTexRefSetMipmapLevelClamp() :
 *  Sets the range of levels that are read.
 * @return as ptxiTexRefSetMipmapLevelBias.
 *  Source: cuTexRefSetMipmapLevelClamp. */
PTXI_API ptxiResult ptxiTexRefSetMipmapLevelClamp(ptxiTexRef hTexRef, float minMipmapLevelClamp,
                                                  float maxMipmapLevelClamp);

/*! ptxiTexRefSetMaxAnisotropy() :
 *  Sets the largest ratio of anisotropic filtering. PTXI_TEXTURE_DESC has the effective values.
 * @return as ptxiTexRefSetMipmapLevelBias.
 *  Source: cuTexRefSetMaxAnisotropy. */
PTXI_API ptxiResult ptxiTexRefSetMaxAnisotropy(ptxiTexRef hTexRef, unsigned maxAniso);

/*! ptxiTexRefSetBorderColor() :
 *  Sets the colour of texels outside of the texture, for PTXI_TR_ADDRESS_MODE_BORDER.
 * `pBorderColor`  4 channels.
 * @return as ptxiTexRefSetMipmapLevelBias.
 *  Source: cuTexRefSetBorderColor. */
PTXI_API ptxiResult ptxiTexRefSetBorderColor(ptxiTexRef hTexRef, float *pBorderColor);

/*! ptxiTexRefSetFlags() :
 *  Sets the flags of a texture reference.
 * `Flags`  PTXI_TRSF_...
 * @return as ptxiTexRefSetMipmapLevelBias, or PTXI_ERROR_INVALID_VALUE for unknown flags.
 *  Source: cuTexRefSetFlags. */
PTXI_API ptxiResult ptxiTexRefSetFlags(ptxiTexRef hTexRef, unsigned Flags);

/*! ptxiTexRefCreate() :
 *  Creates a texture reference that no kernel can read. It can be set and queried. The caller owns it; it ends with
 *  ptxiTexRefDestroy or with the context.
 * @return PTXI_SUCCESS, or PTXI_ERROR_OUT_OF_MEMORY.
 *  Source: cuTexRefCreate. */
PTXI_API ptxiResult ptxiTexRefCreate(ptxiTexRef *pTexRef);

/*! ptxiTexRefDestroy() :
 *  Destroys a texture reference of ptxiTexRefCreate. Does nothing for those of modules.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuTexRefDestroy. */
PTXI_API ptxiResult ptxiTexRefDestroy(ptxiTexRef hTexRef);

/*! ptxiTexRefGetAddress() :
 *  Returns the device address that a texture reference was bound to last, or 0 after it was unbound.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE if it is bound to an array or was never
 *         bound.
 *  Source: cuTexRefGetAddress. */
PTXI_API ptxiResult ptxiTexRefGetAddress(ptxiDevicePtr *pdptr, ptxiTexRef hTexRef);

/*! ptxiTexRefGetArray() :
 *  Returns the array that a texture reference is bound to.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE if it is not bound to an array.
 *  Source: cuTexRefGetArray. */
PTXI_API ptxiResult ptxiTexRefGetArray(ptxiArray *phArray, ptxiTexRef hTexRef);

/*! ptxiTexRefGetMipmappedArray() :
 *  Returns the mipmapped array that a texture reference is bound to.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE if it is not bound to a mipmapped array.
 *  Source: cuTexRefGetMipmappedArray. */
PTXI_API ptxiResult ptxiTexRefGetMipmappedArray(ptxiMipmappedArray *phMipmappedArray, ptxiTexRef hTexRef);

/*! ptxiTexRefGetFormat() :
 *  Returns the format and the number of channels of ptxiTexRefSetFormat, at first FLOAT and 1. Either output may be
 *  NULL.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuTexRefGetFormat. */
PTXI_API ptxiResult ptxiTexRefGetFormat(ptxiArrayFormat *pFormat, int *pNumChannels, ptxiTexRef hTexRef);

/*! ptxiTexRefGetAddressMode() :
 *  Returns the mode for coordinates outside of the texture, at first CLAMP.
 * `dim`  0, 1 or 2: x, y or z.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE for another dimension.
 *  Source: cuTexRefGetAddressMode. */
PTXI_API ptxiResult ptxiTexRefGetAddressMode(ptxiAddressMode *pam, ptxiTexRef hTexRef, int dim);

/*! ptxiTexRefGetFilterMode() :
 *  Returns the filter within a level, at first POINT.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuTexRefGetFilterMode. */
PTXI_API ptxiResult ptxiTexRefGetFilterMode(ptxiFilterMode *pfm, ptxiTexRef hTexRef);

/*! ptxiTexRefGetMipmapFilterMode() :
 *  Returns the filter between levels, at first POINT.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuTexRefGetMipmapFilterMode. */
PTXI_API ptxiResult ptxiTexRefGetMipmapFilterMode(ptxiFilterMode *pfm, ptxiTexRef hTexRef);

/*! ptxiTexRefGetMipmapLevelBias() :
 *  Returns the number of levels that is added to the computed level, at first 0.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuTexRefGetMipmapLevelBias. */
PTXI_API ptxiResult ptxiTexRefGetMipmapLevelBias(float *pbias, ptxiTexRef hTexRef);

/*! ptxiTexRefGetMipmapLevelClamp() :
 *  Returns the range of levels that are read, at first 0 to 1000.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuTexRefGetMipmapLevelClamp. */
PTXI_API ptxiResult ptxiTexRefGetMipmapLevelClamp(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp,
                                                  ptxiTexRef hTexRef);

/*! ptxiTexRefGetMaxAnisotropy() :
 *  Returns the largest ratio of anisotropic filtering, at first 0.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuTexRefGetMaxAnisotropy. */
PTXI_API ptxiResult ptxiTexRefGetMaxAnisotropy(int *pmaxAniso, ptxiTexRef hTexRef);

/*! ptxiTexRefGetBorderColor() :
 *  Returns the colour of texels outside of the texture, at first zeros.
 * `pBorderColor`  output: 4 channels.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuTexRefGetBorderColor. */
PTXI_API ptxiResult ptxiTexRefGetBorderColor(float *pBorderColor, ptxiTexRef hTexRef);

/*! ptxiTexRefGetFlags() :
 *  Returns the flags of a texture reference, at first 0.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_HANDLE.
 *  Source: cuTexRefGetFlags. */
PTXI_API ptxiResult ptxiTexRefGetFlags(unsigned *pFlags, ptxiTexRef hTexRef);

/*! ptxiSurfRefSetArray() :
 *  Binds a surface reference to an array, for launches made later.
 * `Flags` 0.
 * @return as ptxiSurfObjectCreate; PTXI_ERROR_INVALID_HANDLE also for an invalid reference, PTXI_ERROR_INVALID_VALUE
 *         for other flags.
 *  Source: cuSurfRefSetArray. */
PTXI_API ptxiResult ptxiSurfRefSetArray(ptxiSurfRef hSurfRef, ptxiArray hArray, unsigned Flags);

/*! ptxiSurfRefGetArray() :
 *  Returns the array that a surface reference is bound to.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE if nothing is bound.
 *  Source: cuSurfRefGetArray. */
PTXI_API ptxiResult ptxiSurfRefGetArray(ptxiArray *phArray, ptxiSurfRef hSurfRef);

/* ---- what a driver does not have ----------------------------------------------------------------------------- */

/*! ptxiGetVersion() : Returns PTXI_VERSION of the library in use. Works before ptxiInit. */
PTXI_API ptxiResult ptxiGetVersion(int *version);

/*! ptxiDeviceSetProfile() :
 *  Selects the GPU that the device imitates: its attributes, and the bits of results in which GPUs differ. Applies to
 *  contexts that are created later. The first profile is that of the environment variable PTXI_DEVICE, which lists one
 *  for each device ("sm_90,sm_80"), or sm_90.
 * `name` "sm_90", "sm_80", ...: a target of the PTX ISA, with or without its suffix a or f.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_DEVICE for an unknown name. */
PTXI_API ptxiResult ptxiDeviceSetProfile(ptxiDevice dev, const char *name);

/*! ptxiDeviceGetProfile() :
 *  Copies the name of the current profile, such as "sm_90".
 * `len` size of `name` in bytes. A longer text is truncated. The result always ends with a NUL.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_DEVICE, or PTXI_ERROR_INVALID_VALUE if len < 1. */
PTXI_API ptxiResult ptxiDeviceGetProfile(char *name, int len, ptxiDevice dev);

/*! ptxiDeviceEnumerateProfile() :
 *  Returns the name of the profile with this index, from 0. `*name` is static. Works before ptxiInit.
 * @return PTXI_SUCCESS, or PTXI_ERROR_NOT_FOUND if there is no profile with this index. */
PTXI_API ptxiResult ptxiDeviceEnumerateProfile(const char **name, unsigned index);

/*! ptxiCtxSetWorkers() :
 *  Sets the number of host threads that run the context's kernels. Results do not depend on it. Launches made before
 *  keep their workers until they end; the call does not wait for them. The number for new contexts is that of the
 *  environment variable PTXI_WORKERS, or the number of the host's processors.
 * `ctx`     NULL: the current context.
 * `workers` 1..1024, or 0: the number for new contexts.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_VALUE for a larger number, PTXI_ERROR_INVALID_CONTEXT, or
 *         PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiCtxSetWorkers(ptxiContext ctx, unsigned workers);

/*! ptxiCtxGetWorkers() :
 *  Returns the number of host threads that run the context's kernels, and starts them if they do not exist yet.
 * `ctx`     NULL: the current context.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiCtxGetWorkers(ptxiContext ctx, unsigned *workers);

/*! ptxiCtxSetOutput() :
 *  Sets where the output of device-side printf goes. Failed assertions are always printed to stderr, as with CUDA.
 * `ctx`  NULL: the current context.
 * `sink` NULL: stdout (default). It is called by threads of the library, one call at a time for each context, before
 *        the launch counts as ended. `text` has `length` bytes without a NUL. It must not call ptxi functions.
 * `user` first argument of `sink`; belongs to the caller.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxSetOutput(ptxiContext ctx, void (*sink)(void *user, const char *text, size_t length),
                                     void *user);

/*! ptxiCtxSetProgress() :
 *  Sets a function that reports the progress of launches made later.
 * `ctx`    NULL: the current context.
 * `report` NULL: no reports (default). It is called about ten times a second by a thread that runs the kernel, not for
 *          short kernels and not at the end. `blocksDone` of `blocks` blocks of one launch have ended. It must not call
 *          ptxi functions.
 * `user`   first argument of `report`; belongs to the caller.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxSetProgress(ptxiContext ctx, void (*report)(void *user, unsigned long long blocksDone,
                                                                       unsigned long long blocks), void *user);

/*! ptxiCtxInterrupt() :
 *  Ends launches from another thread. Launches that were made before the call, and are running or queued, fail with
 *  PTXI_ERROR_LAUNCH_TIMEOUT, together with everything that their kernels have launched or requested. So does
 *  ptxiGraphLaunch in the loop of a conditional node, and a wait of ptxiStreamWaitValue32 and 64. Other queued work and
 *  later launches are not affected. The call does not wait; a host function that is running ends first. It also works
 *  while another thread is destroying the context.
 * `ctx`  NULL: the current context.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, or PTXI_ERROR_CONTEXT_IS_DESTROYED if the current context has been
 *         destroyed. */
PTXI_API ptxiResult ptxiCtxInterrupt(ptxiContext ctx);

/*! ptxiCtxSetChecking() :
 *  Turns the checks of kernels' memory accesses on or off, for launches made later. Without them a kernel may read and
 *  write all memory of the process, and an invalid access may end the process.
 * `ctx`  NULL: the current context.
 * `on`   0: off; other values: on (default).
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxSetChecking(ptxiContext ctx, int on);

/* The effect of an invalid memory access of a kernel; see ptxiCtxSetOnFault(). */
typedef enum ptxiOnFault {
    PTXI_ON_FAULT_FAIL = 0,   /* the launch fails */
    PTXI_ON_FAULT_REPORT = 1  /* the thread continues */
} ptxiOnFault;

/*! ptxiCtxSetOnFault() :
 *  Sets what happens when a thread of a launch made later makes an invalid memory access. With PTXI_ON_FAULT_REPORT the
 *  thread continues, for programs that work on a GPU in spite of such accesses, because a GPU checks whole pages only.
 *  A load returns 0 in the bytes that are not accessible, a store or an atomic operation has no effect there, and an
 *  atomic operation returns 0. The launch succeeds.
 *
 *  This applies to ld, st, atom, red and the sources of cp.async without .bulk, which access memory out of bounds or
 *  freed memory, write to constant or read-only memory, or go beyond the block's shared memory or the thread's local
 *  memory. All other failures still fail the launch: null pointers, misaligned addresses and memory of another device,
 *  which a GPU always notices, and accesses of other instructions, of textures and of functions such as printf.
 *
 *  Reports are written to stderr when a launch ends: one for the first access of each instruction, for up to 10
 *  instructions of a module, and then a line with the number of accesses. Later launches of the module write only what
 *  is new. Another line with the number of all accesses follows when the module is unloaded. ptxiGetLastReport returns
 *  the first new report of the launch that ended last, although the launch succeeds. The value for new contexts is that
 *  of the environment variable PTXI_ON_FAULT, `fail` or `report`.
 * `ctx`     NULL: the current context.
 * `onFault` PTXI_ON_FAULT_FAIL is the default.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, or PTXI_ERROR_INVALID_VALUE for another value. */
PTXI_API ptxiResult ptxiCtxSetOnFault(ptxiContext ctx, ptxiOnFault onFault);

/*! ptxiCtxGetOnFault() :
 *  Returns the value of ptxiCtxSetOnFault.
 * `ctx`     NULL: the current context.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxGetOnFault(ptxiContext ctx, ptxiOnFault *onFault);

/*! ptxiCtxGetFailureCount() :
 *  Returns how many launches of the context have failed while they ran, whether or not a call has returned their
 *  failures. On a GPU the first of them makes the context unusable: all later calls return its result. A caller that
 *  imitates this asks here; the library itself keeps contexts usable. The call does not wait.
 * `ctx`   NULL: the current context.
 * `count` output: the number since the context was created, or retained again after its release or reset.
 * `first` output: the result of the first one, or PTXI_SUCCESS; may be NULL.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxGetFailureCount(ptxiContext ctx, unsigned long long *count, ptxiResult *first);

/*! ptxiCtxSetDialect() :
 *  Sets the syntax beyond the PTX ISA that modules loaded later, and templates of ptxiAsm, may use.
 * `ctx`     NULL: the current context.
 * `dialect` bits of ptxiDialect; PTXI_DIALECT_NONE is the default.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, or PTXI_ERROR_INVALID_VALUE for unknown bits. */
PTXI_API ptxiResult ptxiCtxSetDialect(ptxiContext ctx, unsigned dialect);

/* Orders for ptxiCtxSetSchedule(). */
#define PTXI_SCHEDULE_RUN 0
#define PTXI_SCHEDULE_FAIR 18446744073709551615ULL

/*! ptxiCtxSetSchedule() :
 *  Sets the order in which the threads of launches made later run: the fastest one, a fair one, or a random one.
 *
 *  PTXI_SCHEDULE_RUN is the default and the fastest. A warp runs until it waits, and a block until all of its warps
 *  wait. A warp that overwrites data without a barrier may therefore do so before other warps have read it.
 *
 *  PTXI_SCHEDULE_FAIR lets all warps of a block advance together, as a GPU does. A warp runs 8 instructions, or up to a
 *  load, then the next warp of the block runs. After 8 such rounds the next block runs. All blocks that can be resident
 *  begin together. Programs that work on a GPU only because other warps read a word before it is overwritten give the
 *  same results here. Grids with many blocks take two to three times as long. With one worker a run repeats exactly.
 *
 *  Any other number is the seed of a random order, which finds programs that depend on the order. The following is
 *  random: which block, warp and lanes run next, and after how many instructions; when each asynchronous copy is done,
 *  from soon after the request to the last moment, in any order; how often a wait at an mbarrier returns false; and
 *  whether a store takes effect after a later load from another address. Data that a bulk copy writes need not be there
 *  after cp.async.bulk.wait_group.read, and a thread must not arrive at an mbarrier after mbarrier.inval. The PTX ISA
 *  allows all of this. With one worker a run repeats exactly for the same seed and the same launches before it. With
 *  more workers, what happens inside of a cluster repeats, unless it depends on other clusters.
 *
 *  In the first two orders, copies are done as late as possible. The order for new contexts is that of the environment
 *  variable PTXI_SCHED: `run`, `fair` or `seed:N`, where N is a number as for this call. If PTXI_SCHED is not set or
 *  has another value, PTXI_SCHED_SEED=N means PTXI_SCHED=seed:N.
 * `ctx`  NULL: the current context.
 * `seed` PTXI_SCHEDULE_RUN, PTXI_SCHEDULE_FAIR, or a seed.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxSetSchedule(ptxiContext ctx, unsigned long long seed);

/*! ptxiCtxGetSchedule() :
 *  Returns the order of ptxiCtxSetSchedule.
 * `ctx`  NULL: the current context.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxGetSchedule(ptxiContext ctx, unsigned long long *seed);

/* How launches execute kernels, for ptxiCtxSetTier(). */
typedef enum ptxiTier {
    PTXI_TIER_AUTO = 0,        /* functions that run often are compiled to machine code */
    PTXI_TIER_INTERPRETER = 1, /* nothing is compiled */
    PTXI_TIER_NATIVE = 2       /* every function is compiled before it runs */
} ptxiTier;

/*! ptxiCtxSetTier() :
 *  Sets whether launches made later run machine code that the library makes of kernels. Results, reports and limits do
 *  not depend on the tier.
 *
 *  Machine code is for hosts with AVX2 or AVX-512. Other hosts, systems that refuse executable memory, and launches
 *  with sanitizers, counters, or another schedule than PTXI_SCHEDULE_RUN use the interpreter whatever the tier is. The
 *  tier of new contexts is that of the environment variable PTXI_TIER: `auto` (the default), `interpreter` or `native`.
 * `ctx`  NULL: the current context.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, or PTXI_ERROR_INVALID_VALUE for an unknown tier. */
PTXI_API ptxiResult ptxiCtxSetTier(ptxiContext ctx, ptxiTier tier);

/*! ptxiCtxGetTier() :
 *  Returns the tier of ptxiCtxSetTier.
 * `ctx`  NULL: the current context.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, or PTXI_ERROR_INVALID_VALUE if `tier` is NULL. */
PTXI_API ptxiResult ptxiCtxGetTier(ptxiContext ctx, ptxiTier *tier);

enum { PTXI_RANGE_READ = 1, PTXI_RANGE_WRITE = 2 };

/*! ptxiMemOpenRange() :
 *  Lets kernels of all contexts use memory of the caller, at the same address. In contrast to ptxiMemHostRegister, the
 *  range belongs to no context, and copies treat it as other host memory.
 * `flags` PTXI_RANGE_READ, PTXI_RANGE_WRITE or both; atomics need both.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for an empty range, other flags, or a range that overlaps memory
 *         known to the device, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiMemOpenRange(void *base, size_t bytes, unsigned flags);

/*! ptxiMemCloseRange() :
 *  Ends ptxiMemOpenRange. Waits until no kernel, copy or stream is accessing the memory, with the exceptions of
 *  ptxiMemHostUnregister. The caller may then free it. Later accesses of kernels fail.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if no range was opened at `base`. */
PTXI_API ptxiResult ptxiMemCloseRange(void *base);

/* A range for ptxiMemOpenRanges(). */
typedef struct ptxiRange {
    void *base;
    size_t bytes;
    unsigned flags; /* PTXI_RANGE_READ, PTXI_RANGE_WRITE or both */
} ptxiRange;

/*! ptxiMemOpenRanges() :
 *  Opens several ranges, as ptxiMemOpenRange does. They may overlap each other, and those of other calls of this
 *  function, ptxiLaunchAndWait and ptxiLaunchAsync. A range may stay open until all ranges that overlap it are closed.
 *  Empty ranges, and ranges of memory that kernels can use already, are left out. If the call fails, it opens nothing.
 * `ranges` `count` of them, at most 4096.
 * `id`     A number for ptxiMemCloseRanges.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for other flags, too many ranges, or a range that overlaps other
 *         memory known to the device, or PTXI_ERROR_HOST_MEMORY_ALREADY_REGISTERED if a range needs more permissions
 *         than an open range that it overlaps, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiMemOpenRanges(const ptxiRange *ranges, unsigned count, unsigned long long *id);

/*! ptxiMemCloseRanges() :
 *  Ends ptxiMemOpenRanges. For memory that nobody has open any more, this waits as ptxiMemCloseRange does.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if no ranges have this number. */
PTXI_API ptxiResult ptxiMemCloseRanges(unsigned long long id);

/* A launch for ptxiLaunchAndWait() and ptxiLaunchAsync(). */
typedef struct ptxiDirectLaunch {
    size_t size;                    /* sizeof(ptxiDirectLaunch) */
    ptxiContext ctx;                /* the context of the kernel; NULL: the current context */
    const ptxiLaunchConfig *config;
    ptxiFunction f;
    const void *params;             /* the parameters in one buffer; ptxiFuncGetParam() returns their offsets */
    size_t paramBytes;
    const ptxiRange *ranges;        /* rangeCount of them, as for ptxiMemOpenRanges() */
    unsigned rangeCount;
    int launched;                   /* output: nonzero if the kernel was queued */
    unsigned long long number;      /* output, if it was queued: its number among the work of its stream */
    unsigned long long ended;       /* output, if it was queued: the stream's work up to this number had ended before */
} ptxiDirectLaunch;

/*! ptxiLaunchAndWait() :
 *  Opens ranges of memory, launches a kernel, waits for its stream and closes the ranges, as ptxiMemOpenRanges,
 *  ptxiLaunchKernelEx, ptxiStreamSynchronize and ptxiMemCloseRanges do. One call costs less than four, and no other
 *  thread is woken. The current context is the same after the call.
 * @return PTXI_SUCCESS, or an error of the four calls. If the kernel was queued, it is one of the wait. */
PTXI_API ptxiResult ptxiLaunchAndWait(ptxiDirectLaunch *launch);

/* Lets another thread end waits of one thread, and only those that began before it was told to. It is told by a message
 * that makes a file descriptor readable, such as a pipe to which a signal handler writes. The other thread alone reads
 * the messages. It polls the descriptor, calls ptxiWatchGetWait, reads the message, and calls ptxiWatchInterrupt with
 * the number. Messages that have not been read keep waits from beginning. */
typedef struct ptxiWatch {
    int fd;                    /* the descriptor; -1: none */
    ptxiContext ctx;           /* the context that the thread waits for, or NULL; NULL at first */
    unsigned long long number; /* of the last wait; 0 at first */
} ptxiWatch;

/*! ptxiWatchBegin() :
 *  Begins a wait, which ptxiWatchEnd ends.
 * `ctx` the context whose kernels ptxiWatchInterrupt may end.
 * @return PTXI_SUCCESS, or PTXI_ERROR_NOT_READY if there is a message, or PTXI_ERROR_INVALID_VALUE for NULL. */
PTXI_API ptxiResult ptxiWatchBegin(ptxiWatch *watch, ptxiContext ctx);

/*! ptxiWatchEnd() :
 *  Ends a wait. `outer` is the context that the watch had before ptxiWatchBegin: that of a wait inside which this one
 *  began, or NULL.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if `watch` is NULL. */
PTXI_API ptxiResult ptxiWatchEnd(ptxiWatch *watch, ptxiContext outer);

/*! ptxiWatchGetWait() :
 *  Returns the number of the current wait, or 0 if there is none.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE for NULL. */
PTXI_API ptxiResult ptxiWatchGetWait(const ptxiWatch *watch, unsigned long long *number);

/*! ptxiWatchInterrupt() :
 *  Calls ptxiCtxInterrupt for the context of the wait with the number, unless the wait has ended.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_VALUE if `watch` is NULL, or an error of ptxiCtxInterrupt. */
PTXI_API ptxiResult ptxiWatchInterrupt(ptxiWatch *watch, unsigned long long number);

/*! ptxiLaunchWatched() :
 *  As ptxiLaunchAndWait, between ptxiWatchBegin and ptxiWatchEnd.
 * `watch` NULL: as ptxiLaunchAndWait.
 * @return as ptxiLaunchAndWait, or PTXI_ERROR_NOT_READY without a launch if there is a message. */
PTXI_API ptxiResult ptxiLaunchWatched(ptxiDirectLaunch *launch, ptxiWatch *watch);

/*! ptxiLaunchAsync() :
 *  Opens ranges of memory and launches a kernel, as ptxiLaunchAndWait, but does not wait. The ranges are closed when
 *  the kernel has ended, or when it is dropped because earlier work of its stream failed. Until then the memory must
 *  remain valid. The numbers in the structure tell later which launches have ended.
 * @return PTXI_SUCCESS, or an error of ptxiMemOpenRanges or ptxiLaunchKernelEx, or
 *         PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED if there are ranges and the stream is under capture. */
PTXI_API ptxiResult ptxiLaunchAsync(ptxiDirectLaunch *launch);

/* Cause of a failure of a kernel. Comments begin with the result that a call returns for it. */
typedef enum ptxiFault {
    PTXI_FAULT_NONE = 0,
    PTXI_FAULT_OUT_OF_BOUNDS = 1,             /* ILLEGAL_ADDRESS: access outside of all allocations */
    PTXI_FAULT_NULL = 2,                      /* ILLEGAL_ADDRESS: access at or near address 0 */
    PTXI_FAULT_FREED = 3,                     /* ILLEGAL_ADDRESS: access to freed memory */
    PTXI_FAULT_READ_ONLY = 4,                 /* ILLEGAL_ADDRESS: write to constant or read-only memory */
    PTXI_FAULT_OTHER_BLOCK_SHARED = 5,        /* ILLEGAL_ADDRESS: access outside of the block's shared memory;
                                                 ILLEGAL_INSTRUCTION: to shared memory of another block;
                                                 LAUNCH_FAILED: to a block that the cluster does not have */
    PTXI_FAULT_OTHER_THREAD_LOCAL = 6,        /* ILLEGAL_ADDRESS: access outside of the thread's local memory */
    PTXI_FAULT_MISALIGNED = 7,                /* MISALIGNED_ADDRESS */
    PTXI_FAULT_ADDRESS_SPACE = 8,             /* INVALID_ADDRESS_SPACE: the instruction does not accept the space */
    PTXI_FAULT_TRAP = 9,                      /* LAUNCH_FAILED: trap or brkpt */
    PTXI_FAULT_ASSERT = 10,                   /* ASSERT: __assertfail */
    PTXI_FAULT_DEADLOCK = 11,                 /* LAUNCH_FAILED: threads wait, and no thread can run */
    PTXI_FAULT_BARRIER = 12,                  /* LAUNCH_FAILED: invalid use of a barrier or mbarrier;
                                                 ILLEGAL_INSTRUCTION: a thread count that is not a multiple of 32, or an
                                                 mbarrier that is not in shared memory */
    PTXI_FAULT_BUDGET = 13,                   /* LAUNCH_TIMEOUT: PTXI_LIMIT_INSTRUCTIONS exceeded */
    PTXI_FAULT_TIMEOUT = 14,                  /* LAUNCH_TIMEOUT: PTXI_LIMIT_MILLISECONDS exceeded */
    PTXI_FAULT_STACK_OVERFLOW = 15,           /* ILLEGAL_ADDRESS, as on an H200 */
    PTXI_FAULT_UNSUPPORTED_INSTRUCTION = 16,  /* ILLEGAL_INSTRUCTION: legal PTX that this version cannot execute */
    PTXI_FAULT_ILLEGAL_INSTRUCTION = 17,      /* ILLEGAL_INSTRUCTION: operands that the PTX ISA does not allow */
    PTXI_FAULT_INVALID_BRANCH = 18,           /* INVALID_PC: branch or call to an invalid address */
    PTXI_FAULT_UNRESOLVED = 19,               /* SHARED_OBJECT_SYMBOL_NOT_FOUND, returned by the launch: the kernel can
                                                 reach undefined symbols; LAUNCH_FAILED: a call of one through a
                                                 pointer */
    PTXI_FAULT_OUT_OF_MEMORY = 20,            /* OUT_OF_MEMORY: the host has no memory to run the grid */
    PTXI_FAULT_HOST_FUNCTION = 21,            /* LAUNCH_FAILED: a host function called ptxiHostFail */
    PTXI_FAULT_FREE = 22,                     /* ILLEGAL_ADDRESS: free() of an address that malloc() did not return;
                                                 LAUNCH_FAILED: free() of memory that is already freed */
    PTXI_FAULT_INTERRUPTED = 23,              /* LAUNCH_TIMEOUT: ptxiCtxInterrupt */
    PTXI_FAULT_MISUSE = 24,                   /* LAUNCH_FAILED: invalid use of a matrix instruction, bulk copy, tensor
                                                 map or tensor memory */
    PTXI_FAULT_PEER_ACCESS = 25               /* ILLEGAL_ADDRESS: access to memory of another device, and peer access
                                                 to it is not enabled */
} ptxiFault;

/* Kind of an invalid memory access. */
typedef enum ptxiAccess {
    PTXI_ACCESS_NONE = 0, PTXI_ACCESS_READ = 1, PTXI_ACCESS_WRITE = 2, PTXI_ACCESS_ATOMIC = 3
} ptxiAccess;

/* Report of a failure. Numbers are 0 and strings NULL if they do not apply. The strings belong to the library and are
 * valid until the calling host thread calls ptxiGetLastReport again. */
typedef struct ptxiReport {
    size_t size;                  /* set by the caller: sizeof(ptxiReport) */
    ptxiResult result;            /* as the failing call returned it */
    ptxiFault fault;
    const char *text;             /* the whole report for a reader; several lines */
    const char *kernel;           /* name of the kernel that was launched */
    const char *function;         /* name of the function that the thread was in */
    unsigned block[3];            /* x, y, z of the first thread that failed */
    unsigned thread[3];           /* x, y, z */
    unsigned long long threads;   /* number of threads of its warp that failed at the same instruction */
    ptxiAccess access;
    unsigned accessSize;          /* bytes of the access of one thread */
    ptxiDevicePtr address;        /* of the access */
    ptxiDevicePtr nearestBase;    /* start of the allocation that contains the address or is nearest to it */
    size_t nearestSize;           /* bytes */
    const char *ptxFile;
    unsigned ptxLine, ptxColumn;  /* from 1 */
    const char *sourceFile;       /* from the module's .loc directives */
    unsigned sourceLine, sourceColumn; /* from 1 */
} ptxiReport;

/*! ptxiGetLastReport() :
 *  Returns the report of the failure that a call in this context, from any thread, has returned last. With
 *  PTXI_ON_FAULT_REPORT it may be that of an access after which the thread has continued.
 * `ctx`    NULL: the current context.
 * `report` `size` is set by the caller. Members that the library does not know are not changed.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, PTXI_ERROR_NOT_FOUND if nothing has failed, or
 *         PTXI_ERROR_INVALID_VALUE for a size without result and fault. */
PTXI_API ptxiResult ptxiGetLastReport(ptxiContext ctx, ptxiReport *report);

typedef enum ptxiSeverity { PTXI_SEVERITY_NOTE = 0, PTXI_SEVERITY_WARNING = 1, PTXI_SEVERITY_ERROR = 2 } ptxiSeverity;

/* A message about the text of a module. */
typedef struct ptxiDiagnostic {
    size_t size;                  /* set by the caller: sizeof(ptxiDiagnostic) */
    ptxiSeverity severity;
    const char *file;
    unsigned line, column;        /* from 1; 0: the message is about the whole module */
    unsigned length;              /* bytes to underline, from the column on */
    const char *message;          /* one line */
    const char *text;             /* as in the logs: place, message, source line and caret */
} ptxiDiagnostic;

/*! ptxiGetLastDiagnostic() :
 *  Returns a message of the last call of this host thread that checked PTX or a host function's signature, whether it
 *  failed or not. The strings are valid until the next such call of the thread.
 * `index`      from 0.
 * `diagnostic` `size` is set by the caller. Members that the library does not know are not changed.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND if there is no message with this index, or PTXI_ERROR_INVALID_VALUE for a
 *         size without the severity. */
PTXI_API ptxiResult ptxiGetLastDiagnostic(unsigned index, ptxiDiagnostic *diagnostic);

/* Sums over the launches of a context that ended while counting was on. */
typedef struct ptxiCounters {
    size_t size;                            /* set by the caller: sizeof(ptxiCounters) */
    unsigned long long launches;            /* grids */
    unsigned long long blocks;
    unsigned long long threads;
    unsigned long long warpInstructions;    /* instructions executed, counted once for each warp or split of a warp */
    unsigned long long threadInstructions;  /* the same, counted once for each active thread */
    unsigned long long sharedRequests;      /* warp accesses to shared memory: ld, st, atom, red, ldmatrix, stmatrix */
    unsigned long long sharedWavefronts;    /* passes over the banks that these accesses take, undisturbed */
    unsigned long long sharedBankConflicts; /* passes that are needed because lanes access different words of a bank */
} ptxiCounters;

/*! ptxiCtxSetCounting() :
 *  Turns the counting of executed instructions on or off, for launches made later. It takes time and is off by default.
 * `ctx`  NULL: the current context.
 * `on`   0: off; other values: on.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxSetCounting(ptxiContext ctx, int on);

/*! ptxiCtxGetCounters() :
 *  Returns the counters of a context. Launches that have not ended are not included, so synchronise first.
 * `ctx`      NULL: the current context.
 * `counters` `size` is set by the caller. Members that the library does not know are not changed.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, or PTXI_ERROR_INVALID_VALUE for a size without the first
 *         counter. */
PTXI_API ptxiResult ptxiCtxGetCounters(ptxiContext ctx, ptxiCounters *counters);

/*! ptxiCtxResetCounters() :
 *  Sets the counters of a context to 0.
 * `ctx`  NULL: the current context.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxResetCounters(ptxiContext ctx);

/* What ptxiCtxSetTracking() records. */
enum {
    PTXI_TRACK_CHANGES = 1, /* what launches change */
    PTXI_TRACK_READS = 2    /* also what they read */
};

/*! ptxiCtxSetTracking() :
 *  Begins to record which bytes of memory launches change, for launches that are made later, or ends it. What was
 *  recorded before is discarded. Launches that are tracked cannot be checked by sanitizers that need bytecode of their
 *  own. They are refused if tracking does not see all accesses: surfaces, multimem, changes of tensor maps, and
 *  reductions by tensor copies. Textures and bound host functions are not seen and not refused.
 * `ctx`  NULL: the current context.
 * `what` 0, PTXI_TRACK_CHANGES, or PTXI_TRACK_CHANGES | PTXI_TRACK_READS.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, PTXI_ERROR_INVALID_VALUE or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiCtxSetTracking(ptxiContext ctx, unsigned what);

/*! ptxiCtxTakeChanges() :
 *  Returns what launches have changed since ptxiCtxSetTracking or the last call, as data for ptxiMergeChanges, also of
 *  another process. Waits for the work of the context. The data names memory by a range and an offset, so that it may
 *  have other addresses elsewhere. Words that only red has changed are described by the operations.
 * `ctx`     NULL: the current context.
 * `ranges`  `count` of them, at most 4096; their flags are ignored. Their memory is read, so it must still exist.
 * `changes` output; belongs to the caller and is freed with ptxiFree.
 * `size`    output: bytes.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, PTXI_ERROR_INVALID_VALUE if nothing is tracked
 *         or a range ends beyond the address space, PTXI_ERROR_ILLEGAL_ADDRESS if memory outside of the ranges has
 *         changed, which ptxiGetLastReport names, or
 *         PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiCtxTakeChanges(ptxiContext ctx, const ptxiRange *ranges, unsigned count, void **changes,
                                       size_t *size);

/*! ptxiMergeChanges() :
 *  Applies the changes that parts of a grid have made, each to a copy of the same memory, to that memory. The result is
 *  that of the whole grid on one worker: bytes that one part has written get its value. If parts have applied integer
 *  operations of red to a word, it gets the result of all. Operations on floats are repeated in the order of the
 *  clusters. Conflicts are errors, and then nothing changes: two parts have written different values to a byte, one has
 *  read what another has changed, or operations on a word are not all the same.
 * `ranges`    `count` of them, at most 4096, in the order of ptxiCtxTakeChanges.
 * `changes`   `parts` blocks of data, at most 4096, and `sizes` their bytes. Damaged data is refused.
 * `conflicts` output: a line for each conflict, or the reason of INVALID_VALUE; otherwise NULL. Belongs to the caller
 *             and is freed with ptxiFree. May be NULL.
 * @return PTXI_SUCCESS, PTXI_ERROR_ILLEGAL_STATE for conflicts, PTXI_ERROR_INVALID_VALUE for data that does not fit,
 *         or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiMergeChanges(const ptxiRange *ranges, unsigned count, const void *const *changes,
                                     const size_t *sizes, unsigned parts, char **conflicts);

/*! ptxiCtxSave() :
 *  Writes the memory and the state of a context to a file: allocations of device and host memory and of kernels, the
 *  variables of modules, limits, settings and counters. Waits for the work of the context; no other thread uses it
 *  meanwhile. The file is complete or not changed. ptxiGetLastReport has the reason of an error.
 * `ctx`       NULL: the current context.
 * `path`      name of the file.
 * `base`      NULL, or an earlier snapshot in the same directory: the file has only pages that differ from it, and
 *             needs it to be restored.
 * `note`      `numBytes` that ptxiCtxRestore returns.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, PTXI_ERROR_OUT_OF_MEMORY, or
 *         PTXI_ERROR_NOT_SUPPORTED     the context has something that is not saved: arrays, textures, surfaces, memory
 *                                      of pools, graphs or other processes, registered memory, mappings
 *         PTXI_ERROR_FILE_NOT_FOUND    the base cannot be read
 *         PTXI_ERROR_INVALID_IMAGE     the base is damaged
 *         PTXI_ERROR_INVALID_VALUE     it is in another directory, or the same file
 *         PTXI_ERROR_OPERATING_SYSTEM  the file cannot be written */
PTXI_API ptxiResult ptxiCtxSave(ptxiContext ctx, const char *path, const char *base, const void *note,
                                size_t numBytes);

/*! ptxiCtxRestore() :
 *  Gives a context, also of another process, the memory and the state of a snapshot. Allocations get the addresses that
 *  they had; those that the snapshot does not have are freed. Modules that are loaded later, with the text and the
 *  options of those of the snapshot, get their variables from it. Modules that the context had when it was saved may
 *  still be loaded. After an error nothing has changed, and ptxiGetLastReport has the reason.
 * `ctx`       NULL: the current context. Its device has the same profile.
 * `note`      output: a copy of that of ptxiCtxSave. Belongs to the caller and is freed with ptxiFree. May be NULL.
 * `numBytes` output; may be NULL if `note` is.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, PTXI_ERROR_OUT_OF_MEMORY, or
 *         PTXI_ERROR_FILE_NOT_FOUND  a file cannot be read
 *         PTXI_ERROR_INVALID_IMAGE   a file is not a snapshot, is damaged, or is not the base that it should be
 *         PTXI_ERROR_INVALID_VALUE   another device, addresses that are in use, or a module of the snapshot that is
 *                                    loaded with other addresses */
PTXI_API ptxiResult ptxiCtxRestore(ptxiContext ctx, const char *path, void **note, size_t *numBytes);

/* Where ptxiLaunchCheckpointed() saves the context. */
typedef struct ptxiCheckpoint {
    size_t size;      /* sizeof(ptxiCheckpoint) */
    const char *path; /* name of the file */
    double seconds;   /* between two checkpoints; 0: after each part of the grid */
    const void *note; /* noteBytes that ptxiCtxRestore() returns, such as the addresses of the parameters */
    size_t noteBytes;
} ptxiCheckpoint;

/*! ptxiLaunchCheckpointed() :
 *  Launches a kernel, waits for it, and meanwhile writes checkpoints: files of ptxiCtxSave with the number of clusters
 *  that have ended. The grid runs in windows (see ptxiLaunchKernelEx), and the result is that of one launch. To
 *  continue, also in another process, call ptxiCtxRestore with the file, load the module, and make the same call: it
 *  runs what had not ended. The first call after ptxiCtxRestore continues; later ones launch the whole grid. At the
 *  end the file is removed. After an error it remains as it was written last.
 * `config`     as for ptxiLaunchKernelEx, without PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW.
 * `checkpoint` read during the call.
 * @return as ptxiLaunchKernelEx, ptxiStreamSynchronize and ptxiCtxSave; PTXI_ERROR_NOT_SUPPORTED before the grid
 *         begins, if its blocks may depend on each other, or the context has something that is not saved; or
 *         PTXI_ERROR_INVALID_VALUE if the snapshot is that of another launch: another module, kernel, grid or other
 *         parameters. ptxiGetLastReport has the reason.
 *  Threads: no other thread uses the context during the call. */
PTXI_API ptxiResult ptxiLaunchCheckpointed(const ptxiLaunchConfig *config, ptxiFunction f, void **kernelParams,
                                           void **extra, const ptxiCheckpoint *checkpoint);

/* Tools of ptxiCtxSetSanitizer(). */
typedef enum ptxiSanitizer {
    PTXI_SANITIZER_NONE = 0,
    PTXI_SANITIZER_MEMORY = 1, /* invalid memory accesses, pointers that leave their object, leaks */
    PTXI_SANITIZER_RACE = 2,   /* accesses of different threads that are not ordered */
    PTXI_SANITIZER_INIT = 4,   /* use of values that nothing has written */
    PTXI_SANITIZER_SYNC = 8,   /* misuse of barriers and of synchronising instructions */
    PTXI_SANITIZER_ALL = 15,   /* of these. Programs also make calls that are meant to fail: */
    PTXI_SANITIZER_API = 16    /* calls of libcuda.so.1 and libcudart that fail, see ptxiReportCall() */
} ptxiSanitizer;

/* Flags of ptxiCtxSetSanitizer(). */
enum {
    PTXI_SANITIZER_LEAKS = 1 /* with PTXI_SANITIZER_MEMORY: report memory that is allocated when the context ends */
};

/* How bad a finding is. BENIGN: it does no harm, for example because both threads write the same value. */
typedef enum ptxiFindingSeverity {
    PTXI_FINDING_SEVERITY_BENIGN = 0, PTXI_FINDING_SEVERITY_WARNING = 1, PTXI_FINDING_SEVERITY_ERROR = 2
} ptxiFindingSeverity;

/* A thread at an instruction, or the function of a call that fails. Numbers are 0 and strings NULL if they do not
 * apply. */
typedef struct ptxiFindingSite {
    const char *function;
    unsigned block[3], thread[3];      /* x, y, z of the first thread */
    unsigned threads;                  /* number of threads of its warp */
    ptxiAccess access;
    unsigned hasValue;
    unsigned long long value;          /* that was read or written, if hasValue is not 0 */
    const char *ptxFile;
    const char *ptxText;               /* the line */
    unsigned ptxLine, ptxColumn;       /* from 1 */
    const char *sourceFile;            /* from the module's .loc directives */
    unsigned sourceLine;               /* from 1 */
} ptxiFindingSite;

/* A finding of a sanitizer. Findings of the same kind at the same instructions are one, with a count, and so are calls
 * of one function at one place with the same error. Numbers are 0 and strings NULL if they do not apply. The strings
 * belong to the library and are valid until the context's next ptxiCtxResetFindings(), or until it is destroyed. */
typedef struct ptxiFinding {
    size_t size;                       /* set by the caller: sizeof(ptxiFinding) */
    ptxiSanitizer tool;
    ptxiFindingSeverity severity;
    const char *kind;                  /* such as "write-after-write"; doc/reference/checking.md has a list */
    const char *message;               /* what is wrong, without places */
    const char *detail;
    unsigned long long count;          /* how often it was found */
    const char *kernel;                /* of the first one, as the following members */
    unsigned long long launch;         /* number of the launch in the process, from 1 */
    const char *space;                 /* "global", "shared", "local" or "register" */
    ptxiDevicePtr address;             /* global: an address; shared and local: an offset */
    unsigned bytes;                    /* of the access */
    ptxiDevicePtr objectBase;          /* the allocation or variable with the address, or nearest to it */
    size_t objectSize;                 /* bytes */
    const char *objectName;            /* of a variable */
    unsigned siteCount;
    ptxiFindingSite sites[2];          /* the later one first */
} ptxiFinding;

/* Counts of what the sanitizers of a context have checked and found. */
typedef struct ptxiCheckSummary {
    size_t size;                       /* set by the caller: sizeof(ptxiCheckSummary) */
    unsigned long long launches;       /* grids that were checked */
    unsigned long long accesses;       /* accesses of warps that were checked */
    unsigned long long unchecked;      /* launches and accesses that could not be checked */
    unsigned long long errors, warnings, benign; /* different findings */
    unsigned long long suppressed;     /* findings that a rule has removed */
    unsigned long long notListed;      /* findings beyond the limit of 1000 different ones */
} ptxiCheckSummary;

/* Formats of ptxiCtxFormatFindings(). */
typedef enum ptxiReportFormat {
    PTXI_REPORT_TEXT = 0,              /* for readers */
    PTXI_REPORT_COMPUTE_SANITIZER = 1, /* lines as compute-sanitizer writes them, beginning with ========= */
    PTXI_REPORT_XML = 2,
    PTXI_REPORT_JSON = 3,              /* an object in each line */
    PTXI_REPORT_SARIF = 4,
    PTXI_REPORT_JUNIT = 5,
    PTXI_REPORT_RULES = 6              /* rules that suppress the findings, for ptxiCtxSetSanitizerRules() */
} ptxiReportFormat;

/*! ptxiCtxSetSanitizer() :
 *  Selects the sanitizers of launches that are made later. Checks take time and are off by default. The environment
 *  variable PTXI_CHECK selects tools for new contexts.
 * `ctx`   NULL: the current context.
 * `tools` bits of ptxiSanitizer.
 * `flags` 0 or PTXI_SANITIZER_LEAKS. Only reports that PTXI_CHECK requests can contain leaks, because the findings of a
 *         context end with it.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, PTXI_ERROR_INVALID_VALUE for other bits, or
 *         PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiCtxSetSanitizer(ptxiContext ctx, unsigned tools, unsigned flags);

/*! ptxiCtxGetSanitizer() :
 *  Returns the tools of ptxiCtxSetSanitizer.
 * `ctx`   NULL: the current context.
 * `tools` output
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT or PTXI_ERROR_INVALID_VALUE. */
PTXI_API ptxiResult ptxiCtxGetSanitizer(ptxiContext ctx, unsigned *tools);

/*! ptxiCtxSetSanitizerRules() :
 *  Selects the launches that are checked, and suppresses findings. Replaces earlier rules, and those of the file that
 *  PTXI_CHECK_RULES names. doc/reference/checking.md describes the rules. It applies to launches made and findings
 *  found later.
 * `ctx`   NULL: the current context.
 * `rules` a rule in each line; NULL: none.
 * `error` output: a message about invalid rules, or NULL; belongs to the caller and is freed with ptxiFree. May be
 *         NULL.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, PTXI_ERROR_INVALID_VALUE for invalid rules, or
 *         PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiCtxSetSanitizerRules(ptxiContext ctx, const char *rules, char **error);

/*! ptxiCtxGetFinding() :
 *  Returns a finding of a context. Launches that have not ended may add findings, so synchronise first.
 * `ctx`     NULL: the current context.
 * `index`   from 0, in the order of discovery.
 * `finding` `size` is set by the caller. Members that the library does not know are not changed.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, PTXI_ERROR_NOT_FOUND if there are not so many, or
 *         PTXI_ERROR_INVALID_VALUE for a size without the severity. */
PTXI_API ptxiResult ptxiCtxGetFinding(ptxiContext ctx, size_t index, ptxiFinding *finding);

/*! ptxiCtxGetCheckSummary() :
 *  Returns what has been checked since the context was created or its findings were reset. A program that relies on
 *  checks looks at `launches` and `unchecked`, too: without launches, nothing was checked.
 * `ctx`     NULL: the current context.
 * `summary` `size` is set by the caller. Members that the library does not know are not changed.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, or PTXI_ERROR_INVALID_VALUE for a size without the first number. */
PTXI_API ptxiResult ptxiCtxGetCheckSummary(ptxiContext ctx, ptxiCheckSummary *summary);

/*! ptxiCtxFormatFindings() :
 *  Returns the findings of a context and a summary as text.
 * `ctx`    NULL: the current context.
 * `format` see ptxiReportFormat.
 * `text`   output: belongs to the caller and is freed with ptxiFree.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, PTXI_ERROR_INVALID_VALUE or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiCtxFormatFindings(ptxiContext ctx, ptxiReportFormat format, char **text);

/*! ptxiReportCall() :
 *  Tells the sanitizers that a call of a library that is built on this one fails. libcuda.so.1 and libcudart do this
 *  for their own calls. It becomes a finding of the thread's current context, if PTXI_SANITIZER_API is on there.
 *  Otherwise, if PTXI_CHECK does not request such findings, it becomes one of the latest context in which it is on; if
 *  it does, and no context is current, one of the report at the end of the process. The following results are no
 *  findings, because programs ask for them: PTXI_SUCCESS, PTXI_ERROR_NOT_READY, PTXI_ERROR_PEER_ACCESS_ALREADY_ENABLED
 *  and PTXI_ERROR_PEER_ACCESS_NOT_ENABLED. A call in a process that fork() has made is no finding either.
 * `function`  the name of the function.
 * `error`     the number of its result.
 * `errorName` the name of the result, such as "cudaErrorInvalidValue"; may be NULL.
 * `text`      what it means; may be NULL.
 * @return PTXI_SUCCESS, also if it is no finding, or PTXI_ERROR_INVALID_VALUE without a function. */
PTXI_API ptxiResult ptxiReportCall(const char *function, int error, const char *errorName, const char *text);

/* Statements about a range of memory, for ptxiCtxAnnotate(). */
typedef enum ptxiAnnotation {
    PTXI_ANNOTATION_INITIALIZED = 1,   /* the bytes count as initialised */
    PTXI_ANNOTATION_UNINITIALIZED = 2, /* they do not */
    PTXI_ANNOTATION_INTENDED_RACE = 3, /* races of accesses to the bytes are not reported */
    PTXI_ANNOTATION_NO_RACE = 4,       /* they are again, for all such ranges that overlap this one */
    PTXI_ANNOTATION_POOL = 5,          /* the program allocates parts of this memory: kernels may access only these */
    PTXI_ANNOTATION_POOL_RESET = 6,    /* the parts of the pool that contains the address are free */
    PTXI_ANNOTATION_POOL_END = 7,      /* it is one allocation again */
    PTXI_ANNOTATION_ALLOCATE = 8,      /* a part of a pool is allocated, and not initialised; ends those it overlaps */
    PTXI_ANNOTATION_RESIZE = 9,        /* the part that begins at the address gets this size */
    PTXI_ANNOTATION_FREE = 10,         /* the part that contains the address is free */
    PTXI_ANNOTATION_HOST_READ = 11,    /* the program's own code is about to read the bytes, or has just read them */
    PTXI_ANNOTATION_HOST_WRITE = 12    /* the same for writing */
} ptxiAnnotation;

/*! ptxiCtxAnnotate() :
 *  Tells the sanitizers about memory that kernels access. In checked launches, the parts of a pool are as allocations:
 *  accesses to the rest of it are invalid. An annotation applies to launches of all contexts that begin later, until
 *  the memory is freed. HOST_READ and HOST_WRITE are accesses at this moment, such as those to managed or registered
 *  memory. They are compared with launches, copies and fills of this context, and change nothing.
 * `ctx`      NULL: the current context. Whether it looks for uninitialised values decides if UNINITIALIZED and ALLOCATE
 *            make memory uninitialised, and whether it looks for races, if accesses of the host are compared.
 * `what`     see ptxiAnnotation.
 * `address`  memory of one allocation, `numBytes` of it.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_CONTEXT, PTXI_ERROR_OUT_OF_MEMORY, or PTXI_ERROR_INVALID_VALUE, also for a
 *         range that is not in one allocation, or for a pool or a part that there is not. */
PTXI_API ptxiResult ptxiCtxAnnotate(ptxiContext ctx, ptxiAnnotation what, ptxiDevicePtr address, size_t numBytes);

/*! ptxiCtxResetFindings() :
 *  Removes the findings of a context and sets the numbers of ptxiCtxGetCheckSummary to 0.
 * `ctx`  NULL: the current context.
 * @return PTXI_SUCCESS, or PTXI_ERROR_INVALID_CONTEXT. */
PTXI_API ptxiResult ptxiCtxResetFindings(ptxiContext ctx);

/* A kernel's parameter as PTX declares it. Strings live as long as the module. */
typedef struct ptxiParam {
    size_t size;                  /* set by the caller: sizeof(ptxiParam) */
    size_t offset, bytes;         /* place in the parameter buffer, and size; bytes */
    size_t align;                 /* bytes */
    size_t count;                 /* elements of an array; 0: not an array */
    const char *name;
    const char *type;             /* of an element, without the dot: "u64", "f32", "b8"; or "texref", "samplerref",
                                     "surfref" */
    const char *space;            /* state space in the .ptr attribute, such as "global"; NULL: none */
} ptxiParam;

/*! ptxiFuncGetParam() :
 *  Returns a kernel's parameter with name, type and alignment, which ptxiFuncGetParamInfo does not return. For programs
 *  that convert values of another language to arguments.
 * `paramIndex` from 0.
 * `param`      `size` is set by the caller. Members that the library does not know are not changed.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_INVALID_VALUE if there is no such parameter or the
 *         size ends before the name. */
PTXI_API ptxiResult ptxiFuncGetParam(ptxiFunction func, size_t paramIndex, ptxiParam *param);

/*! ptxiFuncGetSignature() :
 *  Returns the kernel with all its parameters as text: "lerp(.u64 x, .f32 alpha)".
 * `text` output: belongs to the caller and is freed with ptxiFree.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiFuncGetSignature(ptxiFunction func, char **text);

/*! ptxiFuncGetSourceName() :
 *  Returns the kernel's name as it is written in C++: "void scale<float>(float*)". A name that is not mangled is
 *  returned as it is, and so are all names if there is no C++ runtime library (libstdc++.so.6).
 * `text` output: belongs to the caller and is freed with ptxiFree.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiFuncGetSourceName(ptxiFunction func, char **text);

/*! ptxiModuleFindFunctions() :
 *  Finds the kernels that a name means: the name in the PTX, or the name in C++. The types of the parameters, arguments
 *  of templates and leading namespaces may be omitted. Only the kernels are returned that the name describes best, so
 *  "scale" means scale(float*) and not other::scale(float*), but "other::scale" and "scale<float>" can be used, too.
 * `functions` output: the first kernels found, in the order of the text; NULL if *count is 0.
 * `count`     in: room in `functions`; out: number of kernels found, 0 if there is none, 2 or more if the name is
 *             ambiguous.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_INVALID_VALUE, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiModuleFindFunctions(ptxiFunction *functions, unsigned *count, ptxiModule mod, const char *name);

/*! ptxiAsm() :
 *  Executes PTX instructions in one thread, with the syntax of asm() in CUDA C++, and waits for the end:
 *      ptxiAsm("mad.lo.u32 %0, %1, %2, %3;", "=r,r,r,n", &d, &a, &b, &(long long){ 5 });
 *  The first use of a template loads a module, which is kept for further uses.
 * `text`        one or more statements, also with { }, labels and declarations. %0, %1, ... are the operands. %% is a
 *               percent sign, and so is a % before a character that is not a digit.
 * `constraints` one for each operand, separated by commas, outputs first, at most 30. = marks an operand that is
 *               written, + one that is read and written. Letters: h, r, l for integers of 16, 32, 64 bits; f and d for
 *               f32 and f64; q for 128 bits; n for an integer constant and C for a text, which are inserted into the
 *               template.
 * `...`         a pointer for each operand: to a value of the constraint's size, to a long long for n, or to the text
 *               for C. Outputs with = that the template does not write are undefined. l may be an address of memory
 *               that kernels may use.
 * @return PTXI_SUCCESS, the failure of the instructions (see ptxiGetLastReport), or
 *         PTXI_ERROR_INVALID_VALUE  an invalid constraint (see ptxiGetLastDiagnostic), or a NULL operand
 *         PTXI_ERROR_INVALID_PTX    the template has errors; diagnostics give places in the template
 *         PTXI_ERROR_OUT_OF_MEMORY
 *  Source: CUDA documentation, "Inline PTX Assembly in CUDA". */
PTXI_API ptxiResult ptxiAsm(const char *text, const char *constraints, ...);

/*! ptxiAsmArrays() :
 *  As ptxiAsm, executed by several threads with values of their own.
 * `threads`   up to 1024 form one block. More form blocks of 256, of which the last may be smaller. 0 executes nothing.
 * `operands`  a pointer for each operand: to an array with one value for each thread, to a long long for n, or to the
 *             text for C.
 * @return as ptxiAsm. */
PTXI_API ptxiResult ptxiAsmArrays(const char *text, const char *constraints, size_t threads, void *const *operands);

/* A host function of any type, cast to this type; and one that gets pointers to its arguments and its result. */
typedef void (*ptxiHostFunction)(void);
typedef void (*ptxiHostCallback)(void *userData, void *const *arguments, void *result);

/*! ptxiModuleBindHostFunction() :
 *  Binds a function of the host to an .extern .func of the module. Kernels that call `name` then call it, once for each
 *  thread, in the order of the lanes of a warp. A launch uses the bindings of the time when it was made. The call waits
 *  until no launch and no other call uses the function that was bound before, which the program may then free.
 * `name`      the .extern .func.
 * `function`  any function with the C ABI, cast to the type; NULL ends the binding, and the library's own function of
 *             that name, if any, is used again.
 * `signature` type of the function in C, "float(int, {float, float[2]}, const char *)". It consists of void, bool,
 *             char, short, int, long, long long, each signed or unsigned, intN_t, uintN_t, size_t, float, double, any
 *             pointer, and structures by value, written as their fields in braces. The sizes must match the
 *             declaration; integers below 32 bits may be .b32 there. May be NULL if `function` is NULL.
 *  Rules for the function: Pointers from the kernel are host addresses if they point to global memory.
 *  ptxiHostGetPointer converts all pointers. It runs in a thread of the library, with the FPU set to round to nearest,
 *  and calls no ptxi functions but ptxiHostGetThread, ptxiHostGetPointer and ptxiHostFail. Several threads call it at
 *  the same time, from different warps, so shared data needs atomics or locks. It must not wait for another thread of
 *  the grid, because later lanes of its warp do not run meanwhile. It must not leave by longjmp or an exception.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_NOT_FOUND      no function of that name is declared, or it has a body
 *         PTXI_ERROR_INVALID_VALUE  an invalid signature, or one that does not match the declaration (see
 *                                   ptxiGetLastDiagnostic)
 *         PTXI_ERROR_INVALID_HANDLE, PTXI_ERROR_OUT_OF_MEMORY */
PTXI_API ptxiResult ptxiModuleBindHostFunction(ptxiModule mod, const char *name, ptxiHostFunction function,
                                               const char *signature);

/*! ptxiModuleBindHostCallback() :
 *  As ptxiModuleBindHostFunction, for languages that cannot create functions of any type.
 * `callback` arguments[i] points to the value of parameter i, and `result` to room for the result. These addresses are
 *            aligned to 16 and valid during the call. NULL ends the binding.
 * `userData` first argument of the callback; belongs to the caller.
 * @return as ptxiModuleBindHostFunction. */
PTXI_API ptxiResult ptxiModuleBindHostCallback(ptxiModule mod, const char *name, ptxiHostCallback callback,
                                               void *userData, const char *signature);

/* The thread that called a host function. */
typedef struct ptxiHostThread {
    size_t size;               /* set by the caller: sizeof(ptxiHostThread) */
    unsigned gridDim[3], blockDim[3]; /* blocks and threads; x, y, z */
    unsigned block[3], thread[3];     /* x, y, z */
    unsigned lane, warp;       /* lane in the warp, and warp in the block; from 0 */
    const char *function;      /* the name that was called */
    const char *kernel;        /* name of the kernel that was launched */
} ptxiHostThread;

/*! ptxiHostGetThread() :
 *  Returns the thread that called the host function. For host functions, in the host thread that runs them.
 * `thread` `size` is set by the caller. Members that the library does not know are not changed.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_PERMITTED outside of a host function, or PTXI_ERROR_INVALID_VALUE for a size
 *         that ends before the lane. */
PTXI_API ptxiResult ptxiHostGetThread(ptxiHostThread *thread);

/*! ptxiHostGetPointer() :
 *  Converts a generic address of the calling thread, also in shared and local memory, to a host address. For host
 *  functions, in the host thread that runs them. The address is valid until the function returns. Nobody may free,
 *  unregister or close the memory before that.
 * `pointer`  output.
 * `bytes`    size of the range, at least 1. It must be within one allocation.
 * `write`    0: for reading; other values: for writing.
 * @return PTXI_SUCCESS, or
 *         PTXI_ERROR_NOT_PERMITTED    outside of a host function, or after a failure in it
 *         PTXI_ERROR_INVALID_VALUE    an empty range, or one beyond the end of the address space
 *         PTXI_ERROR_ILLEGAL_ADDRESS  the thread may not access the range. The launch has failed; the function should
 *                                     return. */
PTXI_API ptxiResult ptxiHostGetPointer(void **pointer, ptxiDevicePtr address, size_t bytes, int write);

/*! ptxiHostFail() :
 *  Makes the launch fail when the host function returns. For host functions, in the host thread that runs them. After
 *  an earlier failure in the function it does nothing.
 * `message`  text for the report; copied; may be NULL.
 * @return PTXI_SUCCESS, or PTXI_ERROR_NOT_PERMITTED outside of a host function. */
PTXI_API ptxiResult ptxiHostFail(const char *message);

/*! ptxiModuleGetUnsupported() :
 *  Lists the legal instructions of a module that this version cannot execute, one line each: place, function and
 *  spelling. Also lists functions that are too large. The text is empty if there are none.
 * `text` output: belongs to the caller and is freed with ptxiFree.
 * @return PTXI_SUCCESS, PTXI_ERROR_INVALID_HANDLE, or PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiModuleGetUnsupported(ptxiModule mod, char **text);

/*! ptxiModuleDump() :
 *  Returns the bytecode of a module as text.
 * `function` name of a function or kernel; NULL: all.
 * `text`     output: belongs to the caller and is freed with ptxiFree.
 * @return PTXI_SUCCESS, PTXI_ERROR_NOT_FOUND if there is no such function with a body, PTXI_ERROR_INVALID_HANDLE, or
 *         PTXI_ERROR_OUT_OF_MEMORY. */
PTXI_API ptxiResult ptxiModuleDump(ptxiModule mod, const char *function, char **text);

/*! ptxiFree() :
 *  Frees a text that a call gave to the caller. NULL does nothing. May be called at any time, also before ptxiInit.
 * `text` output of ptxiFuncGetSignature, ptxiFuncGetSourceName, ptxiModuleGetUnsupported or ptxiModuleDump. */
PTXI_API void ptxiFree(void *text);

#ifdef __cplusplus
}
#endif

#endif
