# Replays the texts of the tree, whole and with failing allocations, through the target of fuzz_parse.c.
"$top_builddir/tests/fuzz/fuzz_parse" "$top_srcdir"/tests/errors/*.ptx "$top_srcdir"/tests/bench/*.ptx "$top_srcdir"/samples/*.ptx \
    "$top_srcdir"/tests/fuzz/corpus/*
