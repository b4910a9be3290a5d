/* Tests copies and fills without kernels. */
#include "unit/support/heap_check.h"

#include <string.h>

START_TEST(copies_move_bytes)
{
    unsigned char a[1000], b[1000];
    ptxiDevicePtr p, q;

    for (int i = 0; i < 1000; i++)
        a[i] = (unsigned char)(i * 7);
    ok(ptxiMemAlloc(&p, sizeof a));
    ok(ptxiMemAlloc(&q, sizeof a));
    ok(ptxiMemcpyHtoD(p, a, sizeof a));
    ok(ptxiMemcpyDtoD(q, p, sizeof a));
    ok(ptxiMemcpyDtoD(q, q + 1, 999)); /* overlapping */
    ok(ptxiMemcpyDtoH(b, q, sizeof b));
    ck_assert_mem_eq(b, a + 1, 999);
    ok(ptxiMemcpy(q, (uintptr_t)a, sizeof a));
    ck_assert_mem_eq((void *)(uintptr_t)q, a, sizeof a);
    ok(ptxiMemcpy((uintptr_t)b, q, sizeof b));
    ck_assert_mem_eq(a, b, sizeof a);
}
END_TEST

START_TEST(copies_reject_bad_ranges)
{
    unsigned char a[64] = { 0 };
    ptxiDevicePtr p, gone;

    ok(ptxiMemAlloc(&p, 32));
    ok(ptxiMemAlloc(&gone, 32));
    ok(ptxiMemFree(gone));
    ok(ptxiMemcpyHtoD(0, a, 0));
    ck_result(ptxiMemcpyHtoD(0, a, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyHtoD(p, NULL, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyHtoD(p, a, 33), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyHtoD(p + 30, a, 3), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyHtoD(gone, a, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyDtoH(a, gone, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpy(p, gone, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyDtoH(a, (uintptr_t)a, 4), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyDtoD(p, p + 16, 17), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpyHtoD(p, a, SIZE_MAX), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD32(p + 1, 1, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD16(p + 1, 1, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD32(p, 1, 9), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD32(p, 1, SIZE_MAX / 4 + 2), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD8(0, 1, 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemsetD8(0, 1, 0));
    ck_result(ptxiMemsetD2D32(p, 6, 1, 1, 2), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemsetD2D32(p, 4, 1, 2, 2), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemsetD2D8(p, 0, 1, 2, 1));
}
END_TEST

START_TEST(fills)
{
    uint32_t w[8];
    uint16_t h[16];
    unsigned char c[32];
    ptxiDevicePtr p;

    ok(ptxiMemAlloc(&p, 32));
    ok(ptxiMemsetD32(p, 0x01020304, 8));
    ok(ptxiMemsetD16(p + 4, 0xabcd, 1));
    ok(ptxiMemsetD8(p + 9, 0xee, 2));
    ok(ptxiMemcpyDtoH(w, p, 32));
    ck_bits32(w[0], 0x01020304);
    ck_bits32(w[1], 0x0102abcd);
    ck_bits32(w[2], 0x01eeee04);
    ck_bits32(w[7], 0x01020304);
    ok(ptxiMemsetD8(p, 0, 32));
    ok(ptxiMemsetD2D16(p, 8, 0x7fff, 3, 4));
    ok(ptxiMemcpyDtoH(h, p, 32));
    for (int i = 0; i < 16; i++)
        ck_bits16_at(h[i], i % 4 < 3 ? 0x7fff : 0, "element %d", i);
    ok(ptxiMemsetD2D8Async(p, 16, 5, 1, 2, NULL));
    ok(ptxiMemcpyDtoH(c, p, 32));
    ck_assert_int_eq(c[0], 5);
    ck_assert_int_eq(c[16], 5);
}
END_TEST

START_TEST(rectangles)
{
    unsigned char a[8][10], b[8][10];
    ptxiDevicePtr p;
    size_t pitch;

    for (int i = 0; i < 80; i++)
        a[i / 10][i % 10] = (unsigned char)i;
    memset(b, 255, sizeof b);
    ok(ptxiMemAllocPitch(&p, &pitch, 10, 8, 4));
    PTXI_MEMCPY2D to_device = { .srcMemoryType = PTXI_MEMORYTYPE_HOST, .srcHost = a, .srcPitch = 10,
                         .dstMemoryType = PTXI_MEMORYTYPE_DEVICE, .dstDevice = p, .dstPitch = pitch,
                         .WidthInBytes = 10, .Height = 8 };
    PTXI_MEMCPY2D to_host = { .srcMemoryType = PTXI_MEMORYTYPE_DEVICE, .srcDevice = p, .srcPitch = pitch,
                           .srcXInBytes = 2, .srcY = 3, .dstMemoryType = PTXI_MEMORYTYPE_HOST, .dstHost = b,
                           .dstPitch = 10, .dstXInBytes = 1, .dstY = 1, .WidthInBytes = 4, .Height = 2 };

    ok(ptxiMemcpy2D(&to_device));
    ok(ptxiMemcpy2DAsync(&to_host, NULL));
    ok(ptxiCtxSynchronize());
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 10; x++) {
            bool in = y >= 1 && y < 3 && x >= 1 && x < 5;

            ck_bits8_at(b[y][x], in ? a[y + 2][x + 1] : 255, "row %d, column %d", y, x);
        }
    to_host.Height = 6;
    ck_result(ptxiMemcpy2D(&to_host), PTXI_ERROR_INVALID_VALUE);
    to_host.Height = 0;
    ok(ptxiMemcpy2D(&to_host));
    to_host.Height = 1;
    to_host.dstPitch = 4;
    ck_result(ptxiMemcpy2D(&to_host), PTXI_ERROR_INVALID_VALUE);
    to_host.dstPitch = 10;
    to_host.srcMemoryType = PTXI_MEMORYTYPE_ARRAY; /* without an array */
    ck_result(ptxiMemcpy2D(&to_host), PTXI_ERROR_INVALID_VALUE);
    to_host.srcMemoryType = PTXI_MEMORYTYPE_UNIFIED;
    ok(ptxiMemcpy2D(&to_host));
    to_device.srcY = SIZE_MAX / 2;
    to_device.srcPitch = 16;
    ck_result(ptxiMemcpy2D(&to_device), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemcpy2D(NULL), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("copy");
    TCase *t = tcase_create("copy");

    tcase_add_checked_fixture(t, open_context, close_and_check_heap);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, copies_move_bytes);
    tcase_add_test(t, copies_reject_bad_ranges);
    tcase_add_test(t, fills);
    tcase_add_test(t, rectangles);
    suite_add_tcase(s, t);
    return run_suite(s);
}
