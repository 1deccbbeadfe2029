// What the Python hook calls. Nothing is printed and nothing is thrown: this is in somebody else's
// program.
#include "observe/inside/looks/looks.h"

#include <new>

#include "observe/inside/looks/asker.h"

using unstarve::looks::Asker;

extern "C" {

void* unstarve_looks_new(const UnstarvePython* python) {
  // Never destroyed: Python may hold its address as something pending.
  return new (std::nothrow) Asker(*python);
}

std::int64_t unstarve_looks_begin(void* asker) { return static_cast<Asker*>(asker)->begin(); }

void unstarve_looks_stop(void* asker) { static_cast<Asker*>(asker)->stop(); }

std::int64_t unstarve_looks_wait(void* asker, std::int64_t number, std::int64_t delay_ns,
                                 std::uint64_t thread) {
  return static_cast<Asker*>(asker)->wait(number, delay_ns, thread);
}

void* unstarve_looks_take(void* asker) { return static_cast<Asker*>(asker)->take(); }

void* unstarve_looks_look_at(void* asker, void* current_frames, void* thread) {
  return static_cast<Asker*>(asker)->look_at(current_frames, thread);
}

}  // extern "C"
