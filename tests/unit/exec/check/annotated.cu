// Races that the program intends. annotated.ptx was made from this file:
//     nvcc -ptx -arch=compute_90 -DPTXI_ANNOTATE -I../../../../include annotated.cu
// The first letter of a name says what is found, as in races.cu.
#include "ptxi_annotate.h"

extern "C" __global__ void e_write(unsigned *p) { *p = threadIdx.x; }
extern "C" __global__ void c_write(unsigned *p) { PTXI_INTENDED_RACE(*p = threadIdx.x); }
extern "C" __global__ void c_read_write(unsigned *p)
{
    PTXI_INTENDED_RACE(if (*p < threadIdx.x) *p = threadIdx.x);
}
extern "C" __global__ void e_other(unsigned *p)
{
    PTXI_INTENDED_RACE(p[0] = threadIdx.x);
    p[1] = threadIdx.x;
}
