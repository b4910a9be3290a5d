// A kernel that runs until the host permits it to end, so that the order of events does not depend on time.
#pragma once

// *gate is in mapped memory. The kernel ends when the host has set it.
static __global__ void wait_for(volatile int *gate)
{
    while (!*gate)
        __nanosleep(1000);
}

// Call it before any function of the runtime: to load a kernel while another one runs, the driver may wait for the
// latter.
static inline volatile int *make_gate()
{
    int *gate;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    MUST(cudaHostAlloc(&gate, sizeof *gate, cudaHostAllocMapped));
    *gate = 0;
    return gate;
}
