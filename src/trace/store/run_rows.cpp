#include "trace/store/run_rows.h"

namespace unstarve::trace {

std::string_view to_string(ProcessRole role) {
  switch (role) {
    case ProcessRole::kMain: return "main";
    case ProcessRole::kLoaderWorker: return "loader_worker";
    case ProcessRole::kOther: return "other";
  }
  return "other";
}

}  // namespace unstarve::trace
