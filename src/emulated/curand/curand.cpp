#include <new>

#include "emulated/curand/curand_abi.h"

// cuRAND's host interface: random numbers that nobody draws; what is read back is zeros. PyTorch
// links the library and draws its numbers in kernels of its own.

using namespace unstarve::emulated;
using namespace unstarve::emulated::curand;

namespace {

Status generate(Generator* generator, const char* name, std::size_t count, double number_bytes) {
  if (generator == nullptr) return Status::kNotInitialized;
  OtherWork work;
  work.bytes = static_cast<double>(count) * number_bytes;
  work.flops = static_cast<double>(count) * 10;
  const Outcome outcome = submit(generator->target, name, work);
  return outcome == Outcome::kSuccess ? Status::kSuccess : Status::kLaunchFailure;
}

Status accept(const Generator* generator) {
  return generator == nullptr ? Status::kNotInitialized : Status::kSuccess;
}

}  // namespace

extern "C" {

Status curandCreateGenerator(Generator** out, std::int32_t) {
  if (out == nullptr) return Status::kOutOfRange;
  Target target;
  if (current_target(&target) != Outcome::kSuccess) return Status::kNotInitialized;
  *out = new (std::nothrow) Generator{target};
  return *out == nullptr ? Status::kAllocationFailed : Status::kSuccess;
}

Status curandDestroyGenerator(Generator* generator) {
  if (generator == nullptr) return Status::kNotInitialized;
  delete generator;
  return Status::kSuccess;
}

Status curandSetStream(Generator* generator, const void* stream) {
  if (generator == nullptr) return Status::kNotInitialized;
  generator->target.stream = stream;
  return Status::kSuccess;
}

Status curandSetPseudoRandomGeneratorSeed(Generator* generator, unsigned long long) {
  return accept(generator);
}
Status curandSetGeneratorOffset(Generator* generator, unsigned long long) {
  return accept(generator);
}
Status curandSetGeneratorOrdering(Generator* generator, std::int32_t) { return accept(generator); }

Status curandGenerate(Generator* generator, unsigned*, std::size_t count) {
  return generate(generator, "emulated curandGenerate", count, 4);
}
Status curandGenerateUniform(Generator* generator, float*, std::size_t count) {
  return generate(generator, "emulated curandGenerateUniform", count, 4);
}
Status curandGenerateUniformDouble(Generator* generator, double*, std::size_t count) {
  return generate(generator, "emulated curandGenerateUniformDouble", count, 8);
}
Status curandGenerateNormal(Generator* generator, float*, std::size_t count, float, float) {
  return generate(generator, "emulated curandGenerateNormal", count, 4);
}
Status curandGenerateNormalDouble(Generator* generator, double*, std::size_t count, double,
                                  double) {
  return generate(generator, "emulated curandGenerateNormalDouble", count, 8);
}
Status curandGenerateLogNormal(Generator* generator, float*, std::size_t count, float, float) {
  return generate(generator, "emulated curandGenerateLogNormal", count, 4);
}
Status curandGeneratePoisson(Generator* generator, unsigned*, std::size_t count, double) {
  return generate(generator, "emulated curandGeneratePoisson", count, 4);
}

Status curandGetVersion(int* version) {
  if (version == nullptr) return Status::kOutOfRange;
  *version = kVersionParts[0] * 1000 + kVersionParts[1] * 100 + kVersionParts[2];
  return Status::kSuccess;
}

Status curandGetProperty(LibraryProperty property, int* value) {
  const auto index = static_cast<unsigned>(property);
  if (index > 2 || value == nullptr) return Status::kOutOfRange;
  *value = kVersionParts[index];
  return Status::kSuccess;
}

}  // extern "C"
