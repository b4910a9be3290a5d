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

enum { COUNT_OF_CASES = sizeof cases / sizeof *cases, LONGEST = 20, SPOILT = 3 };

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

// Runs the cases from `first` on in this process.
static int run_cases(int first)
{
    make_library();
    for (int k = first; k < COUNT_OF_CASES; k++) {
        int result, last;

        alarm(LONGEST);
        // What the next process has to print if this one crashes.
        make_objects(strstr(cases[k].text, "Graph") || strstr(cases[k].text, "Capture"));
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
    fflush(stdout);
    _exit(0);
}

// Number of lines that the file `out` has.
static int count_lines(FILE *out)
{
    int lines = 0;

    rewind(out);
    for (int c; (c = getc(out)) != EOF;)
        lines += c == '\n';
    return lines;
}

int main()
{
    FILE *out = tmpfile();
    int done = 0, failures = 0;

    // Each child writes to the file, and the next one goes on where it has ended.
    while (done < COUNT_OF_CASES && failures < 20) {
        int status = 0, before = done;
        pid_t child = fork();

        if (!child) {
            dup2(fileno(out), STDOUT_FILENO);
            run_cases(done);
        }
        waitpid(child, &status, 0);
        lseek(fileno(out), 0, SEEK_END);
        done = count_lines(out);
        if (done < COUNT_OF_CASES && !(WIFEXITED(status) && WEXITSTATUS(status) == SPOILT)) {
            lseek(fileno(out), 0, SEEK_END);
            if (write(fileno(out), " crash\n", 7) != 7)
                return 2;
            done++;
        }
        failures = done - before > 1 ? 0 : failures + 1;
    }
    rewind(out);
    for (int c; (c = getc(out)) != EOF;)
        putchar(c);
    return failures >= 20;
}
