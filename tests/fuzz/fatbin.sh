# Runs the fuzz_fatbin.c target on the files of the unit tests, also with failing allocations.
"$top_builddir/tests/fuzz/fuzz_fatbin" "$top_srcdir"/tests/unit/fatbin/*.fatbin "$top_srcdir"/tests/unit/fatbin/*.elf \
    "$top_srcdir"/tests/unit/fatbin/*.ar
