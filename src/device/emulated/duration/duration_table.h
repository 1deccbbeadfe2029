#pragma once

namespace unstarve::emulated {

class DurationTable {};

}  // namespace unstarve::emulated
