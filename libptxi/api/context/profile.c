#include "api/context/profile.h"

#include "isa/bytecode.h"

#include <limits.h>
#include <string.h>

static const struct ptxi_profile profiles[] = {
#define PROFILE(name, sm, card, mps, threads, blocks, regs, shared, block_regs, optin, l2, clock, memory, bus, fp64, \
                soc)                                                                                                 \
    { name, sm, card, mps, threads, blocks, regs << 10, shared << 10, block_regs << 10, optin << 10,                 \
      sm >= 80 ? 1024 : 0, l2 << 10, clock * 1000, memory * 1000, bus, fp64, soc },
#include "api/context/profile.def"
#undef PROFILE
};

enum { PROFILES = sizeof profiles / sizeof profiles[0] };

const struct ptxi_profile *ptxi_profile_at(unsigned index)
{
    return index < PROFILES ? &profiles[index] : NULL;
}

const struct ptxi_profile *ptxi_profile_find(const char *name)
{
    size_t len = strlen(name);

    if (len && (name[len - 1] == 'a' || name[len - 1] == 'f'))
        len--;
    for (unsigned i = 0; i < PROFILES; i++)
        if (strlen(profiles[i].name) == len && !memcmp(profiles[i].name, name, len))
            return &profiles[i];
    return NULL;
}

const struct ptxi_profile *ptxi_profile_for_sm(unsigned sm)
{
    const struct ptxi_profile *best = &profiles[0];

    for (unsigned i = 0; i < PROFILES; i++)
        if (profiles[i].sm <= sm)
            best = &profiles[i];
    return best;
}

const struct ptxi_profile *ptxi_profile_default(void)
{
    return ptxi_profile_for_sm(90);
}

/* Limits of textures and surfaces, recorded on an H100. CUDA Programming Guide, "Compute Capabilities": they are equal
 * for all compute capabilities from 7.5 on. */
static const struct {
    ptxiDeviceAttribute attribute;
    int value;
} texture_limits[] = {
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 8192 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 8192 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 131072 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 65536 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, 16384 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, 16384 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH, 16384 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 2046 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 268435456 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 32768 },
    { PTXI_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 32768 },
};

static int texture_limit(ptxiDeviceAttribute a)
{
    for (size_t i = 0; i < sizeof texture_limits / sizeof *texture_limits; i++)
        if (texture_limits[i].attribute == a)
            return texture_limits[i].value;
    return 0; /* not offered */
}

static int value_of(const struct ptxi_profile *p, ptxiDeviceAttribute a)
{
    switch (a) {
    case PTXI_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return PTXI_MAX_CTA_THREADS;
    case PTXI_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: return PTXI_MAX_CTA_THREADS;
    case PTXI_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return PTXI_MAX_CTA_THREADS;
    case PTXI_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return PTXI_MAX_CTA_Z;
    case PTXI_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return INT_MAX;
    case PTXI_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: return PTXI_MAX_GRID_YZ;
    case PTXI_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return PTXI_MAX_GRID_YZ;
    case PTXI_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return PTXI_DEFAULT_SHARED;
    case PTXI_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return 64 << 10;
    case PTXI_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case PTXI_DEVICE_ATTRIBUTE_MAX_PITCH: return INT_MAX;
    case PTXI_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: return (int)p->block_regs;
    case PTXI_DEVICE_ATTRIBUTE_CLOCK_RATE: return (int)p->clock;
    case PTXI_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT: return 512;
    case PTXI_DEVICE_ATTRIBUTE_GPU_OVERLAP: return 1;
    case PTXI_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return (int)p->multiprocessors;
    case PTXI_DEVICE_ATTRIBUTE_INTEGRATED: return p->integrated;
    case PTXI_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY: return 1;
    case PTXI_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT: return 512;
    case PTXI_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS: return 1;
    case PTXI_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return (int)p->memory_clock;
    case PTXI_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return (int)p->bus;
    case PTXI_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return (int)p->l2;
    case PTXI_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return (int)p->threads;
    case PTXI_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 3;
    case PTXI_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: return 1;
    case PTXI_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT: return 32;
    case PTXI_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return (int)(p->sm / 10);
    case PTXI_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return (int)(p->sm % 10);
    case PTXI_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return (int)p->shared;
    case PTXI_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return (int)p->regs;
    case PTXI_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_MANAGED_MEMORY: return 1;
    case PTXI_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: return (int)p->fp64_ratio;
    case PTXI_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS: return 1;
    case PTXI_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: return 1;
    case PTXI_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: return p->sm >= 60;
    case PTXI_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return (int)p->block_shared;
    case PTXI_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST: return 1;
    case PTXI_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return (int)p->blocks;
    case PTXI_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE: return p->sm >= 80 ? (int)(p->l2 / 8 * 5) : 0;
    case PTXI_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE: return p->sm >= 80 ? 128 << 20 : 0;
    case PTXI_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return (int)p->reserved;
    case PTXI_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES: return PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    case PTXI_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED: return 1;
    case PTXI_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: return p->sm >= 90;
    case PTXI_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS: return 1;
    case PTXI_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR: return 1;
    case PTXI_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT: return p->sm >= 90 ? 4 : 1;
    case PTXI_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED: return p->sm >= 90;
    case PTXI_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS: return 1;
    default: return texture_limit(a);
    }
}

bool ptxi_profile_attribute(const struct ptxi_profile *p, int attribute, int *value)
{
    if (attribute < 1 || attribute >= PTXI_DEVICE_ATTRIBUTE_MAX)
        return false;
    *value = value_of(p, (ptxiDeviceAttribute)attribute);
    return true;
}
