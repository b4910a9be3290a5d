/* Nothing at all: what a launch costs. */
extern "C" __global__ void empty()
{
}
