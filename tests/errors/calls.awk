# awk -f calls.awk ptxi.h > calls.gen.c: for each call of the header one with any arguments, and a table of all.

function finish(text, name, params, part, n, i, type, cast, list)
{
    gsub(/void \(\*[a-z]+\)\([^)]*\)/, "function call", text)
    name = substr(text, 1, index(text, "(") - 1)
    sub(/.*[ *]/, "", name)
    params = substr(text, index(text, "(") + 1)
    sub(/\).*$/, "", params)
    if (params ~ /\.\.\./ || text !~ /ptxiResult/)
        return
    n = params == "void" ? 0 : split(params, part, /, */)
    for (i = 1; i <= n; i++) {
        match(part[i], /[A-Za-z0-9_]+(\[\])?$/)
        type = substr(part[i], 1, RSTART - 1)
        sub(/ $/, "", type)
        cast = type == "function" ? "void *" : type
        list = list (i > 1 ? ", " : "") "(" cast ")argument(\"" (type in callable ? "function" : type) "\", \"" substr(part[i], RSTART) "\")"
    }
    print "static ptxiResult call_" name "(void)\n{\n    return " name "(" list ");\n}\n"
    names[++count] = name
}

BEGIN { print "/* Made by calls.awk from ptxi.h. */\n#include \"calls.h\"\n" }

{ gsub(/\/\*.*\*\//, "") }

/^typedef .*\(\*ptxi[A-Za-z0-9]+\)\(/ { match($0, /ptxi[A-Za-z0-9]+\)/); callable[substr($0, RSTART, RLENGTH - 1)] = 1 }

/^PTXI_API/ { text = ""; reading = 1 }

reading {
    sub(/^ +/, " ")
    text = text $0
    if (/;/) {
        gsub(/ +/, " ", text)
        finish(text)
        reading = 0
    }
}

END {
    print "const struct call calls[] = {"
    for (i = 1; i <= count; i++)
        printf "    { \"%s\", call_%s },\n", names[i], names[i]
    print "};\nconst unsigned call_count = sizeof calls / sizeof *calls;"
}
