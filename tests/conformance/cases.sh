#!/bin/sh
# Every form of the scalar families against what a GPU answered, and of those that were tried with all 2^32 operands a digest of some.
# PTXI_CASES=TEXT picks the cases whose name contains it.
here=$top_srcdir/tests/conformance
verify=$top_builddir/tests/conformance/verify
[ -e "$here/cases.rec" ] || exit 77
"$verify" cases "$here/cases.rec" "${PTXI_CASES-}" || exit 1
"$verify" sample "$here/exhaustive.rec" "${PTXI_EVERY:-29}" "${PTXI_CASES-}"
