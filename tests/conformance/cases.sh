#!/bin/sh
# Compares every form of the scalar chapters with the recorded answers of a GPU. Also compares a sample of the digests
# of exhaustive cases, which cover all 2^32 operands. PTXI_CASES=TEXT selects the cases with TEXT in their names. With
# sanitizers, which are slow, the default is .sat.
here=$top_srcdir/tests/conformance
verify=$top_builddir/tests/conformance/verify
text=${PTXI_CASES-${SANITIZE:+.sat}}
"$verify" cases "$here/cases.rec" "$text" || exit 1
"$verify" matrix "$here/matrix.rec" "${PTXI_PARTS:-1}" "$text" || exit 1
"$verify" sample "$here/exhaustive.rec" "${PTXI_EVERY:-29}" "$text"
