# Generates the cases of calls.cu from calls.txt: awk -f calls.awk calls.txt > calls.gen.h

# Splits the arguments of a call into argument[1..n] at commas that are in no parentheses.
function split_arguments(text, argument, n, depth, i, c, part)
{
    n = depth = 0
    part = ""
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "(")
            depth++
        if (c == ")")
            depth--
        if (c == "," && !depth) {
            argument[++n] = part
            part = ""
            i++ # the space behind it
        } else {
            part = part c
        }
    }
    if (part != "")
        argument[++n] = part
    return n
}

# Prints a case with argument number `which` replaced by `replacement`.
function print_case(name, argument, n, which, replacement, i, text)
{
    text = name "("
    for (i = 1; i <= n; i++)
        text = text (i > 1 ? ", " : "") (i == which ? replacement : argument[i])
    text = text ")"
    if (text in seen)
        return
    seen[text] = 1
    printf "CASE(%s)\n", text
}

/^value / {
    rest = substr($0, 7)
    colon = index(rest, ": ")
    alternatives[substr(rest, 1, colon - 1)] = substr(rest, colon + 2)
}

/^(call|only) / {
    open = index($0, "(")
    name = substr($0, 6, open - 6)
    n = split_arguments(substr($0, open + 1, length($0) - open - 1), argument)
    print_case(name, argument, n, 0, "")
    for (i = 1; i <= n && $1 == "call"; i++) {
        count = split(alternatives[argument[i]], list, "; ")
        for (j = 1; j <= count; j++)
            print_case(name, argument, n, i, list[j])
    }
}
