// The objects and constants that the calls of calls.txt use. They are made anew for each call.
#pragma once
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Arguments that calls.txt replaces
enum { DEVICE = 0, BYTES = 64, SMALL = 64, FLAGS = 0, VALUE = 3, PITCH = 512, PITCH_OF_D = 512 };
enum { WIDTH = 64, HEIGHT = 2 };
enum { COUNT = 1, LEVEL = 1, SHARED = 0 };
#define GRID dim3(1)
#define BLOCK dim3(32)
#define FUNCTION ((const void *)kernel)
#define VARIABLE ((const void *)&variable)
static const size_t HUGE_SIZE = (size_t)1 << 60;
static const cudaMemcpyKind HOST_TO_HOST = cudaMemcpyHostToHost, HOST_TO_DEVICE = cudaMemcpyHostToDevice;
static const cudaMemcpyKind DEVICE_TO_HOST = cudaMemcpyDeviceToHost, DEFAULT_KIND = cudaMemcpyDefault;
static const cudaMemcpyKind TO_DEVICE = HOST_TO_DEVICE, TO_HOST = DEVICE_TO_HOST, IN_DEVICE = cudaMemcpyDeviceToDevice;

__device__ int variable[16];

static __global__ void kernel(int *p, int value)
{
    if (p)
        *p = value;
}

static const char *const code = R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .b8 offsets[8];
.visible .entry scale(.param .u64 p) { ret; }
)";

// Results that are printed if a call changes them
struct Outputs {
    int i, i2;
    unsigned u;
    size_t z, z2;
    unsigned long long q;
    float f;
    void *p;
};
static Outputs outputs;
static int &i = outputs.i, &i2 = outputs.i2;
static unsigned &u = outputs.u;
static size_t &z = outputs.z, &z2 = outputs.z2;
static unsigned long long &q = outputs.q;
static float &f = outputs.f;
static void *&p = outputs.p;

// Results that are handles or depend on the device
static int version, clusters_out;
static float ms_out;
static unsigned long long id_out;
static char text[64];
static const char *name_out;
static cudaStream_t stream_out;
static cudaEvent_t event_out;
static cudaGraph_t graph_out;
static cudaGraphExec_t exec_out;
static cudaGraphNode_t node_out;
static const cudaGraphNode_t *nodes_out;
static const cudaGraphEdgeData *edges_out;
static cudaArray_t array_out;
static cudaMipmappedArray_t mipmap_out;
static cudaTextureObject_t texture_out;
static cudaSurfaceObject_t surface_out;
static cudaMemPool_t pool_out;
static cudaMemAccessFlags access_out;
static cudaLibrary_t library_out;
static cudaKernel_t kernel_out;
static cudaFunction_t function_out;
static cudaChannelFormatDesc format_out;
static cudaExtent extent_out;
static cudaPitchedPtr pitched_out;
static cudaUserObject_t user_object_out;
static cudaDriverEntryPointQueryResult status_out;
static cudaStreamCaptureStatus capture_out;
static cudaGraphConditionalHandle handle_out;
static cudaGraphNodeType node_type;
static cudaGraphExecUpdateResultInfo update_out;
static cudaFuncCache cache_out;
static cudaSharedMemConfig banks_out;
static cudaResourceDesc resource_out;
static cudaTextureDesc sampler_out;
static cudaResourceViewDesc view_out;
static cudaKernelNodeParams kernel_params_out;
static cudaMemcpy3DParms copy_params_out;
static cudaMemsetParams fill_params_out;
static cudaHostNodeParams host_params_out;
static cudaFuncAttributes function_attributes;
static cudaPointerAttributes pointer_attributes;
static cudaDeviceProp properties;
static cudaArrayMemoryRequirements requirements;
static cudaArraySparseProperties sparse;
static cudaStreamAttrValue attribute;
static cudaStreamCaptureMode mode;

// Objects
static char *d, *d2, *h, *m, *b, *b2;
static cudaStream_t s;
static cudaEvent_t e, e2, untimed, never_recorded;
static cudaGraph_t g, g2, clone;
static cudaGraphExec_t x;
static cudaGraphNode_t kernel_node, fill_node, copy_node, host_node, child_node, record_node, wait_node, empty_node;
static cudaGraphNode_t null_node, twice[2], nodes[16];
static cudaArray_t array, array2;
static cudaMipmappedArray_t mipmap;
static cudaTextureObject_t texture;
static cudaSurfaceObject_t surface;
static cudaMemPool_t pool;
static cudaLibrary_t library;
static cudaKernel_t kernel_handle;
static cudaUserObject_t user_object;
static int counter;
static unsigned long long zero;

// Structures that calls read
static int bad_device = 99, kernel_value = 1;
static int *kernel_pointer;
static void *arguments[2] = { &kernel_pointer, &kernel_value };
static cudaDeviceProp no_properties;
static cudaChannelFormatDesc format, mixed_format;
static cudaExtent extent3, extent_of_bytes;
static cudaPitchedPtr pitched, no_pitched;
static cudaMemcpy3DParms copy_params, bad_copy_params;
static cudaMemcpy3DPeerParms peer_params;
static cudaKernelNodeParams kernel_params, bad_kernel_params;
static cudaMemsetParams fill_params, bad_fill_params;
static cudaHostNodeParams host_params, bad_host_params;
static cudaMemAllocNodeParams alloc_params, bad_alloc_params;
static cudaGraphNodeParams node_params = {}, bad_node_params = {};
static cudaGraphInstantiateParams instantiate_params;
static cudaLaunchConfig_t config, bad_config, cluster_config;
static cudaLaunchAttribute cluster_attribute;
static cudaStreamAttrValue policy, zero_attribute;
static cudaResourceDesc resource, bad_resource, surface_resource, mipmap_resource, linear_resource, pitch_resource;
static cudaTextureDesc sampler, bad_sampler, linear_sampler, normalized_sampler;
static cudaResourceViewDesc view, bad_view;
static cudaMemPoolProps pool_props, bad_pool_props;
static cudaMemLocation location, bad_location;
static cudaMemAccessDesc access_desc, no_access_desc;
static cudaStreamCaptureMode bad_mode = (cudaStreamCaptureMode)3;

static void CUDART_CB host_function(void *arg)
{
    ++*(int *)arg;
}

static void CUDART_CB callback(cudaStream_t, cudaError_t, void *) {}

static inline void must(cudaError_t r, int line)
{
    if (!r)
        return;
    fprintf(stderr, "calls.h, line %d: %s\n", line, cudaGetErrorName(r));
    _Exit(9);
}
#define MUST(call) must(call, __LINE__)

static void make_structures()
{
    format = cudaCreateChannelDesc<float>();
    mixed_format = { 32, 16, 0, 0, cudaChannelFormatKindFloat };
    extent3 = make_cudaExtent(8, 4, 2);
    extent_of_bytes = make_cudaExtent(64, 2, 2);
    pitched = make_cudaPitchedPtr(d, 64, 64, 8);
    copy_params = bad_copy_params = {};
    copy_params.srcPtr = make_cudaPitchedPtr(h, 64, 64, 2);
    copy_params.dstPtr = make_cudaPitchedPtr(d, 64, 64, 2);
    copy_params.extent = make_cudaExtent(64, 1, 1);
    copy_params.kind = cudaMemcpyHostToDevice;
    peer_params = {};
    peer_params.srcPtr = make_cudaPitchedPtr(d2, 64, 64, 2);
    peer_params.dstPtr = make_cudaPitchedPtr(d, 64, 64, 2);
    peer_params.extent = make_cudaExtent(64, 1, 1);
    kernel_params = { (void *)kernel, dim3(1), dim3(32), 0, arguments, nullptr };
    bad_kernel_params = { nullptr, dim3(1), dim3(32), 0, arguments, nullptr };
    fill_params = { d, 0, 3, 4, 16, 1 };
    bad_fill_params = { d, 0, 3, 3, 16, 1 };
    host_params = { host_function, &counter };
    bad_host_params = { nullptr, &counter };
    pool_props = bad_pool_props = {};
    pool_props.allocType = cudaMemAllocationTypePinned;
    location = pool_props.location = { cudaMemLocationTypeDevice, 0 };
    bad_location = { cudaMemLocationTypeDevice, 99 };
    access_desc = { location, cudaMemAccessFlagsProtReadWrite };
    no_access_desc = { location, cudaMemAccessFlagsProtNone };
    alloc_params = bad_alloc_params = {};
    alloc_params.poolProps = pool_props;
    alloc_params.bytesize = 64;
    node_params = bad_node_params = {};
    node_params.type = cudaGraphNodeTypeKernel;
    node_params.kernel.func = (void *)kernel;
    node_params.kernel.gridDim = dim3(1);
    node_params.kernel.blockDim = dim3(32);
    node_params.kernel.kernelParams = arguments;
    bad_node_params.type = (cudaGraphNodeType)99;
    instantiate_params = {};
    config = bad_config = cluster_config = {};
    config.gridDim = config.blockDim = cluster_config.blockDim = dim3(1);
    cluster_config.gridDim = dim3(4);
    cluster_attribute.id = cudaLaunchAttributeClusterDimension;
    cluster_attribute.val.clusterDim = { 2, 1, 1 };
    cluster_config.attrs = &cluster_attribute;
    cluster_config.numAttrs = 1;
    bad_config.blockDim = dim3(2000);
    policy.syncPolicy = cudaSyncPolicySpin;
}

static void make_texture_structures()
{
    resource = bad_resource = surface_resource = mipmap_resource = linear_resource = pitch_resource = {};
    resource.resType = surface_resource.resType = cudaResourceTypeArray;
    resource.res.array.array = surface_resource.res.array.array = array;
    bad_resource.resType = (cudaResourceType)9;
    mipmap_resource.resType = cudaResourceTypeMipmappedArray;
    mipmap_resource.res.mipmap.mipmap = mipmap;
    linear_resource.resType = cudaResourceTypeLinear;
    linear_resource.res.linear.devPtr = d;
    linear_resource.res.linear.desc = format;
    linear_resource.res.linear.sizeInBytes = 256;
    pitch_resource.resType = cudaResourceTypePitch2D;
    pitch_resource.res.pitch2D.devPtr = d;
    pitch_resource.res.pitch2D.desc = format;
    pitch_resource.res.pitch2D.width = 8;
    pitch_resource.res.pitch2D.height = 4;
    pitch_resource.res.pitch2D.pitchInBytes = 512;
    sampler = bad_sampler = linear_sampler = normalized_sampler = {};
    bad_sampler.addressMode[0] = (cudaTextureAddressMode)9;
    linear_sampler.filterMode = cudaFilterModeLinear;
    normalized_sampler.normalizedCoords = 1;
    normalized_sampler.readMode = cudaReadModeNormalizedFloat;
    view = bad_view = {};
    view.format = cudaResViewFormatFloat1;
    view.width = 8;
    view.height = 8;
    bad_view.format = cudaResViewFormatFloat4;
    bad_view.width = 9;
    bad_view.height = 8;
}

static void make_graph()
{
    MUST(cudaGraphCreate(&g, 0));
    MUST(cudaGraphCreate(&g2, 0));
    MUST(cudaGraphAddEmptyNode(&empty_node, g2, nullptr, 0));
    MUST(cudaGraphAddMemcpyNode1D(&copy_node, g, nullptr, 0, d, h, 64, cudaMemcpyHostToDevice));
    MUST(cudaGraphAddKernelNode(&kernel_node, g, &copy_node, 1, &kernel_params));
    MUST(cudaGraphAddMemsetNode(&fill_node, g, nullptr, 0, &fill_params));
    MUST(cudaGraphAddHostNode(&host_node, g, &kernel_node, 1, &host_params));
    MUST(cudaGraphAddChildGraphNode(&child_node, g, nullptr, 0, g2));
    MUST(cudaGraphAddEventRecordNode(&record_node, g, nullptr, 0, e));
    MUST(cudaGraphAddEventWaitNode(&wait_node, g, &record_node, 1, e2));
    MUST(cudaGraphAddEmptyNode(&empty_node, g, nullptr, 0));
    MUST(cudaGraphInstantiate(&x, g, 0));
    MUST(cudaGraphClone(&clone, g));
    twice[0] = twice[1] = kernel_node;
}

static void make_objects(bool with_graph)
{
    MUST(cudaMalloc(&d, 4096));
    MUST(cudaMalloc(&d2, 4096));
    MUST(cudaMallocHost(&h, 4096));
    MUST(cudaMallocManaged(&m, 4096));
    b = (char *)aligned_alloc(4096, 8192);
    b2 = b + 4096;
    memset(b, 0, 8192);
    MUST(cudaStreamCreate(&s));
    for (cudaEvent_t *event : { &e, &e2, &never_recorded }) {
        MUST(cudaEventCreate(event));
        if (event != &never_recorded)
            MUST(cudaEventRecord(*event, s));
    }
    MUST(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    MUST(cudaEventRecord(untimed, s));
    MUST(cudaStreamSynchronize(s));
    make_structures();
    MUST(cudaMallocArray(&array, &format, 8, 8, cudaArraySurfaceLoadStore));
    MUST(cudaMallocArray(&array2, &format, 8, 8));
    MUST(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(8, 8, 0), 4));
    make_texture_structures();
    MUST(cudaCreateTextureObject(&texture, &resource, &sampler, nullptr));
    MUST(cudaCreateSurfaceObject(&surface, &resource));
    MUST(cudaMemPoolCreate(&pool, &pool_props));
    if (with_graph)
        make_graph();
    memset(&outputs, 0x77, sizeof outputs);
    mode = cudaStreamCaptureModeRelaxed;
}

// Objects that are made once.
static void make_library()
{
    MUST(cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0));
    MUST(cudaLibraryGetKernel(&kernel_handle, library, "scale"));
    cudaUserObjectCreate(&user_object, &counter, host_function, 1000000, cudaUserObjectNoDestructorSync);
}
