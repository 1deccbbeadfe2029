#pragma once

#include <new>

#include "emulated/cusolver/cusolver_abi.h"
#include "emulated/library/library_call.h"

/// What factorising a matrix costs, and how a call of cuSOLVER becomes that.
namespace unstarve::emulated::cusolver {

/// What a cusolverDnHandle_t points to.
struct Handle {
  Target target;
};

/// What cusolverDnParams_t, gesvdjInfo_t and syevjInfo_t point to.
struct Parameters {
  int kept = 0;
};

/// Operations on numbers of `type`, numbers read and written, and the kernels that a call takes:
/// factorisations go panel by panel, and each panel waits for the one before.
struct Cost {
  NumberType type = NumberType::kF32;
  double flops = 0;
  double numbers = 0;
  double panels = 1;
  double batch = 1;
};

/// The costs of factorising, and of solving with what came of it. m, n: rows and columns.
Cost qr(NumberType type, double m, double n);
Cost lu(NumberType type, double m, double n);
Cost cholesky(NumberType type, double n);
/// LDL^T of a symmetric matrix.
Cost symmetric_factors(NumberType type, double n);
/// Solving with the factors of a matrix of order n for so many right-hand sides.
Cost solve(NumberType type, double n, double sides);
/// Multiplying by the Q of a QR factorisation with k reflectors, or writing it out.
Cost apply_q(NumberType type, double m, double n, double k);
Cost symmetric_eigen(NumberType type, double n, Vectors vectors);
Cost general_eigen(NumberType type, double n);
Cost singular_values(NumberType type, double m, double n, bool vectors);
Cost times(Cost cost, double batch);

/// Numbers of workspace that a factorisation of m by n asks for.
int workspace_numbers(double m, double n);

Status submit_cost(Handle* handle, const char* name, const Cost& cost);
Status give_workspace(int* numbers, double m, double n);
/// The same in bytes, on the device and on the host.
Status give_workspace_bytes(DataType type, double n, std::size_t* device, std::size_t* host);

}  // namespace unstarve::emulated::cusolver
