# Prints LAYOUT(OURS, CUDA, MEMBER) for each member of the structures of bindings/cudart/types.h, and SIZE(OURS, CUDA):
# awk -v major=13 -f layouts.awk types.h
# The comment before a structure begins with its CUDA name.

# Adds the member names of a declaration, such as `size_t width, height;`, to the innermost group.
function add_members(declaration, name, n, i)
{
    if (declaration ~ /^[ \t]*$/)
        return
    n = split(declaration, name, ",")
    for (i = 1; i <= n; i++) {
        gsub(/\[[^]]*\]/, "", name[i])
        gsub(/^[ \t]+|[ \t]+$/, "", name[i])
        sub(/.*[ *]/, "", name[i])
        members[depth] = members[depth] " " name[i]
    }
}

# Closes a group, the name of which is known only now.
function close_group(name, list, n, i, all)
{
    n = split(members[depth], list, " ")
    for (i = 1; i <= n; i++)
        all = all " " name "." list[i]
    members[depth] = ""
    members[--depth] = members[depth] " " name all
}

function print_structure(n, list, i)
{
    n = split(members[1], list, " ")
    for (i = 1; i <= n; i++)
        printf "LAYOUT(%s, %s, %s)\n", ours, cuda, list[i]
    printf "SIZE(%s, %s)\n", ours, cuda
    members[1] = ""
}

function process(text, c, i, part, closing)
{
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "{") {
            depth++
            part = ""
        } else if (c == "}") {
            closing = 1
            part = ""
        } else if (c == ";") {
            if (closing && depth > 1) {
                gsub(/[ \t]/, "", part)
                close_group(part)
            } else if (closing) {
                print_structure()
                depth = 0
            } else if (depth) {
                add_members(part)
            }
            closing = 0
            part = ""
        } else {
            part = part c
        }
    }
}

/^\/\* cuda[A-Za-z0-9_]+/ {
    cuda = $2
    sub(/[^A-Za-z0-9_].*/, "", cuda)
}

# Structures only. `typedef struct dim3` has no comment.
/^struct [a-z0-9_]+ \{/ {
    ours = $2
    inside = 1
}

# Conditions have the form `#if CUDART_MAJOR >= NUMBER`.
/^#if CUDART_MAJOR >= / {
    omitted = major < $4
}

/^#else/ {
    omitted = !omitted
}

/^#endif/ {
    omitted = 0
}

inside && !omitted {
    line = $0
    gsub(/\/\*.*\*\//, "", line)
    if (line !~ /^#/)
        text = text " " line
    if (/^};/) {
        process(text)
        text = ""
        inside = 0
    }
}
