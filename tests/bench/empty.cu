/* An empty kernel, for the cost of a launch. */
extern "C" __global__ void empty()
{
}
