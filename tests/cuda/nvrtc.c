/* Compiles a CUDA source to PTX with NVRTC:
 *
 *     nvrtc SOURCE OUTPUT [NVRTC option]...
 *
 * make-ptx.sh uses this tool. It is not part of the build. */
#include <nvrtc.h>

#include <stdio.h>
#include <stdlib.h>

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text;
    long size;

    if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || !(text = calloc(1, (size_t)size + 1)))
        return NULL;
    rewind(f);
    if (fread(text, 1, (size_t)size, f) != (size_t)size)
        return NULL;
    fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    nvrtcProgram program;
    size_t size;
    char *source = argc > 2 ? read_file(argv[1]) : NULL;

    if (!source) {
        fprintf(stderr, "usage: nvrtc SOURCE OUTPUT [options]\n");
        return 2;
    }
    nvrtcCreateProgram(&program, source, argv[1], 0, NULL, NULL);
    nvrtcResult r = nvrtcCompileProgram(program, argc - 3, (const char *const *)argv + 3);
    if (nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
        char *log = malloc(size);
        nvrtcGetProgramLog(program, log);
        fputs(log, stderr);
    }
    if (r != NVRTC_SUCCESS)
        return 1;
    nvrtcGetPTXSize(program, &size);
    char *ptx = malloc(size);
    nvrtcGetPTX(program, ptx);
    FILE *f = fopen(argv[2], "wb");
    return !f || fwrite(ptx, 1, size - 1, f) != size - 1 || fclose(f) != 0;
}
