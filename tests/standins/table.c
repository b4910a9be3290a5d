/* Tests cuGetExportTable: it fails, and if it is called for the table of NVIDIA's CUDA runtime, one message names the
 * file of the caller. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cuGetExportTable(const void **table, const void *id);

int main(int count, char **arguments)
{
    enum { NOT_SUPPORTED = 801 };
    static const char runtime_table[] = "\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9";
    static const char *const ids[] = { NULL, "0123456789abcdef", runtime_table, runtime_table };
    const void *table = NULL;
    char text[1024] = "";
    int ends[2];
    ssize_t length;

    if (count < 1 || pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
        return 1;
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
        if (cuGetExportTable(&table, ids[i]) != NOT_SUPPORTED || table)
            return 1;
    length = read(ends[0], text, sizeof text - 1);
    if (length > 0 && strstr(text, "/table contains NVIDIA's CUDA runtime") && strchr(text, '\n') == text + length - 1)
        return 0;
    printf("%s: the message is: %s\n", arguments[0], text);
    return 1;
}
