/* Prints the CPU levels that this host can run, one per line. These are the values that PTXI_CPU accepts here. */
#include "base/cpu.h"

#include <stdio.h>

int main(void)
{
    for (int i = PTXI_CPU_PORTABLE; i <= (int)ptxi_cpu_level_host(); i++)
        puts(ptxi_cpu_level_name((enum ptxi_cpu_level)i));
    return 0;
}
