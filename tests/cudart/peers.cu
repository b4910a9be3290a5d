// Functions for several devices on a machine with one.
#include "show.h"

int main()
{
    int value = -1, *p, *q, host[4] = { 1, 2, 3, 4 }, got[4] = {};
    cudaStream_t stream;

    MUST(cudaMalloc(&p, sizeof host));
    MUST(cudaMalloc(&q, sizeof host));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    SHOW(cudaDeviceCanAccessPeer(&value, 0, 0));
    printf("value %d\n", value);
    SHOW(cudaDeviceCanAccessPeer(&value, 0, 1));
    SHOW(cudaDeviceCanAccessPeer(&value, 1, 0));
    SHOW(cudaDeviceCanAccessPeer(nullptr, 0, 0));
    SHOW(cudaDeviceEnablePeerAccess(0, 0));
    SHOW(cudaDeviceEnablePeerAccess(1, 0));
    SHOW(cudaDeviceEnablePeerAccess(0, 1));
    SHOW(cudaDeviceDisablePeerAccess(0));
    SHOW(cudaDeviceDisablePeerAccess(1));
    SHOW(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
    SHOW(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
    SHOW(cudaDeviceGetP2PAttribute(&value, (cudaDeviceP2PAttr)9, 0, 0));
    SHOW(cudaMemcpyPeer(q, 0, p, 0, sizeof host));
    SHOW(cudaMemcpyPeer(q, 0, p, 1, sizeof host));
    SHOW(cudaMemcpyPeer(q, 1, p, 0, sizeof host));
    SHOW(cudaMemcpyPeer(q, -1, p, 0, sizeof host));
    SHOW(cudaMemcpyPeer(q, 0, p, 0, 0));
    SHOW(cudaMemcpyPeer(nullptr, 0, p, 0, sizeof host));
    fetch(got, q, 4);
    show_ints("copied", got, 4);
    SHOW(cudaMemcpyPeerAsync(q + 2, 0, p, 0, 8, stream));
    SHOW(cudaStreamSynchronize(stream));
    fetch(got, q, 4);
    show_ints("copied", got, 4);
    SHOW(cudaSetDevice(1));
    SHOW(cudaGetDevice(&value));
    printf("device %d\n", value);
    int list[2] = { 0, 1 };
    SHOW(cudaSetValidDevices(list, 2));
    SHOW(cudaGetLastError());
    return 0;
}
