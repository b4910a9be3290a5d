/* Another process with a context, which a test controls. It is the same program, started with the argument "peer":
 * after fork() alone the library cannot be used. The first lines of main() are
 *
 *     if (is_peer(argc, argv))
 *         return run_peer();
 */
#ifndef PTXI_TESTS_PEER_H
#define PTXI_TESTS_PEER_H

#include "unit/support/context.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the peer does. `value` and `data` are arguments and results. */
enum peer_operation {
    PEER_ALLOCATE,     /* value: bytes -> address */
    PEER_FREE,         /* value: address */
    PEER_NAME_MEMORY,  /* value: address -> data */
    PEER_OPEN_MEMORY,  /* data -> address */
    PEER_CLOSE_MEMORY, /* value: address */
    PEER_LOAD,         /* value: address -> word */
    PEER_INCREMENT,    /* value: address; a kernel adds 1 to the word */
    PEER_MAKE_EVENT,   /* -> data */
    PEER_OPEN_EVENT,   /* data; the event of the following operations */
    PEER_STALL,        /* the stream waits until PEER_RESUME */
    PEER_RESUME,
    PEER_FAIL,         /* a kernel of the stream accesses invalid memory */
    PEER_RECORD,       /* in the stream */
    PEER_QUERY,
    PEER_SYNCHRONIZE,
    PEER_STREAM_WAIT,  /* the stream waits for the event, then a kernel adds 1 to the word at the address `value` */
    PEER_FINISH,       /* waits for the stream */
    PEER_IMPORT_POOL,  /* a file descriptor */
    PEER_IMPORT,       /* data -> address */
    PEER_FREE_ASYNC,   /* value: address */
    PEER_DESTROY_POOL,
};

struct peer_message {
    int operation, result, fd; /* fd -1: none; another number is not that of the receiver */
    unsigned long long value;
    char data[64];
};
_Static_assert(sizeof(ptxiIpcMemHandle) == 64 && sizeof(ptxiIpcEventHandle) == 64 &&
               sizeof(ptxiMemPoolPtrExportData) == 64, "all of them fit");

enum { PEER_SOCKET = 3 };

/* Adds 1 to the word at p. */
static const char peer_text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) { .reg .u64 %p; .reg .u32 %x; ld.param.u64 %p, [p];\n"
    "  ld.global.u32 %x, [%p]; add.u32 %x, %x, 1; st.global.u32 [%p], %x; ret; }\n";

/* ---- messages, also with a file descriptor */

static inline bool send_message(int to, struct peer_message m)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
    struct iovec data = { &m, sizeof m };
    struct msghdr h = { .msg_iov = &data, .msg_iovlen = 1 };

    if (m.fd >= 0) {
        memcpy(CMSG_DATA(&control.header), &m.fd, sizeof m.fd);
        h.msg_control = &control;
        h.msg_controllen = sizeof control;
    }
    return sendmsg(to, &h, MSG_NOSIGNAL) == sizeof m;
}

/* False: the other process has ended. */
static inline bool receive_message(int from, struct peer_message *m)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec data = { m, sizeof *m };
    struct msghdr h = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };

    if (recvmsg(from, &h, MSG_WAITALL) != sizeof *m)
        return false;
    if (m->fd >= 0)
        memcpy(&m->fd, CMSG_DATA(&control.header), sizeof m->fd);
    return true;
}

/* ---- the peer */

static struct {
    ptxiFunction kernel;
    ptxiStream stream;
    ptxiDevicePtr flag;
    ptxiEvent event;
    ptxiMemoryPool pool;
} peer_state;

static inline ptxiResult peer_launch(ptxiDevicePtr p)
{
    void *params[] = { &p };

    return ptxiLaunchKernel(peer_state.kernel, 1, 1, 1, 1, 1, 1, 0, peer_state.stream, params, NULL);
}

static inline ptxiResult peer_load(ptxiDevicePtr p, unsigned long long *value)
{
    unsigned word = 0;
    ptxiResult r = ptxiMemcpyDtoH(&word, p, sizeof word);

    *value = word;
    return r;
}

static inline ptxiResult peer_make_event(void *handle)
{
    ptxiResult r = ptxiEventCreate(&peer_state.event, PTXI_EVENT_INTERPROCESS | PTXI_EVENT_DISABLE_TIMING);

    return r ? r : ptxiIpcGetEventHandle(handle, peer_state.event);
}

static inline ptxiResult peer_open_memory(struct peer_message *m)
{
    ptxiIpcMemHandle handle;

    memcpy(&handle, m->data, sizeof handle);
    return ptxiIpcOpenMemHandle(&m->value, handle, PTXI_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}

static inline ptxiResult peer_open_event(const struct peer_message *m)
{
    ptxiIpcEventHandle handle;

    memcpy(&handle, m->data, sizeof handle);
    return ptxiIpcOpenEventHandle(&peer_state.event, handle);
}

static inline ptxiResult peer_stall(void)
{
    ptxiResult r = ptxiMemsetD32(peer_state.flag, 0, 1);

    return r ? r : ptxiStreamWaitValue32(peer_state.stream, peer_state.flag, 1, PTXI_STREAM_WAIT_VALUE_EQ);
}

static inline ptxiResult peer_import_pool(int fd)
{
    ptxiResult r = ptxiMemPoolImportFromShareableHandle(&peer_state.pool, (void *)(intptr_t)fd,
                                                        PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);

    close(fd);
    return r;
}

static inline ptxiResult peer_do(struct peer_message *m)
{
    ptxiResult r;

    switch (m->operation) {
    case PEER_ALLOCATE: return ptxiMemAlloc(&m->value, m->value);
    case PEER_FREE: return ptxiMemFree(m->value);
    case PEER_NAME_MEMORY: return ptxiIpcGetMemHandle((ptxiIpcMemHandle *)m->data, m->value);
    case PEER_OPEN_MEMORY: return peer_open_memory(m);
    case PEER_CLOSE_MEMORY: return ptxiIpcCloseMemHandle(m->value);
    case PEER_LOAD: return peer_load(m->value, &m->value);
    case PEER_INCREMENT: return (r = peer_launch(m->value)) ? r : ptxiStreamSynchronize(peer_state.stream);
    case PEER_MAKE_EVENT: return peer_make_event(m->data);
    case PEER_OPEN_EVENT: return peer_open_event(m);
    case PEER_STALL: return peer_stall();
    case PEER_RESUME: return ptxiMemsetD32(peer_state.flag, 1, 1);
    case PEER_FAIL: return peer_launch(16);
    case PEER_RECORD: return ptxiEventRecord(peer_state.event, peer_state.stream);
    case PEER_QUERY: return ptxiEventQuery(peer_state.event);
    case PEER_SYNCHRONIZE: return ptxiEventSynchronize(peer_state.event);
    case PEER_STREAM_WAIT:
        return (r = ptxiStreamWaitEvent(peer_state.stream, peer_state.event, 0)) ? r : peer_launch(m->value);
    case PEER_FINISH: return ptxiStreamSynchronize(peer_state.stream);
    case PEER_IMPORT_POOL: return peer_import_pool(m->fd);
    case PEER_IMPORT:
        return ptxiMemPoolImportPointer(&m->value, peer_state.pool, (ptxiMemPoolPtrExportData *)m->data);
    case PEER_FREE_ASYNC: return ptxiMemFreeAsync(m->value, peer_state.stream);
    case PEER_DESTROY_POOL: return ptxiMemPoolDestroy(peer_state.pool);
    default: return PTXI_ERROR_UNKNOWN;
    }
}

static inline bool is_peer(int argc, char **argv)
{
    return argc == 2 && !strcmp(argv[1], "peer");
}

/* Obeys until the test ends. Check's assertions cannot be used here. */
static inline int run_peer(void)
{
    struct peer_message m;
    ptxiModule module;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (ptxiInit(0) || ptxiCtxCreate(&ctx, 0, 0) || ptxiModuleLoadData(&module, peer_text) ||
        ptxiModuleGetFunction(&peer_state.kernel, module, "k") ||
        ptxiStreamCreate(&peer_state.stream, PTXI_STREAM_NON_BLOCKING) || ptxiMemAlloc(&peer_state.flag, 4))
        return 1;
    while (receive_message(PEER_SOCKET, &m)) {
        m.result = peer_do(&m);
        m.fd = -1;
        if (!send_message(PEER_SOCKET, m))
            return 1;
    }
    return 0;
}

/* ---- the test */

struct peer {
    pid_t process;
    int socket;
};

/* Starts this program again. With TEST_EMULATOR, which is the emulator that runs it, /proc/self/exe is the emulator. */
static inline void execute_peer(void)
{
    const char *emulator = getenv("TEST_EMULATOR");
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (emulator && n > 0) {
        path[n] = 0;
        execlp(emulator, emulator, path, "peer", (char *)NULL);
    } else if (!emulator) {
        execl("/proc/self/exe", "peer", "peer", (char *)NULL);
    }
    _exit(127);
}

static inline struct peer start_peer(void)
{
    struct peer p;
    int ends[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    p.socket = ends[0];
    p.process = fork();
    ck_assert_int_ge(p.process, 0);
    if (!p.process) {
        if (dup2(ends[1], PEER_SOCKET) == PEER_SOCKET)
            execute_peer();
        _exit(127);
    }
    close(ends[1]);
    return p;
}

static inline void send_to(const struct peer *p, enum peer_operation operation, unsigned long long value,
                           const void *data)
{
    struct peer_message m = { .operation = operation, .value = value, .fd = -1 };

    if (data)
        memcpy(m.data, data, sizeof m.data);
    ck_assert(send_message(p->socket, m));
}

static inline struct peer_message answer_of(const struct peer *p)
{
    struct peer_message m;

    ck_assert(receive_message(p->socket, &m));
    return m;
}

static inline struct peer_message ask(const struct peer *p, enum peer_operation operation, unsigned long long value,
                                      const void *data)
{
    send_to(p, operation, value, data);
    return answer_of(p);
}

/* The operation must succeed. Returns its value. */
static inline unsigned long long demand(const struct peer *p, enum peer_operation operation, unsigned long long value,
                                        const void *data)
{
    struct peer_message m = ask(p, operation, value, data);

    ck_assert_msg(m.result == PTXI_SUCCESS, "operation %d of the peer: %d", (int)operation, m.result);
    return m.value;
}

static inline void kill_peer(struct peer *p)
{
    ck_assert_int_eq(kill(p->process, SIGKILL), 0);
    ck_assert_int_eq(waitpid(p->process, NULL, 0), p->process);
    close(p->socket);
    p->process = 0;
}

/* The peer ends by itself. */
static inline void stop_peer(struct peer *p)
{
    int status;

    close(p->socket);
    ck_assert_int_eq(waitpid(p->process, &status, 0), p->process);
    ck_assert_int_eq(status, 0);
    p->process = 0;
}

/* Number of the process's open files, or of its mappings of shared memory. */
static inline unsigned count_files(void)
{
    unsigned n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static inline unsigned count_shared_mappings(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned n = 0;

    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, "/memfd:ptxi ") != NULL;
    fclose(f);
    return n;
}

/* Runs the tests that `add_tests` adds, each with a peer. In the peer's process, runs the peer instead. */
static inline int run_tests_with_peer(int argc, char **argv, const char *name, void (*add_tests)(TCase *t))
{
    if (is_peer(argc, argv))
        return run_peer();
    Suite *s = suite_create(name);
    TCase *t = tcase_create(name);

    tcase_set_timeout(t, 60);
    add_tests(t);
    suite_add_tcase(s, t);
    return run_suite(s);
}

#endif
