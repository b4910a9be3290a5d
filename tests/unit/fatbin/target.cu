// A kernel that stores the target it was compiled for: 900 for sm_90, 901 for sm_90a, 1002 for sm_100f.
extern "C" __global__ void target(int *p)
{
#if defined(__CUDA_ARCH_SPECIFIC__)
    *p = __CUDA_ARCH__ + 1;
#elif defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
    *p = __CUDA_ARCH__ + 2;
#elif defined(__CUDA_ARCH__)
    *p = __CUDA_ARCH__;
#endif
}
