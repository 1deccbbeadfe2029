#pragma once

#include <cstddef>
#include <cstdint>

#define UNSTARVE_LOOKS_EXPORT __attribute__((visibility("default")))

/// The functions of libunstarve_looks.so, for the hook's thread that looks at stacks. None throws,
/// prints or ends the process. Objects of Python are `void*` here: the library is made for no
/// version of it.
extern "C" {
/// What is used of the Python that runs in this process, by address. How a thread gets another one
/// to give Python's lock away differs: up to 3.11 by the interval, from 3.12 on by what is pending,
/// in 3.12 by a function of another shape. What a version lacks is null.
struct UnstarvePython {
  int (*add_pending_call)(int (*)(void*), void*);                 // Py_AddPendingCall
  int (*add_pending_call_in)(void*, int (*)(void*), void*, int);  // _PyEval_AddPendingCall
  void (*set_switch_interval)(unsigned long);                     // _PyEval_SetSwitchInterval
  unsigned long (*switch_interval)();                             // _PyEval_GetSwitchInterval
  void* (*main_interpreter)();                                    // PyInterpreterState_Main
  void* (*current_frame)();                                       // PyEval_GetFrame: borrowed
  void* (*attribute)(void*, void*);                               // PyObject_GetAttr: new
  void* (*intern)(const char*);                                   // PyUnicode_InternFromString
  void* (*list_new)(std::ptrdiff_t);                              // PyList_New: new
  int (*list_append)(void*, void*);                               // PyList_Append
  void (*hold)(void*);                                            // Py_IncRef
  void (*let_go)(void*);                                          // Py_DecRef
  void (*forget_error)();                                         // PyErr_Clear
  void* (*call)(void*, void*);                                    // PyObject_CallObject: new
  void* (*item)(void*, void*);                                    // PyObject_GetItem: new
  int (*disable_collection)();                                    // PyGC_Disable: whether it was on
  int (*enable_collection)();                                     // PyGC_Enable
  void* none;                                                     // None, which no frame is
};

/// One asker for the life of a process; null where there is no memory. With Python's lock.
UNSTARVE_LOOKS_EXPORT void* unstarve_looks_new(const UnstarvePython* python);

/// Whoever waits from here on waits with this number, until unstarve_looks_stop().
UNSTARVE_LOOKS_EXPORT std::int64_t unstarve_looks_begin(void* asker);
UNSTARVE_LOOKS_EXPORT void unstarve_looks_stop(void* asker);

/// Waits, without Python's lock. Then `thread` (as threading.get_ident() has it; 0: none) is asked
/// what it does, which it answers, if it has the lock, before it begins its next instruction of
/// Python; or the caller gets the lock at once. The time at which that was (CLOCK_MONOTONIC, ns); 0
/// where it was stopped.
UNSTARVE_LOOKS_EXPORT std::int64_t unstarve_looks_wait(void* asker, std::int64_t number,
                                                       std::int64_t delay_ns, std::uint64_t thread);

/// To be called next, with Python's lock. The answer: a new list of each frame's f_code, f_lasti,
/// f_lineno and f_globals, the innermost frame's first, of at most `kUnstarveLooksDeepest` frames.
/// Empty where there is none yet: it is then not wanted any more. Null with Python's error where
/// there is no memory.
UNSTARVE_LOOKS_EXPORT void* unstarve_looks_take(void* asker);

/// The same of another thread, with Python's lock, which is not given away meanwhile: 3.11 goes
/// astray in frames whose thread has gone on. `current_frames` is sys._current_frames, `thread` a
/// number of Python's. None where there is no such thread, or no memory.
UNSTARVE_LOOKS_EXPORT void* unstarve_looks_look_at(void* asker, void* current_frames, void* thread);
}

inline constexpr int kUnstarveLooksDeepest = 200;
