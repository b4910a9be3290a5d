// Memory, events and memory pools that two processes share. The second process is this program, started again.
#include "show.h"
#include "delay.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 5000, SMALL = 10, SOCKET = 3 };

__global__ void fill(int *p, int n, int first)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = first + i;
}

__global__ void add(int *p, int n, int value)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] += value;
}

// ---- messages; the processes take turns, so that their output has an order

struct Message {
    char data[64];
};

static void stop_without_peer(const char *what)
{
    printf("%s\n", what);
    exit(98);
}

static void send_to(int socket, const void *data, int fd = -1)
{
    char control[CMSG_SPACE(sizeof fd)] = {};
    iovec part = { (void *)data, sizeof(Message) };
    msghdr h = {};

    fflush(stdout);
    h.msg_iov = &part;
    h.msg_iovlen = 1;
    if (fd >= 0) {
        h.msg_control = control;
        h.msg_controllen = sizeof control;
        cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    if (sendmsg(socket, &h, MSG_NOSIGNAL) != sizeof(Message))
        stop_without_peer("cannot send");
}

template<typename T> static T receive_from(int socket, int *fd = nullptr)
{
    static_assert(sizeof(T) == sizeof(Message), "messages have one size");
    char control[CMSG_SPACE(sizeof(int))];
    T data;
    iovec part = { &data, sizeof data };
    msghdr h = {};

    h.msg_iov = &part;
    h.msg_iovlen = 1;
    h.msg_control = control;
    h.msg_controllen = sizeof control;
    if (recvmsg(socket, &h, MSG_WAITALL) != sizeof data)
        stop_without_peer("cannot receive");
    if (fd)
        memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof *fd);
    return data;
}

static void give_turn(int socket)
{
    static const Message nothing = {};

    send_to(socket, &nothing);
}

static void await_turn(int socket)
{
    receive_from<Message>(socket);
}

static void show_ends(const char *label, const int *device, int n)
{
    int first, last;

    MUST(cudaMemcpy(&first, device, sizeof first, cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(&last, device + n - 1, sizeof last, cudaMemcpyDeviceToHost));
    printf("%s: %d ... %d\n", label, first, last);
}

// ---- memory

static int *parent_memory(int socket)
{
    cudaIpcMemHandle_t handle, again, of_small;
    int *p, *small, *own;

    printf("memory\n");
    MUST(cudaMalloc(&p, N * sizeof *p));
    MUST(cudaMalloc(&small, SMALL * sizeof *small));
    fill<<<1, 128>>>(p, N, 1);
    fill<<<1, 32>>>(small, SMALL, 100);
    MUST(cudaDeviceSynchronize());
    SHOW(cudaIpcGetMemHandle(&handle, p));
    SHOW(cudaIpcGetMemHandle(&again, p));
    SHOW(cudaIpcGetMemHandle(&of_small, small));
    printf("the same handle: %d\n", !memcmp(&handle, &again, sizeof handle));
    show_ends("content", p, N);
    send_to(socket, &handle);
    send_to(socket, &of_small);
    await_turn(socket);
    show_ends("changed", p, N);
    show_ends("changed", small, SMALL);
    SHOW(cudaIpcOpenMemHandle((void **)&own, handle, cudaIpcMemLazyEnablePeerAccess));
    SHOW(cudaFree(small));
    return p;
}

static int *child_memory()
{
    cudaIpcMemHandle_t handle = receive_from<cudaIpcMemHandle_t>(SOCKET);
    cudaIpcMemHandle_t of_small = receive_from<cudaIpcMemHandle_t>(SOCKET);
    int *p, *again, *small;

    printf("in the other process\n");
    SHOW(cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess));
    SHOW(cudaIpcOpenMemHandle((void **)&again, handle, cudaIpcMemLazyEnablePeerAccess));
    SHOW(cudaIpcOpenMemHandle((void **)&small, of_small, cudaIpcMemLazyEnablePeerAccess));
    printf("the same address: %d\n", p == again);
    show_ends("opened", p, N);
    show_ends("opened", small, SMALL);
    add<<<1, 128>>>(p, N, 1000);
    add<<<1, 32>>>(small, SMALL, 1000);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaIpcCloseMemHandle(again));
    show_ends("still open", p, N);
    SHOW(cudaIpcCloseMemHandle(small));
    give_turn(SOCKET);
    return p;
}

// ---- events

static void parent_events(int socket, int *p, volatile int *gate)
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t event;
    cudaStream_t s;

    printf("events\n");
    MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    SHOW(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    SHOW(cudaIpcGetEventHandle(&handle, event));
    send_to(socket, &handle);
    await_turn(socket);
    wait_for<<<1, 1, 0, s>>>(gate);
    fill<<<1, 128, 0, s>>>(p, N, 7);
    SHOW(cudaEventRecord(event, s));
    give_turn(socket);
    await_turn(socket);
    *gate = 1;
    give_turn(socket);
    await_turn(socket);
    SHOW(cudaEventQuery(event));
    SHOW(cudaStreamWaitEvent(s, event));
    add<<<1, 128, 0, s>>>(p, N, 1);
    give_turn(socket);
    await_turn(socket);
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaEventQuery(event));
    SHOW(cudaEventSynchronize(event));
    show_ends("after the other process", p, N);
    SHOW(cudaEventDestroy(event));
}

static void child_events(int *p, volatile int *gate)
{
    cudaIpcEventHandle_t handle = receive_from<cudaIpcEventHandle_t>(SOCKET);
    cudaEvent_t event;
    cudaStream_t s;

    printf("in the other process\n");
    MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    SHOW(cudaIpcOpenEventHandle(&event, handle));
    printf("never recorded\n");
    SHOW(cudaEventQuery(event));
    SHOW(cudaEventSynchronize(event));
    give_turn(SOCKET);
    await_turn(SOCKET);
    printf("in the other process\n");
    SHOW(cudaEventQuery(event));
    SHOW(cudaStreamWaitEvent(s, event));
    add<<<1, 128, 0, s>>>(p, N, 10000);
    give_turn(SOCKET);
    await_turn(SOCKET);
    SHOW(cudaStreamSynchronize(s));
    show_ends("after the first process", p, N);
    SHOW(cudaEventQuery(event));
    wait_for<<<1, 1, 0, s>>>(gate);
    add<<<1, 128, 0, s>>>(p, N, 20000);
    SHOW(cudaEventRecord(event, s));
    give_turn(SOCKET);
    await_turn(SOCKET);
    *gate = 1;
    give_turn(SOCKET);
    await_turn(SOCKET);
    printf("in the other process\n");
    SHOW(cudaEventDestroy(event));
    SHOW(cudaIpcCloseMemHandle(p));
    give_turn(SOCKET);
}

// ---- memory pools

static void parent_pool(int socket)
{
    cudaMemPoolProps props = {};
    cudaMemPoolPtrExportData data;
    cudaMemPool_t pool;
    int fd, *p;

    printf("pools\n");
    props.allocType = cudaMemAllocationTypePinned;
    props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    props.location.type = cudaMemLocationTypeDevice;
    SHOW(cudaMemPoolCreate(&pool, &props));
    SHOW(cudaMallocFromPoolAsync((void **)&p, N * sizeof *p, pool, 0));
    fill<<<1, 128>>>(p, N, 40);
    MUST(cudaDeviceSynchronize());
    SHOW(cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    SHOW(cudaMemPoolExportPointer(&data, p));
    send_to(socket, &data, fd);
    close(fd);
    await_turn(socket);
    show_ends("after the other process", p, N);
    SHOW(cudaFreeAsync(p, 0));
    SHOW(cudaStreamSynchronize(0));
    SHOW(cudaMemPoolDestroy(pool));
}

static void child_pool()
{
    int fd, *p, *other;
    cudaMemPoolPtrExportData data = receive_from<cudaMemPoolPtrExportData>(SOCKET, &fd);
    cudaMemPool_t pool;
    cudaMemLocation location = {};
    cudaMemAccessFlags access;

    printf("in the other process\n");
    SHOW(cudaMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fd, cudaMemHandleTypePosixFileDescriptor, 0));
    close(fd);
    location.type = cudaMemLocationTypeDevice;
    SHOW(cudaMemPoolGetAccess(&access, pool, &location));
    printf("access %d\n", (int)access);
    SHOW(cudaMemPoolImportPointer((void **)&p, pool, &data));
    show_ends("imported", p, N);
    add<<<1, 128>>>(p, N, 1);
    SHOW(cudaDeviceSynchronize());
    printf("nothing can be allocated: %d\n", cudaMallocFromPoolAsync((void **)&other, 4, pool, 0) != cudaSuccess);
    cudaGetLastError();
    SHOW(cudaFreeAsync(p, 0));
    SHOW(cudaStreamSynchronize(0));
    SHOW(cudaMemPoolDestroy(pool));
    give_turn(SOCKET);
}

static int run_child()
{
    volatile int *gate = make_gate();
    int *p = child_memory();

    child_events(p, gate);
    child_pool();
    return 0;
}

static pid_t start_child(int socket)
{
    pid_t child = fork();

    if (!child) {
        dup2(socket, SOCKET);
        execl("/proc/self/exe", "ipc", "child", (char *)nullptr);
        _exit(97);
    }
    close(socket);
    return child;
}

int main(int argc, char **)
{
    int ends[2], status;

    if (argc > 1)
        return run_child();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return 96;
    pid_t child = start_child(ends[1]);
    volatile int *gate = make_gate();
    int *p = parent_memory(ends[0]);
    parent_events(ends[0], p, gate);
    give_turn(ends[0]);
    await_turn(ends[0]);
    SHOW(cudaFree(p));
    parent_pool(ends[0]);
    waitpid(child, &status, 0);
    printf("status %d\n", status);
    return 0;
}
