#!/bin/sh
# Prints a libFuzzer dictionary of PTX from the tables of libptxi: instructions, qualifiers, types, special registers
# and directives. Usage: dict.sh SOURCE_TREE
cd "${1:-.}/libptxi" || exit 1
{
    sed -n 's/^ROW( *\([a-z0-9_]*\) *,.*/\1/p' isa/*.def
    sed -n 's/^SREG( *[a-z0-9_]* *, *"\{0,1\}\(%\{0,1\}[a-z0-9_.]*\).*/\1/p' isa/sreg.def
    sed -n 's/^TYPE( *\([a-z0-9_]*\).*/.\1/p' isa/type.def
    sed -n 's/^[A-Z]*( *"\{0,1\}\(\.\{0,1\}[a-z0-9_]*\).*/\1/p' parse/directive.def
    sed 's|/\*.*||' isa/*.def | grep -o '[.(|{][a-z][a-z0-9_]*' | sed 's/^./\./'
    printf '%s\n' '.version 8.6' '.target sm_90' '.target sm_100a' '.address_size 64' '.visible .entry k()' \
        '.reg .b32 %r<9>;' '@%p' '@!%p' '[%rd1+4]' '{%r1, %r2}' '%r1' '%rd1' '%f1' '%p1' \
        '0f3f800000' '0d3ff0000000000000' '0xffffffff' '// ' '/* ' ' */'
} | grep . | sort -u | sed 's/["\\]/\\&/g; s/.*/"&"/'
