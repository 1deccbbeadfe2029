#pragma once

#include <string>
#include <vector>

namespace unstarve::trace {

/// The words of a command with `***` in the place of what nobody else is to read: values of
/// arguments and variables whose names say so (`--api-key X`, `hub_token=X`, `WANDB_API_KEY=X`: a
/// word of them is or ends with key or token, or has secret or password in it), and of URLs the
/// part before the `@`.
std::vector<std::string> without_secrets(const std::vector<std::string>& words);

}  // namespace unstarve::trace
