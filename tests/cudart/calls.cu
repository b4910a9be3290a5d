// Makes calls of the runtime with good and bad arguments (calls.txt), and prints for each one the result, the last
// error if it is another, and the numbers that have changed. A call that crashes is followed by `crash`.
#include "calls.h"

#include <sys/wait.h>
#include <unistd.h>

struct Case {
    const char *text;
    int (*run)();
};

static const Case cases[] = {
#define CASE(...) { #__VA_ARGS__, [] { return (int)(__VA_ARGS__); } },
#include "calls.gen.h"
};

enum { COUNT_OF_CASES = sizeof cases / sizeof *cases, PARTS = 8, LONGEST = 20, SPOILT = 3, MOST_FAILURES = 20 };

static bool is_changed(const void *value, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        if (((const unsigned char *)value)[k] != 0x77)
            return true;
    return false;
}

static void print_outputs()
{
    if (is_changed(&i, sizeof i))
        printf(" i %d", i);
    if (is_changed(&i2, sizeof i2))
        printf(" i2 %d", i2);
    if (is_changed(&u, sizeof u))
        printf(" u %u", u);
    if (is_changed(&z, sizeof z))
        printf(" z %zu", z);
    if (is_changed(&z2, sizeof z2))
        printf(" z2 %zu", z2);
    if (is_changed(&q, sizeof q))
        printf(" q %llu", q);
    if (is_changed(&p, sizeof p))
        printf(" p %s", p ? "set" : "NULL");
}

// Ends a capture that the case began. Returns false if the context is not usable any more.
static bool settle()
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamCaptureMode relaxed = cudaStreamCaptureModeGlobal;

    cudaThreadExchangeStreamCaptureMode(&relaxed);
    for (cudaStream_t stream : { s, cudaStreamPerThread })
        if (stream && !cudaStreamIsCapturing(stream, &status) && status)
            cudaStreamEndCapture(stream, &graph_out);
    cudaGetLastError();
    return !cudaDeviceSynchronize();
}

// Runs the cases from `first` to `end` in this process.
static void run_cases(int first, int end)
{
    make_library();
    for (int k = first; k < end; k++) {
        int result, last;

        alarm(LONGEST);
        make_objects(strstr(cases[k].text, "Graph") || strstr(cases[k].text, "Capture"));
        // Written at once, so that it is there if the call crashes.
        printf("%s:", cases[k].text);
        fflush(stdout);
        result = cases[k].run();
        last = cudaGetLastError();
        printf(" %d", result);
        if (last != result)
            printf(" last %d", last);
        print_outputs();
        printf("\n");
        fflush(stdout);
        // A destroyed stream cannot be asked.
        if (strstr(cases[k].text, "StreamDestroy"))
            s = nullptr;
        if (!settle())
            _exit(SPOILT);
    }
    _exit(0);
}

// Number of lines that the file has
static int count_lines(int file)
{
    char buffer[4096];
    int lines = 0;
    ssize_t n;

    lseek(file, 0, SEEK_SET);
    while ((n = read(file, buffer, sizeof buffer)) > 0)
        for (ssize_t k = 0; k < n; k++)
            lines += buffer[k] == '\n';
    return lines;
}

// Runs a part of the cases in children that write to the file. Each goes on where the one before has ended.
static bool run_part(int file, int first, int end)
{
    int done = first, failures = 0;

    while (done < end && failures < MOST_FAILURES) {
        int status = 0, before = done;
        pid_t child = fork();

        if (!child) {
            dup2(file, STDOUT_FILENO);
            run_cases(done, end);
        }
        waitpid(child, &status, 0);
        done = first + count_lines(file);
        if (done < end && !(WIFEXITED(status) && WEXITSTATUS(status) == SPOILT)) {
            if (write(file, " crash\n", 7) != 7)
                return false;
            done++;
        }
        failures = done - before > 1 ? 0 : failures + 1;
    }
    return done == end;
}

int main()
{
    int file[PARTS], status, failed = 0;
    char buffer[4096];
    ssize_t n;

    for (int k = 0; k < PARTS; k++) {
        file[k] = fileno(tmpfile());
        if (!fork())
            _exit(!run_part(file[k], COUNT_OF_CASES * k / PARTS, COUNT_OF_CASES * (k + 1) / PARTS));
    }
    while (wait(&status) > 0)
        failed += status != 0;
    for (int f : file) {
        lseek(f, 0, SEEK_SET);
        while ((n = read(f, buffer, sizeof buffer)) > 0)
            if (write(STDOUT_FILENO, buffer, n) != n)
                return 2;
    }
    return failed != 0;
}
