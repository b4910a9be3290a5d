// Static objects use the runtime before main() begins and after it has ended.
#include "show.h"

__device__ int variable = 8;

__global__ void add(int *p, int value)
{
    *p += value + variable;
}

class Buffer {
    const char *name;
    int *p = nullptr;

public:
    explicit Buffer(const char *n) : name(n)
    {
        printf("%s: constructor\n", name);
        SHOW(cudaMalloc(&p, sizeof *p));
        SHOW(cudaMemset(p, 0, sizeof *p));
    }
    void use(int value)
    {
        int host = 0;

        add<<<1, 1>>>(p, value);
        SHOW(cudaGetLastError());
        SHOW(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
        printf("%s: %d\n", name, host);
    }
    ~Buffer()
    {
        printf("%s: destructor\n", name);
        SHOW(cudaFree(p));
    }
};

static Buffer global("global");

int main()
{
    static Buffer local("local");

    global.use(1);
    local.use(2);
    global.use(3);
    printf("end of main\n");
    return 0;
}
