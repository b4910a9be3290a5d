/* For `ptxi doctor` this program looks as if a CUDA runtime were linked into it: it has the same texts. */
#include <stdio.h>

int main(void)
{
    puts("CUDA driver version is insufficient for CUDA runtime version");
    puts("libcuda.so.1");
    return 0;
}
