# awk -f generate.awk names.txt ptxi.h > driver.gen.c: for each ptxi* call of a driver its cu* names, and a table of all.

function export(name)
{
    if (name in exported)
        return 0
    exported[name] = ++count
    order[count] = name
    return 1
}

# A function and, where there is one, the name with _v2.
function emit(name, suffix, params, body, second)
{
    if (export("cu" name suffix))
        printf "PTXI_API ptxiResult cu%s%s(%s)\n{\n    return %s;\n}\n", name, suffix, params, body
    second = "cu" name "_v2" suffix
    if (name in v2 && !(name "_v2" suffix in own) && export(second))
        printf "PTXI_API ptxiResult %s(%s) __attribute__((alias(\"cu%s%s\")));\n", second, params, name, suffix
}

function argument_names(params, part, n, i, list)
{
    n = split(params, part, /, */)
    for (i = 1; i <= n; i++)
        if (match(part[i], /[A-Za-z0-9_]+$/) && part[i] != "void")
            list = list (list == "" ? "" : ", ") substr(part[i], RSTART)
    return list
}

function declaration(text, name, params, args)
{
    sub(/^PTXI_API ptxiResult ptxi/, "", text)
    name = substr(text, 1, index(text, "(") - 1)
    params = substr(text, index(text, "(") + 1)
    sub(/\).*$/, "", params)
    gsub(/ +/, " ", params)
    args = argument_names(params)
    if (name in own)
        return
    emit(name, "", params, "ptxi" name "(" args ")")
    declared[++declared_count] = name
    parameters[name] = params
    arguments[name] = args
    if (args ~ /(^|, )hStream(,|$)/ && sub(/hStream/, "per_thread(hStream)", args))
        emit(name, "_ptsz", params, "ptxi" name "(" args ")")
}

BEGIN {
    print "/* Made by generate.awk from ptxi.h and names.txt. */"
    print "#include \"driver.h\"\n"
}

FNR == NR && $1 ~ /^(v2|own|none)$/ {
    for (i = 2; i <= NF; i++) {
        if ($1 == "v2")
            v2[$i] = 1
        else if ($1 == "own")
            own[$i] = 1
        else
            none[++none_count] = $i
    }
}

FNR == NR && $1 == "alias" { alias[$2] = $3 }

FNR != NR && /what a driver does not have ---/ { past = 1 }

FNR != NR && /^PTXI_API ptxiResult/ && !past { text = ""; reading = 1 }

FNR != NR && reading {
    text = text " " $0
    sub(/^ +/, "", text)
    if (/;/) {
        declaration(text)
        reading = 0
    }
}

END {
    for (i = 1; i <= declared_count; i++) {
        name = declared[i]
        if ((name "Async") in parameters)
            emit(name, "_ptds", parameters[name], "finish_per_thread(ptxi" name "Async(" arguments[name] ", PTXI_STREAM_PER_THREAD))")
    }
    for (name in own)
        export("cu" name)
    for (name in alias)
        emit(name, "", parameters[alias[name]], "ptxi" alias[name] "(" arguments[alias[name]] ")")
    for (i = 1; i <= none_count; i++)
        if (export("cu" none[i]))
            printf "PTXI_API ptxiResult cu%s(void)\n{\n    return PTXI_ERROR_NOT_SUPPORTED;\n}\n", none[i]
    print "\nconst struct name ptxi_names[] = {"
    for (i = 1; i <= count; i++)
        printf "    { \"%s\", (function *)%s },\n", order[i], order[i]
    print "};\nconst unsigned ptxi_name_count = sizeof ptxi_names / sizeof *ptxi_names;"
}
