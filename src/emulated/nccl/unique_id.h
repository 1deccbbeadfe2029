#pragma once

#include <optional>
#include <string>

#include "emulated/nccl/nccl_abi.h"

namespace unstarve::emulated::nccl {

/// Random letters and digits, which name the file in which the ranks meet. False: the system has
/// none.
bool make_unique_id(UniqueId* out);

/// What make_unique_id() put there; nothing: it is not one of those.
std::optional<std::string> text_of(const UniqueId& id);

}  // namespace unstarve::emulated::nccl
