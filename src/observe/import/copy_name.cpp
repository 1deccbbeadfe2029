#include "observe/import/copy_name.h"

namespace unstarve::observe {

namespace {

using trace::CopyDirection;
using trace::MemoryKind;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

CopyDirection parse_direction(std::string_view name) {
  if (contains(name, "HtoD") || contains(name, "HostToDevice")) {
    return CopyDirection::kHostToDevice;
  }
  if (contains(name, "DtoH") || contains(name, "DeviceToHost")) {
    return CopyDirection::kDeviceToHost;
  }
  if (contains(name, "DtoD") || contains(name, "DeviceToDevice")) {
    return CopyDirection::kDeviceToDevice;
  }
  if (contains(name, "PtoP") || contains(name, "PeerToPeer")) return CopyDirection::kPeerToPeer;
  if (contains(name, "HtoH") || contains(name, "HostToHost")) return CopyDirection::kHostToHost;
  return CopyDirection::kUnknown;
}

MemoryKind parse_memory(std::string_view text) {
  if (contains(text, "Pageable")) return MemoryKind::kPageable;
  if (contains(text, "Pinned")) return MemoryKind::kPinned;
  if (contains(text, "Managed")) return MemoryKind::kManaged;
  if (contains(text, "Device") || contains(text, "Array")) return MemoryKind::kDevice;
  return MemoryKind::kUnknown;
}

CopyDirection direction_between(std::string_view source, std::string_view target) {
  const bool from_device = parse_memory(source) == MemoryKind::kDevice;
  const bool to_device = parse_memory(target) == MemoryKind::kDevice;
  if (from_device && to_device) return CopyDirection::kDeviceToDevice;
  if (to_device) return CopyDirection::kHostToDevice;
  if (from_device) return CopyDirection::kDeviceToHost;
  return CopyDirection::kUnknown;
}

}  // namespace

CopyName parse_copy_name(std::string_view name) {
  CopyName copy;
  copy.direction = parse_direction(name);
  const std::size_t open = name.find('(');
  const std::size_t arrow = name.find("->");
  if (open != name.npos && arrow != name.npos && open < arrow) {
    const std::string_view source = name.substr(open + 1, arrow - open - 1);
    const std::string_view target = name.substr(arrow + 2);
    copy.source = parse_memory(source);
    copy.target = parse_memory(target);
    if (copy.direction == CopyDirection::kUnknown) {
      copy.direction = direction_between(source, target);
    }
  }
  const bool onto_device = copy.direction == CopyDirection::kHostToDevice ||
                           copy.direction == CopyDirection::kDeviceToDevice;
  const bool from_device = copy.direction == CopyDirection::kDeviceToHost ||
                           copy.direction == CopyDirection::kDeviceToDevice;
  if (onto_device && copy.target == MemoryKind::kUnknown) copy.target = MemoryKind::kDevice;
  if (from_device && copy.source == MemoryKind::kUnknown) copy.source = MemoryKind::kDevice;
  return copy;
}

}  // namespace unstarve::observe
