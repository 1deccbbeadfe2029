// The CUDA kernel, built for the CPU; tests/gpu/convert_cuda_test.cpp compares it here too.
#include "kernels/pixels/convert_cuda.cu"
