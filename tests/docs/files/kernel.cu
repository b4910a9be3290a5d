__global__ void increment(int *x) { x[threadIdx.x]++; }
