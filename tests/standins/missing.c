/* Tests libnvrtc where NVIDIA's library is missing: every call fails, and a message says why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct nvrtc_program;
int nvrtcVersion(int *major, int *minor);
int nvrtcCreateProgram(struct nvrtc_program **program, const char *source, const char *name, int header_count,
                       const char *const *headers, const char *const *include_names);
int nvrtcCompileProgram(struct nvrtc_program *program, int count, const char *const *options);
int nvrtcGetCUBINSize(struct nvrtc_program *program, size_t *size);
const char *nvrtcGetErrorString(int result);

int main(void)
{
    static const char expected[] = "libptxi: CUDA C++ cannot be compiled at run time: NVIDIA's libnvrtc.so.13 is not "
                                   "installed; PTXI_NVRTC may name its file\n";
    char text[512] = "";
    int major, minor, ends[2];
    size_t size;
    ssize_t length;

    if (pipe(ends) || setenv("PTXI_NVRTC", "/nonexistent", 1) || dup2(ends[1], STDERR_FILENO) < 0)
        return 1;
    if (!nvrtcVersion(&major, &minor) || !nvrtcCreateProgram(NULL, "", NULL, 0, NULL, NULL) ||
        !nvrtcCompileProgram(NULL, 0, NULL) || !nvrtcGetCUBINSize(NULL, &size))
        return 1;
    length = read(ends[0], text, sizeof text - 1);
    if (length < 0 || strcmp(text, expected)) {
        printf("the message is: %s\n", text);
        return 1;
    }
    return strcmp(nvrtcGetErrorString(nvrtcVersion(&major, &minor)), "NVRTC_ERROR_INTERNAL_ERROR") != 0;
}
