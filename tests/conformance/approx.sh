#!/bin/sh
# The approximations against what a GPU recorded: every 128th digest, or PTXI_EVERY=1 for all 2^32 operands of each form.
here=$top_srcdir/tests/conformance
exec "$top_builddir/tests/conformance/replay_approx" "$here/approx.forms" "$here/approx.rec" "${PTXI_EVERY:-128}"
