// What the two files of the programs `units` and `linked` share.
#pragma once

struct Shape {
    int side;
};

void run_second_unit();
