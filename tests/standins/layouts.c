/* Compares the structures of bindings/cudart with those of a CUDA toolkit. Compiled only, with the toolkit's headers;
 * CUDART_MAJOR is the toolkit's major version. */
#include <stddef.h>

#include <cuda_runtime_api.h>

#define dim3 own_dim3 /* both headers define it */
#include "../../bindings/cudart/device.c"
#undef dim3

#if CUDART_MAJOR != CUDART_VERSION / 1000
#error the headers are those of another major version of CUDA
#endif

#define SIZE_OF(own, other) _Static_assert(sizeof(own) == sizeof(other), "size of " #other)
#define OFFSET(own, other, m) _Static_assert(offsetof(own, m) == offsetof(other, m) && \
                                             sizeof(((own *)0)->m) == sizeof(((other *)0)->m), #other "." #m)

SIZE_OF(struct own_dim3, dim3);
SIZE_OF(struct position, struct cudaPos);
SIZE_OF(struct extent, struct cudaExtent);
OFFSET(struct extent, struct cudaExtent, width);
OFFSET(struct extent, struct cudaExtent, depth);
SIZE_OF(struct pitched_pointer, struct cudaPitchedPtr);
OFFSET(struct pitched_pointer, struct cudaPitchedPtr, ptr);
OFFSET(struct pitched_pointer, struct cudaPitchedPtr, pitch);
OFFSET(struct pitched_pointer, struct cudaPitchedPtr, xsize);
OFFSET(struct pitched_pointer, struct cudaPitchedPtr, ysize);

#define COPY(m) OFFSET(struct copy3d_params, struct cudaMemcpy3DParms, m)
SIZE_OF(struct copy3d_params, struct cudaMemcpy3DParms);
COPY(srcArray);
COPY(srcPos);
COPY(srcPtr);
COPY(dstArray);
COPY(dstPos);
COPY(dstPtr);
COPY(extent);
COPY(kind);

#define PEER_COPY(m) OFFSET(struct copy3d_peer_params, struct cudaMemcpy3DPeerParms, m)
SIZE_OF(struct copy3d_peer_params, struct cudaMemcpy3DPeerParms);
PEER_COPY(srcArray);
PEER_COPY(srcPos);
PEER_COPY(srcPtr);
PEER_COPY(srcDevice);
PEER_COPY(dstArray);
PEER_COPY(dstPos);
PEER_COPY(dstPtr);
PEER_COPY(dstDevice);
PEER_COPY(extent);

SIZE_OF(struct channel_format, struct cudaChannelFormatDesc);
OFFSET(struct channel_format, struct cudaChannelFormatDesc, w);
OFFSET(struct channel_format, struct cudaChannelFormatDesc, f);

#define RESOURCE(m) OFFSET(struct resource_desc, struct cudaResourceDesc, m)
SIZE_OF(struct resource_desc, struct cudaResourceDesc);
RESOURCE(resType);
RESOURCE(res);
RESOURCE(res.array.array);
RESOURCE(res.mipmap.mipmap);
RESOURCE(res.linear.devPtr);
RESOURCE(res.linear.desc);
RESOURCE(res.linear.sizeInBytes);
RESOURCE(res.pitch2D.devPtr);
RESOURCE(res.pitch2D.desc);
RESOURCE(res.pitch2D.width);
RESOURCE(res.pitch2D.height);
RESOURCE(res.pitch2D.pitchInBytes);
#if CUDART_MAJOR >= 13
RESOURCE(flags);
#endif

#define VIEW(m) OFFSET(PTXI_RESOURCE_VIEW_DESC, struct cudaResourceViewDesc, m)
_Static_assert(RESOURCE_VIEW_BYTES == sizeof(struct cudaResourceViewDesc), "size of cudaResourceViewDesc");
VIEW(format);
VIEW(width);
VIEW(height);
VIEW(depth);
VIEW(firstMipmapLevel);
VIEW(lastMipmapLevel);
VIEW(firstLayer);
VIEW(lastLayer);

#define TEXTURE(m) OFFSET(struct texture_desc, struct cudaTextureDesc, m)
SIZE_OF(struct texture_desc, struct cudaTextureDesc);
TEXTURE(addressMode);
TEXTURE(filterMode);
TEXTURE(readMode);
TEXTURE(sRGB);
TEXTURE(borderColor);
TEXTURE(normalizedCoords);
TEXTURE(maxAnisotropy);
TEXTURE(mipmapFilterMode);
TEXTURE(mipmapLevelBias);
TEXTURE(minMipmapLevelClamp);
TEXTURE(maxMipmapLevelClamp);
TEXTURE(disableTrilinearOptimization);
TEXTURE(seamlessCubemap);

#define POINTER(m) OFFSET(struct pointer_attributes, struct cudaPointerAttributes, m)
SIZE_OF(struct pointer_attributes, struct cudaPointerAttributes);
POINTER(type);
POINTER(device);
POINTER(devicePointer);
POINTER(hostPointer);

#define FUNCTION(m) OFFSET(struct function_attributes, struct cudaFuncAttributes, m)
SIZE_OF(struct function_attributes, struct cudaFuncAttributes);
FUNCTION(sharedSizeBytes);
FUNCTION(constSizeBytes);
FUNCTION(localSizeBytes);
FUNCTION(maxThreadsPerBlock);
FUNCTION(numRegs);
FUNCTION(ptxVersion);
FUNCTION(binaryVersion);
FUNCTION(cacheModeCA);
FUNCTION(maxDynamicSharedSizeBytes);
FUNCTION(preferredShmemCarveout);
FUNCTION(clusterDimMustBeSet);
FUNCTION(requiredClusterWidth);
FUNCTION(requiredClusterHeight);
FUNCTION(requiredClusterDepth);
FUNCTION(clusterSchedulingPolicyPreference);
FUNCTION(nonPortableClusterSizeAllowed);

#define LAUNCH(m) OFFSET(struct launch_config, cudaLaunchConfig_t, m)
SIZE_OF(struct launch_config, cudaLaunchConfig_t);
LAUNCH(gridDim);
LAUNCH(blockDim);
LAUNCH(dynamicSmemBytes);
LAUNCH(stream);
LAUNCH(attrs);
LAUNCH(numAttrs);

#define KERNEL(m) OFFSET(struct kernel_node_params, struct cudaKernelNodeParams, m)
SIZE_OF(struct kernel_node_params, struct cudaKernelNodeParams);
KERNEL(func);
KERNEL(gridDim);
KERNEL(blockDim);
KERNEL(sharedMemBytes);
KERNEL(kernelParams);
KERNEL(extra);

SIZE_OF(struct copy_node_params, struct cudaMemcpyNodeParams);
OFFSET(struct copy_node_params, struct cudaMemcpyNodeParams, copyParams);
SIZE_OF(struct graph_node_params, struct cudaGraphNodeParams);
_Static_assert(offsetof(struct graph_node_params, value) == offsetof(struct cudaGraphNodeParams, kernel), "kernel");

/* Structures that functions.txt takes from ptxi.h. */
SIZE_OF(ptxiLaunchAttribute, cudaLaunchAttribute);
OFFSET(ptxiLaunchAttribute, cudaLaunchAttribute, id);
_Static_assert(offsetof(ptxiLaunchAttribute, value) == offsetof(cudaLaunchAttribute, val), "cudaLaunchAttribute.val");
SIZE_OF(ptxiGraphEdgeData, cudaGraphEdgeData);
SIZE_OF(ptxiGraphExecUpdateResultInfo, cudaGraphExecUpdateResultInfo);
SIZE_OF(PTXI_GRAPH_INSTANTIATE_PARAMS, cudaGraphInstantiateParams);
SIZE_OF(PTXI_MEMSET_NODE_PARAMS, struct cudaMemsetParams);
SIZE_OF(PTXI_HOST_NODE_PARAMS, struct cudaHostNodeParams);
SIZE_OF(ptxiMemPoolProps, struct cudaMemPoolProps);
SIZE_OF(ptxiMemAccessDesc, struct cudaMemAccessDesc);
SIZE_OF(ptxiMemLocation, struct cudaMemLocation);

/* cudaDeviceProp, from the list of its members. */
#define PROPERTY(m) OFFSET(struct device_properties, struct cudaDeviceProp, m);
#define INT(member, attribute) PROPERTY(member)
#define SIZE(member, attribute) PROPERTY(member)
#define INTS(member, count, ...) PROPERTY(member)
SIZE_OF(struct device_properties, struct cudaDeviceProp);
PROPERTY(name)
PROPERTY(uuid)
PROPERTY(luid)
PROPERTY(luidDeviceNodeMask)
PROPERTY(totalGlobalMem)
#include "../../bindings/cudart/properties.def"
