#pragma once

#include <dlfcn.h>

namespace unstarve::device {

/// Finds the functions of a library that is loaded, and remembers the first that it lacks.
///
///   SymbolLookup find(library);
///   find("cuInit", init);
///   if (find.missing() != nullptr) ...
class SymbolLookup {
 public:
  explicit SymbolLookup(void* library) : library_(library) {}

  /// Sets `function`, to nullptr where there is none of that name.
  template <class Function>
  void operator()(const char* name, Function& function) {
    void* symbol = ::dlsym(library_, name);
    if (symbol == nullptr && missing_ == nullptr) missing_ = name;
    function = reinterpret_cast<Function>(symbol);
  }

  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

}  // namespace unstarve::device
