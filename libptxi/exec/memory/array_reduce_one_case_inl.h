/* The case of an operation of exec/memory/atom.def in ptxi_array_reduce_one(). */
#define NAME ATOM_FIELD(ATOM_FIELD_NAME, ATOM)
    case ATOM_PASTE(PTXI_OP_atom, NAME): ATOM_PASTE(NAME, reduce_one)(to, value); break;
#undef ATOM
#undef NAME
