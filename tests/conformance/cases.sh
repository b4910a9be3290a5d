#!/bin/sh
# Every form of the scalar chapters against what a GPU answered, and of those that were tried with all 2^32 operands a digest of some.
# PTXI_CASES=TEXT picks the cases whose name contains it; with sanitizers, which are slow, it is .sat unless given.
here=$top_srcdir/tests/conformance
verify=$top_builddir/tests/conformance/verify
text=${PTXI_CASES-${SANITIZE:+.sat}}
"$verify" cases "$here/cases.rec" "$text" || exit 1
"$verify" matrix "$here/matrix.rec" "${PTXI_PARTS:-1}" "$text" || exit 1
"$verify" sample "$here/exhaustive.rec" "${PTXI_EVERY:-29}" "$text"
