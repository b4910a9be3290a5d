#include "api/context/profile.h"

#include "isa/bytecode.h"

#include <limits.h>
#include <stddef.h>
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

/* An attribute is a constant or a field of the profile. */
struct attribute {
    int constant;
    uint16_t offset; /* of the field in struct ptxi_profile, or 0 */
};

#define CONSTANT(name, value) [PTXI_DEVICE_ATTRIBUTE_##name] = { .constant = value }
#define FIELD(name, field) [PTXI_DEVICE_ATTRIBUTE_##name] = { .offset = offsetof(struct ptxi_profile, field) }

/* Attributes that are not in the table are 0: the device does not have what they name. */
static const struct attribute attributes[PTXI_DEVICE_ATTRIBUTE_MAX] = {
    CONSTANT(MAX_THREADS_PER_BLOCK, PTXI_MAX_CTA_THREADS),
    CONSTANT(MAX_BLOCK_DIM_X, PTXI_MAX_CTA_THREADS),
    CONSTANT(MAX_BLOCK_DIM_Y, PTXI_MAX_CTA_THREADS),
    CONSTANT(MAX_BLOCK_DIM_Z, PTXI_MAX_CTA_Z),
    CONSTANT(MAX_GRID_DIM_X, INT_MAX),
    CONSTANT(MAX_GRID_DIM_Y, PTXI_MAX_GRID_YZ),
    CONSTANT(MAX_GRID_DIM_Z, PTXI_MAX_GRID_YZ),
    CONSTANT(MAX_SHARED_MEMORY_PER_BLOCK, PTXI_DEFAULT_SHARED),
    CONSTANT(TOTAL_CONSTANT_MEMORY, 64 << 10),
    CONSTANT(WARP_SIZE, 32),
    CONSTANT(MAX_PITCH, INT_MAX),
    FIELD(MAX_REGISTERS_PER_BLOCK, block_regs),
    FIELD(CLOCK_RATE, clock),
    CONSTANT(TEXTURE_ALIGNMENT, 512),
    CONSTANT(GPU_OVERLAP, 1),
    FIELD(MULTIPROCESSOR_COUNT, multiprocessors),
    FIELD(INTEGRATED, integrated),
    CONSTANT(CAN_MAP_HOST_MEMORY, 1),
    CONSTANT(SURFACE_ALIGNMENT, 512),
    CONSTANT(CONCURRENT_KERNELS, 1),
    FIELD(MEMORY_CLOCK_RATE, memory_clock),
    FIELD(GLOBAL_MEMORY_BUS_WIDTH, bus),
    FIELD(L2_CACHE_SIZE, l2),
    FIELD(MAX_THREADS_PER_MULTIPROCESSOR, threads),
    CONSTANT(ASYNC_ENGINE_COUNT, 3),
    CONSTANT(UNIFIED_ADDRESSING, 1),
    CONSTANT(TEXTURE_PITCH_ALIGNMENT, 32),
    CONSTANT(STREAM_PRIORITIES_SUPPORTED, 1),
    CONSTANT(GLOBAL_L1_CACHE_SUPPORTED, 1),
    CONSTANT(LOCAL_L1_CACHE_SUPPORTED, 1),
    FIELD(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, shared),
    FIELD(MAX_REGISTERS_PER_MULTIPROCESSOR, regs),
    CONSTANT(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
    CONSTANT(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1),
    CONSTANT(MANAGED_MEMORY, 1),
    CONSTANT(HOST_NATIVE_ATOMIC_SUPPORTED, 1),
    FIELD(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, fp64_ratio),
    CONSTANT(CONCURRENT_MANAGED_ACCESS, 1),
    CONSTANT(COMPUTE_PREEMPTION_SUPPORTED, 1),
    CONSTANT(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1),
    FIELD(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, block_shared),
    CONSTANT(HOST_REGISTER_SUPPORTED, 1),
    CONSTANT(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 1),
    FIELD(MAX_BLOCKS_PER_MULTIPROCESSOR, blocks),
    FIELD(RESERVED_SHARED_MEMORY_PER_BLOCK, reserved),
    CONSTANT(READ_ONLY_HOST_REGISTER_SUPPORTED, 1),
    CONSTANT(MEMORY_POOLS_SUPPORTED, 1),
    CONSTANT(HOST_MEMORY_POOLS_SUPPORTED, 1),
    CONSTANT(MEMPOOL_SUPPORTED_HANDLE_TYPES, PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
    CONSTANT(IPC_EVENT_SUPPORTED, 1),
    CONSTANT(CAN_USE_64_BIT_STREAM_MEM_OPS, 1),
    CONSTANT(CAN_USE_STREAM_WAIT_VALUE_NOR, 1),
    CONSTANT(UNIFIED_FUNCTION_POINTERS, 1),

    /* Limits of textures and surfaces, recorded on an H100. CUDA Programming Guide, "Compute Capabilities": they are
     * equal for all compute capabilities from 7.5 on. */
    CONSTANT(MAXIMUM_TEXTURE1D_WIDTH, 131072),
    CONSTANT(MAXIMUM_TEXTURE2D_WIDTH, 131072),
    CONSTANT(MAXIMUM_TEXTURE2D_HEIGHT, 65536),
    CONSTANT(MAXIMUM_TEXTURE3D_WIDTH, 16384),
    CONSTANT(MAXIMUM_TEXTURE3D_HEIGHT, 16384),
    CONSTANT(MAXIMUM_TEXTURE3D_DEPTH, 16384),
    CONSTANT(MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768),
    CONSTANT(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768),
    CONSTANT(MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048),
    CONSTANT(MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768),
    CONSTANT(MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048),
    CONSTANT(MAXIMUM_TEXTURE2D_GATHER_WIDTH, 32768),
    CONSTANT(MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 32768),
    CONSTANT(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 8192),
    CONSTANT(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 8192),
    CONSTANT(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 32768),
    CONSTANT(MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768),
    CONSTANT(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 32768),
    CONSTANT(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046),
    CONSTANT(MAXIMUM_SURFACE1D_WIDTH, 32768),
    CONSTANT(MAXIMUM_SURFACE2D_WIDTH, 131072),
    CONSTANT(MAXIMUM_SURFACE2D_HEIGHT, 65536),
    CONSTANT(MAXIMUM_SURFACE3D_WIDTH, 16384),
    CONSTANT(MAXIMUM_SURFACE3D_HEIGHT, 16384),
    CONSTANT(MAXIMUM_SURFACE3D_DEPTH, 16384),
    CONSTANT(MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768),
    CONSTANT(MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048),
    CONSTANT(MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768),
    CONSTANT(MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768),
    CONSTANT(MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048),
    CONSTANT(MAXIMUM_SURFACECUBEMAP_WIDTH, 32768),
    CONSTANT(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 32768),
    CONSTANT(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 2046),
    CONSTANT(MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 268435456),
    CONSTANT(MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072),
    CONSTANT(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000),
    CONSTANT(MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120),
    CONSTANT(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768),
    CONSTANT(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 32768),
    CONSTANT(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 32768),
};

#undef CONSTANT
#undef FIELD

static int field_of(const struct ptxi_profile *p, size_t offset)
{
    unsigned value;

    memcpy(&value, (const char *)p + offset, sizeof value);
    return (int)value;
}

static int value_of(const struct ptxi_profile *p, ptxiDeviceAttribute a)
{
    switch (a) { /* those that are computed */
    case PTXI_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return (int)(p->sm / 10);
    case PTXI_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return (int)(p->sm % 10);
    case PTXI_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: return p->sm >= 60;
    case PTXI_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE: return p->sm >= 80 ? (int)(p->l2 / 8 * 5) : 0;
    case PTXI_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE: return p->sm >= 80 ? 128 << 20 : 0;
    case PTXI_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: return p->sm >= 90;
    case PTXI_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT: return p->sm >= 90 ? 4 : 1;
    case PTXI_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED: return p->sm >= 90;
    default: return attributes[a].offset ? field_of(p, attributes[a].offset) : attributes[a].constant;
    }
}

bool ptxi_profile_attribute(const struct ptxi_profile *p, int attribute, int *value)
{
    if (attribute < 1 || attribute >= PTXI_DEVICE_ATTRIBUTE_MAX)
        return false;
    *value = value_of(p, (ptxiDeviceAttribute)attribute);
    return true;
}
