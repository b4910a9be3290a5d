/* Structures of the CUDA runtime API. The layouts are those of driver_types.h and vector_types.h of CUDA 12.9 or 13, as
 * CUDART_MAJOR says; the members have the names of the CUDA documentation ("CUDA Runtime API", "Data types used by CUDA
 * Runtime"). Handles of the runtime are those of ptxi.h. tests/standins/layouts.c compares the layouts. */
#ifndef PTXI_CUDART_TYPES_H
#define PTXI_CUDART_TYPES_H

#include "ptxi.h"

typedef struct dim3 {
    unsigned x, y, z;
} dim3;

/* cudaMemcpyKind */
enum copy_kind { COPY_HOST_TO_HOST, COPY_HOST_TO_DEVICE, COPY_DEVICE_TO_HOST, COPY_DEVICE_TO_DEVICE, COPY_DEFAULT };

/* cudaPos: in elements of an array, or in bytes of other memory. */
struct position {
    size_t x, y, z;
};

/* cudaExtent: width in elements if an array takes part, otherwise in bytes. */
struct extent {
    size_t width, height, depth;
};

/* cudaPitchedPtr */
struct pitched_pointer {
    void *ptr;
    size_t pitch;               /* bytes from one row to the next */
    size_t xsize, ysize;        /* bytes of a row; rows of a slice */
};

/* cudaMemcpy3DParms */
struct copy3d_params {
    ptxiArray srcArray;         /* NULL: srcPtr */
    struct position srcPos;
    struct pitched_pointer srcPtr;
    ptxiArray dstArray;         /* NULL: dstPtr */
    struct position dstPos;
    struct pitched_pointer dstPtr;
    struct extent extent;
    enum copy_kind kind;
};

/* cudaMemcpy3DPeerParms */
struct copy3d_peer_params {
    ptxiArray srcArray;
    struct position srcPos;
    struct pitched_pointer srcPtr;
    int srcDevice;
    ptxiArray dstArray;
    struct position dstPos;
    struct pitched_pointer dstPtr;
    int dstDevice;
    struct extent extent;
};

/* cudaChannelFormatKind. The kinds after NONE include the width and the number of channels. */
enum channel_kind { CHANNEL_SIGNED, CHANNEL_UNSIGNED, CHANNEL_FLOAT, CHANNEL_NONE };

/* cudaChannelFormatDesc: bits of each channel, 0 if it does not exist. */
struct channel_format {
    int x, y, z, w;
    int f;                      /* enum channel_kind, or the number of a packed or compressed format */
};

/* cudaResourceDesc. The numbers of its type are those of ptxiResourceType. */
struct resource_desc {
    ptxiResourceType resType;
    union {
        struct { ptxiArray array; } array;
        struct { ptxiMipmappedArray mipmap; } mipmap;
        struct { void *devPtr; struct channel_format desc; size_t sizeInBytes; } linear;
        struct { void *devPtr; struct channel_format desc; size_t width, height, pitchInBytes; } pitch2D;
#if CUDART_MAJOR >= 13
        struct { int reserved[32]; } reserved;
#endif
    } res;
#if CUDART_MAJOR >= 13
    unsigned flags;
#endif
};

/* cudaResourceViewDesc has the layout of PTXI_RESOURCE_VIEW_DESC. That of CUDA 12 ends before the reserved words. */
#if CUDART_MAJOR >= 13
#define RESOURCE_VIEW_BYTES sizeof(PTXI_RESOURCE_VIEW_DESC)
#else
#define RESOURCE_VIEW_BYTES offsetof(PTXI_RESOURCE_VIEW_DESC, reserved)
#endif

/* cudaTextureDesc */
struct texture_desc {
    ptxiAddressMode addressMode[3];
    ptxiFilterMode filterMode;
    int readMode;               /* 0: elements as they are; 1: integers as fractions of their largest value */
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    ptxiFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int seamlessCubemap;
};

/* cudaPointerAttributes */
struct pointer_attributes {
    int type;                   /* 0 unregistered, 1 host, 2 device, 3 managed */
    int device;
    void *devicePointer;
    void *hostPointer;
#if CUDART_MAJOR >= 13
    long reserved[8];
#endif
};

/* cudaFuncAttributes */
struct function_attributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
    int preferredShmemCarveout, clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight;
    int requiredClusterDepth, clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
    int reserved[16];
};

/* cudaLaunchConfig_t */
struct launch_config {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    ptxiStream stream;
    ptxiLaunchAttribute *attrs;
    unsigned numAttrs;
};

/* cudaKernelNodeParams */
struct kernel_node_params {
    void *func;                 /* host function, or a handle of a kernel */
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams, **extra;
};

/* cudaMemcpyNodeParams */
struct copy_node_params {
    int flags, reserved[3];
    struct copy3d_params copyParams;
};

/* cudaGraphNodeParams. Members that the driver has, too, are used through ptxiGraphNodeParamsValue. */
struct graph_node_params {
    ptxiGraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        struct kernel_node_params kernel;
        struct copy_node_params copy;
        ptxiGraphNodeParamsValue other;
    } value;
    long long reserved2;
};

#endif
