// fork(): a child of a process that has used the runtime gets an error; a child of one that has not can use it.
#include "show.h"

#include <sys/wait.h>
#include <unistd.h>

__global__ void set(int *p)
{
    *p = 42;
}

static int run_in_child(int (*f)())
{
    int status = 0;

    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int result = f();
        fflush(stdout);
        _exit(result);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int use_runtime()
{
    int *p, host = 0, count;

    printf("in the child\n");
    SHOW(cudaGetDeviceCount(&count));
    if (SHOW(cudaMalloc(&p, sizeof *p)))
        return 3;
    set<<<1, 1>>>(p);
    SHOW(cudaGetLastError());
    SHOW(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("value %d\n", host);
    return 0;
}

static int *parents_memory;

static int use_parents_state()
{
    int count, host = 0;

    printf("in the child\n");
    SHOW(cudaGetDeviceCount(&count));
    SHOW(cudaMemcpy(&host, parents_memory, sizeof host, cudaMemcpyDeviceToHost));
    set<<<1, 1>>>(parents_memory);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    return 5;
}

int main()
{
    int host = 0;

    printf("status %d\n", run_in_child(use_runtime));
    MUST(cudaMalloc(&parents_memory, sizeof(int)));
    set<<<1, 1>>>(parents_memory);
    MUST(cudaDeviceSynchronize());
    printf("status %d\n", run_in_child(use_parents_state));
    printf("in the parent\n");
    SHOW(cudaMemcpy(&host, parents_memory, sizeof host, cudaMemcpyDeviceToHost));
    printf("value %d\n", host);
    return 0;
}
