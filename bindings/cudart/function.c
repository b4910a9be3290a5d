/* Attributes and occupancy of kernels, which programs name by their host function. */
#include "runtime.h"

/* The attributes of cudaFuncAttributes that are int. */
static const struct {
    ptxiFunctionAttribute attribute;
    size_t offset;
} int_attributes[] = {
    { PTXI_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, offsetof(struct function_attributes, maxThreadsPerBlock) },
    { PTXI_FUNC_ATTRIBUTE_NUM_REGS, offsetof(struct function_attributes, numRegs) },
    { PTXI_FUNC_ATTRIBUTE_PTX_VERSION, offsetof(struct function_attributes, ptxVersion) },
    { PTXI_FUNC_ATTRIBUTE_BINARY_VERSION, offsetof(struct function_attributes, binaryVersion) },
    { PTXI_FUNC_ATTRIBUTE_CACHE_MODE_CA, offsetof(struct function_attributes, cacheModeCA) },
    { PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
      offsetof(struct function_attributes, maxDynamicSharedSizeBytes) },
    { PTXI_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
      offsetof(struct function_attributes, preferredShmemCarveout) },
    { PTXI_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, offsetof(struct function_attributes, clusterDimMustBeSet) },
    { PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, offsetof(struct function_attributes, requiredClusterWidth) },
    { PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, offsetof(struct function_attributes, requiredClusterHeight) },
    { PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, offsetof(struct function_attributes, requiredClusterDepth) },
    { PTXI_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
      offsetof(struct function_attributes, clusterSchedulingPolicyPreference) },
    { PTXI_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
      offsetof(struct function_attributes, nonPortableClusterSizeAllowed) },
};

static int get_size(size_t *bytes, ptxiFunctionAttribute attribute, ptxiFunction f)
{
    int value = 0;
    int error = ptxiFuncGetAttribute(&value, attribute, f);

    *bytes = (size_t)value;
    return error;
}

/* Finds the function of the current context. */
static int find_function(const void *function, ptxiFunction *result)
{
    ptxiFunction current;
    int error = ptxi_runtime_find_kernel(function, result);

    if (!error && !ptxiKernelGetFunction(&current, (ptxiKernel)*result))
        *result = current;
    return error;
}

int ptxi_runtime_get_function_attributes(struct function_attributes *attributes, const void *function)
{
    struct function_attributes a = { .sharedSizeBytes = 0 };
    ptxiFunction f;
    int error;

    if (!attributes)
        return PTXI_ERROR_INVALID_VALUE;
    error = find_function(function, &f);
    if (!error)
        error = get_size(&a.sharedSizeBytes, PTXI_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f);
    if (!error)
        error = get_size(&a.constSizeBytes, PTXI_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, f);
    if (!error)
        error = get_size(&a.localSizeBytes, PTXI_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f);
    for (unsigned i = 0; i < sizeof int_attributes / sizeof *int_attributes && !error; i++)
        error = ptxiFuncGetAttribute((int *)((char *)&a + int_attributes[i].offset), int_attributes[i].attribute, f);
    if (!error)
        *attributes = a;
    return error;
}

int ptxi_runtime_set_function_attribute(const void *function, int attribute, int value)
{
    ptxiFunction f;
    int error = find_function(function, &f);

    if (error)
        return error;
    if (attribute < PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || attribute >= PTXI_FUNC_ATTRIBUTE_MAX)
        return PTXI_ERROR_INVALID_VALUE;
    return ptxiFuncSetAttribute(f, (ptxiFunctionAttribute)attribute, value);
}

int ptxi_runtime_set_function_cache(const void *function, int config)
{
    ptxiFunction f;
    int error = find_function(function, &f);

    return error ? error : (int)ptxiFuncSetCacheConfig(f, (ptxiFuncCache)config);
}

int ptxi_runtime_set_function_banks(const void *function, int config)
{
    ptxiFunction f;
    int error = find_function(function, &f);

    return error ? error : (int)ptxiFuncSetSharedMemConfig(f, (ptxiSharedConfig)config);
}

int ptxi_runtime_get_function_name(const char **name, const void *function)
{
    ptxiFunction f;
    int error;

    if (!name)
        return PTXI_ERROR_INVALID_VALUE;
    error = find_function(function, &f);
    return error ? error : (int)ptxiFuncGetName(name, f);
}

int ptxi_runtime_get_param_info(const void *function, size_t index, size_t *offset, size_t *bytes)
{
    ptxiFunction f;
    int error = find_function(function, &f);

    return error ? error : (int)ptxiFuncGetParamInfo(f, index, offset, bytes);
}

int ptxi_runtime_occupancy(int *blocks, const void *function, int block_size, size_t shared_bytes, unsigned flags)
{
    ptxiFunction f;
    int error = find_function(function, &f);

    if (error)
        return error;
    return ptxiOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, block_size, shared_bytes, flags);
}

int ptxi_runtime_available_shared(size_t *bytes, const void *function, int blocks, int block_size)
{
    ptxiFunction f;
    int error = find_function(function, &f);

    return error ? error : (int)ptxiOccupancyAvailableDynamicSMemPerBlock(bytes, f, blocks, block_size);
}

int ptxi_runtime_max_clusters(int *clusters, const void *function, const struct launch_config *config)
{
    ptxiLaunchConfig driver;
    ptxiFunction f;
    int error;

    if (!clusters || !config)
        return PTXI_ERROR_INVALID_VALUE;
    error = find_function(function, &f);
    if (error)
        return error;
    driver = ptxi_runtime_driver_config(config);
    return ptxiOccupancyMaxActiveClusters(clusters, f, &driver);
}

int ptxi_runtime_max_cluster_size(int *size, const void *function, const struct launch_config *config)
{
    ptxiLaunchConfig driver;
    ptxiFunction f;
    int error;

    if (!size || !config)
        return PTXI_ERROR_INVALID_VALUE;
    error = find_function(function, &f);
    if (error)
        return error;
    driver = ptxi_runtime_driver_config(config);
    return ptxiOccupancyMaxPotentialClusterSize(size, f, &driver);
}
