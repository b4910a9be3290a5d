# Runs the fuzz_run.c target on the texts of the source tree.
"$top_builddir/tests/fuzz/fuzz_run" "$top_srcdir"/tests/errors/*.ptx "$top_srcdir"/tests/errors/run/*.ptx \
    "$top_srcdir"/samples/*.ptx "$top_srcdir"/tests/bench/*.ptx "$top_srcdir"/tests/fuzz/corpus/*
