/* The case of an operation of exec/memory/atom.def in ptxi_array_reduce_bytes(). */
#define NAME ATOM_FIELD(ATOM_FIELD_NAME, ATOM)
    case ATOM_PASTE(PTXI_OP_atom, NAME): return ATOM_PASTE(NAME, bytes);
#undef ATOM
#undef NAME
