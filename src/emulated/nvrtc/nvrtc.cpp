#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "emulated/nvrtc/program.h"
#include "emulated/process/gpu.h"

// A compiler whose programs are never run: it takes any source, remembers the names that are asked
// for, and gives a text that the emulated driver loads.

using namespace unstarve::emulated;
using namespace unstarve::emulated::nvrtc;

namespace {

std::string image_of_nothing() {
  int capability = 80;
  if (usable() == Outcome::kSuccess) {
    const Profile& profile = current_gpu()->profile();
    capability = profile.compute_major * 10 + profile.compute_minor;
  }
  return "// emulated\n.version 8.0\n.target sm_" + std::to_string(capability) +
         "\n.address_size 64\n";
}

/// With the zero at its end, as NVRTC counts.
Result give_size(const Program* program, const std::string& text, std::size_t* bytes) {
  if (bytes == nullptr) return Result::kInvalidInput;
  if (program == nullptr) return Result::kInvalidProgram;
  *bytes = text.size() + 1;
  return Result::kSuccess;
}

Result give_text(const Program* program, const std::string& text, char* out) {
  if (out == nullptr) return Result::kInvalidInput;
  if (program == nullptr) return Result::kInvalidProgram;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Result::kSuccess;
}

const std::string& image_of(const Program* program) {
  static const std::string* const nothing = new std::string;
  return program == nullptr ? *nothing : program->image;
}

constexpr int kArchitectures[] = {75, 80, 86, 87, 89, 90, 100, 120};

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(Result result) {
  switch (result) {
    case Result::kSuccess: return "NVRTC_SUCCESS";
    case Result::kOutOfMemory: return "NVRTC_ERROR_OUT_OF_MEMORY";
    case Result::kInvalidInput: return "NVRTC_ERROR_INVALID_INPUT";
    case Result::kInvalidProgram: return "NVRTC_ERROR_INVALID_PROGRAM";
    case Result::kNoLoweredNamesBeforeCompilation:
      return "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case Result::kNoNamesAfterCompilation:
      return "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    case Result::kNameNotValid: return "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    default: return "NVRTC_ERROR_INTERNAL_ERROR";
  }
}

Result nvrtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return Result::kInvalidInput;
  *major = kMajor;
  *minor = kMinor;
  return Result::kSuccess;
}

Result nvrtcGetNumSupportedArchs(int* count) {
  if (count == nullptr) return Result::kInvalidInput;
  *count = static_cast<int>(sizeof(kArchitectures) / sizeof(kArchitectures[0]));
  return Result::kSuccess;
}

Result nvrtcGetSupportedArchs(int* architectures) {
  if (architectures == nullptr) return Result::kInvalidInput;
  std::memcpy(architectures, kArchitectures, sizeof(kArchitectures));
  return Result::kSuccess;
}

Result nvrtcCreateProgram(Program** out, const char* source, const char*, int, const char* const*,
                          const char* const*) {
  if (out == nullptr || source == nullptr) return Result::kInvalidInput;
  *out = new (std::nothrow) Program;
  return *out == nullptr ? Result::kOutOfMemory : Result::kSuccess;
}

Result nvrtcDestroyProgram(Program** program) {
  if (program == nullptr || *program == nullptr) return Result::kInvalidProgram;
  delete *program;
  *program = nullptr;
  return Result::kSuccess;
}

Result nvrtcAddNameExpression(Program* program, const char* expression) {
  if (program == nullptr) return Result::kInvalidProgram;
  if (expression == nullptr) return Result::kInvalidInput;
  if (program->compiled) return Result::kNoNamesAfterCompilation;
  try {
    program->lowered_names.emplace(expression, expression);
  } catch (const std::exception&) {
    return Result::kOutOfMemory;
  }
  return Result::kSuccess;
}

Result nvrtcCompileProgram(Program* program, int, const char* const*) {
  if (program == nullptr) return Result::kInvalidProgram;
  try {
    program->image = image_of_nothing();
  } catch (const std::exception&) {
    return Result::kOutOfMemory;
  }
  program->compiled = true;
  return Result::kSuccess;
}

/// The name of a kernel in the compiled program: the expression itself, as nothing is mangled.
Result nvrtcGetLoweredName(Program* program, const char* expression, const char** name) {
  if (program == nullptr) return Result::kInvalidProgram;
  if (expression == nullptr || name == nullptr) return Result::kInvalidInput;
  if (!program->compiled) return Result::kNoLoweredNamesBeforeCompilation;
  const auto found = program->lowered_names.find(std::string_view(expression));
  if (found == program->lowered_names.end()) return Result::kNameNotValid;
  *name = found->second.c_str();
  return Result::kSuccess;
}

Result nvrtcGetPTXSize(const Program* program, std::size_t* bytes) {
  return give_size(program, image_of(program), bytes);
}
Result nvrtcGetPTX(const Program* program, char* text) {
  return give_text(program, image_of(program), text);
}
Result nvrtcGetCUBINSize(const Program* program, std::size_t* bytes) {
  return give_size(program, image_of(program), bytes);
}
Result nvrtcGetCUBIN(const Program* program, char* text) {
  return give_text(program, image_of(program), text);
}
Result nvrtcGetProgramLogSize(const Program* program, std::size_t* bytes) {
  return give_size(program, std::string(), bytes);
}
Result nvrtcGetProgramLog(const Program* program, char* text) {
  return give_text(program, std::string(), text);
}

}  // extern "C"
