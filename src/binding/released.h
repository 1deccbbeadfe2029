#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace unstarve::binding {

/// Without the GIL while it lives. Where the interpreter has begun to end meanwhile, Python up to
/// 3.13 ends a daemon thread that wants the GIL back by unwinding it, which no C++ destructor lets
/// through: the whole process would abort. As from 3.14 on, the thread then waits for the end.
/// (libstdc++ has a type for that unwinding, libc++ has none; nothing else is thrown by C.)
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) ::pause();
    }
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* const state_;
};

}  // namespace unstarve::binding
