#pragma once

namespace unstarve::emulated {

/// Lets the emulation's records and calls come to the tracer and the subscriber while either wants
/// any; called after whatever may change that. Nobody wants any: they cost nothing.
void update_sink();

}  // namespace unstarve::emulated
