"""A program that uses the CUDA driver, which the pages run."""
import ctypes

driver = ctypes.CDLL('libcuda.so.1')
count = ctypes.c_int()
assert driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
print(count.value, 'device')
