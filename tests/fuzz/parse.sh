# Runs the fuzz_parse.c target on the texts of the source tree, also with failing allocations.
"$top_builddir/tests/fuzz/fuzz_parse" "$top_srcdir"/tests/errors/*.ptx "$top_srcdir"/tests/bench/*.ptx \
    "$top_srcdir"/samples/*.ptx "$top_srcdir"/tests/fuzz/corpus/*
