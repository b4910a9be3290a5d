// Libraries: device code loaded at run time from PTX and from a fat binary in a file.
// The kernels are in library_kernels.cu, which is compiled to library_kernels.fatbin and library_kernels.ptx.
#include "show.h"

#include <string>
#include <vector>

static std::string read_file(const char *name)
{
    std::string text;
    FILE *f = fopen(name, "rb");

    for (int c; f && (c = getc(f)) != EOF;)
        text.push_back(c);
    if (f)
        fclose(f);
    return text;
}

static void use(cudaLibrary_t library)
{
    cudaKernel_t scale, other;
    unsigned count = 0;
    int *p, host[4] = { 1, 2, 3, 4 }, factor = 5;
    void *address;
    size_t bytes = 0;

    SHOW(cudaLibraryGetKernelCount(&count, library));
    printf("kernels %u\n", count);
    std::vector<cudaKernel_t> kernels(count);
    SHOW(cudaLibraryEnumerateKernels(kernels.data(), count, library));
    SHOW(cudaLibraryGetKernel(&scale, library, "scale"));
    SHOW(cudaLibraryGetKernel(&other, library, "no_such_kernel"));
    SHOW(cudaLibraryGetGlobal(&address, &bytes, library, "offsets"));
    printf("bytes %zu\n", bytes);
    int four = 4;
    SHOW(cudaMemcpy(address, &four, sizeof four, cudaMemcpyHostToDevice));
    SHOW(cudaLibraryGetGlobal(&address, &bytes, library, "no_such_variable"));
    SHOW(cudaLibraryGetManaged(&address, &bytes, library, "managed_word"));
    printf("managed %d\n", *(int *)address);
    SHOW(cudaLibraryGetManaged(&address, &bytes, library, "offsets"));
    MUST(cudaMalloc(&p, sizeof host));
    MUST(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    void *args[] = { &p, &factor };
    SHOW(cudaLaunchKernel((const void *)scale, dim3(1), dim3(4), args, 0, 0));
    fetch(host, p, 4);
    show_ints("scaled", host, 4);
    cudaFuncAttributes a;
    SHOW(cudaFuncGetAttributes(&a, (const void *)scale));
    printf("threads %d\n", a.maxThreadsPerBlock);
    SHOW(cudaKernelSetAttributeForDevice(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536, 0));
    SHOW(cudaFuncGetAttributes(&a, (const void *)scale));
    printf("dynamic %d\n", a.maxDynamicSharedSizeBytes);
    const char *name = nullptr;
    SHOW(cudaFuncGetName(&name, (const void *)scale));
    printf("%s\n", name);
    MUST(cudaFree(p));
}

int main()
{
    cudaLibrary_t library;
    std::string ptx = read_file("library_kernels.ptx"), fatbin = read_file("library_kernels.fatbin");

    printf("-- PTX\n");
    if (!SHOW(cudaLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0))) {
        use(library);
        SHOW(cudaLibraryUnload(library));
    }
    printf("-- fat binary\n");
    if (!SHOW(cudaLibraryLoadData(&library, fatbin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0))) {
        use(library);
        SHOW(cudaLibraryUnload(library));
    }
    printf("-- file\n");
    if (!SHOW(cudaLibraryLoadFromFile(&library, "library_kernels.fatbin", nullptr, nullptr, 0, nullptr, nullptr, 0)))
        use(library);
    SHOW(cudaLibraryUnload(library));
    printf("-- errors\n");
    SHOW(cudaLibraryLoadFromFile(&library, "no_such_file", nullptr, nullptr, 0, nullptr, nullptr, 0));
    SHOW(cudaLibraryLoadData(&library, "nonsense", nullptr, nullptr, 0, nullptr, nullptr, 0));
    SHOW(cudaLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
    SHOW(cudaLibraryLoadData(nullptr, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    SHOW(cudaGetLastError());
    return 0;
}
