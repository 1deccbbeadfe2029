#include <cstdint>
#include <cstring>
#include <string>

#include "emulated/nccl/group.h"
#include "emulated/nccl/guarded.h"
#include "emulated/nccl/nccl_abi.h"

namespace unstarve::emulated::nccl {
namespace {

/// The arguments of a collective, as the program gave them.
struct Arguments {
  const char* function = nullptr;
  Collective kind = Collective::kAllReduce;
  const void* source = nullptr;
  void* target = nullptr;
  std::size_t count = 0;
  int type = 0;
  int operation = 0;
  int root = 0;
};

/// Bytes of `count` elements; 0: too many to be.
std::size_t bytes_of_count(std::size_t count, Element type, int ranks) {
  const std::size_t unit_bytes = bytes_of(type) * static_cast<std::size_t>(ranks);
  return count > PTRDIFF_MAX / unit_bytes ? 0 : count * bytes_of(type);
}

Result check(const Arguments& call, const Communicator& communicator) {
  const std::string function = call.function;
  if (call.type < 0 || call.type >= kDataTypes) {
    return fail(Result::kInvalidArgument, function + ": no data type " + std::to_string(call.type));
  }
  if (call.root < 0 || call.root >= communicator.ranks()) {
    return fail(Result::kInvalidArgument, function + ": no rank " + std::to_string(call.root));
  }
  return Result::kSuccess;
}

/// Where a result shall be found when it is known; nullptr: it will be zeros.
LateBytes expect_result(void* target, std::size_t bytes, std::size_t bytes_max) {
  if (bytes == 0) return nullptr;
  if (bytes > bytes_max) {
    write_kept(target, nullptr, bytes);
    return nullptr;
  }
  auto result = std::make_shared<std::vector<unsigned char>>(bytes);
  write_kept_late(target, result);
  return result;
}

Result collective(void* handle, void* stream, const Arguments& call) {
  return with_communicator(handle, call.function, [&](const auto& communicator) -> Result {
    if (const Result checked = check(call, *communicator); checked != Result::kSuccess) {
      return checked;
    }
    const std::optional<Operator> operation = communicator->find_operator(call.operation);
    if (!operation) {
      return fail(Result::kInvalidArgument, std::string(call.function) + ": no such reduction");
    }
    if (call.count == 0) return Result::kSuccess;
    CollectiveTask task{.kind = call.kind,
                        .type = static_cast<Element>(call.type),
                        .reduction = operation->reduction,
                        .factor = operation->factor,
                        .root = call.root};
    task.bytes = bytes_of_count(call.count, task.type, communicator->ranks());
    const std::size_t in = source_bytes(task, communicator->rank(), communicator->ranks());
    const std::size_t out = target_bytes(task, communicator->rank(), communicator->ranks());
    if (task.bytes == 0 || (in > 0 && call.source == nullptr) ||
        (out > 0 && call.target == nullptr)) {
      return fail(Result::kInvalidArgument, std::string(call.function) + ": no such buffer");
    }
    if (in > 0 && in <= kCarriedBytes) task.known = kept_pieces(call.source, in);
    const auto ranks = static_cast<std::size_t>(communicator->ranks());
    task.result = expect_result(call.target, out, kCarriedBytes * ranks);
    return add(communicator, stream, std::move(task));
  });
}

Result message(const char* function, void* handle, void* stream, MessageTask task, void* buffer) {
  return with_communicator(handle, function, [&](const auto& communicator) -> Result {
    if (task.peer < 0 || task.peer >= communicator->ranks()) {
      return fail(Result::kInvalidArgument,
                  std::string(function) + ": no rank " + std::to_string(task.peer));
    }
    if (task.bytes > 0 && buffer == nullptr) {
      return fail(Result::kInvalidArgument, std::string(function) + ": no such buffer");
    }
    if (task.receives) {
      task.result = expect_result(buffer, task.bytes, kCarriedBytes);
    } else if (task.bytes <= kCarriedBytes) {
      task.known = kept_pieces(buffer, task.bytes);
    }
    return add(communicator, stream, std::move(task));
  });
}

/// Bytes of a message; nothing: no such type, or too many.
std::optional<std::size_t> message_bytes(std::size_t count, int type) {
  if (type < 0 || type >= kDataTypes) return std::nullopt;
  const std::size_t bytes = bytes_of_count(count, static_cast<Element>(type), 1);
  return bytes == 0 && count > 0 ? std::nullopt : std::optional(bytes);
}

}  // namespace
}  // namespace unstarve::emulated::nccl

namespace emulated = unstarve::emulated;
using emulated::Collective;
using emulated::nccl::collective;
using emulated::nccl::Result;

#pragma GCC visibility push(default)
extern "C" {

Result ncclAllReduce(const void* source, void* target, std::size_t count, int type, int operation,
                     void* communicator, void* stream) {
  return collective(communicator, stream,
                    {.function = "ncclAllReduce",
                     .kind = Collective::kAllReduce,
                     .source = source,
                     .target = target,
                     .count = count,
                     .type = type,
                     .operation = operation});
}

Result ncclReduce(const void* source, void* target, std::size_t count, int type, int operation,
                  int root, void* communicator, void* stream) {
  return collective(communicator, stream,
                    {.function = "ncclReduce",
                     .kind = Collective::kReduce,
                     .source = source,
                     .target = target,
                     .count = count,
                     .type = type,
                     .operation = operation,
                     .root = root});
}

Result ncclReduceScatter(const void* source, void* target, std::size_t count, int type,
                         int operation, void* communicator, void* stream) {
  return collective(communicator, stream,
                    {.function = "ncclReduceScatter",
                     .kind = Collective::kReduceScatter,
                     .source = source,
                     .target = target,
                     .count = count,
                     .type = type,
                     .operation = operation});
}

Result ncclBroadcast(const void* source, void* target, std::size_t count, int type, int root,
                     void* communicator, void* stream) {
  return collective(communicator, stream,
                    {.function = "ncclBroadcast",
                     .kind = Collective::kBroadcast,
                     .source = source,
                     .target = target,
                     .count = count,
                     .type = type,
                     .root = root});
}

Result ncclBcast(void* buffer, std::size_t count, int type, int root, void* communicator,
                 void* stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}

Result ncclAllGather(const void* source, void* target, std::size_t count, int type,
                     void* communicator, void* stream) {
  return collective(communicator, stream,
                    {.function = "ncclAllGather",
                     .kind = Collective::kAllGather,
                     .source = source,
                     .target = target,
                     .count = count,
                     .type = type});
}

Result ncclAlltoAll(const void* source, void* target, std::size_t count, int type,
                    void* communicator, void* stream) {
  return collective(communicator, stream,
                    {.function = "ncclAlltoAll",
                     .kind = Collective::kAllToAll,
                     .source = source,
                     .target = target,
                     .count = count,
                     .type = type});
}

Result ncclGather(const void* source, void* target, std::size_t count, int type, int root,
                  void* communicator, void* stream) {
  return collective(communicator, stream,
                    {.function = "ncclGather",
                     .kind = Collective::kGather,
                     .source = source,
                     .target = target,
                     .count = count,
                     .type = type,
                     .root = root});
}

Result ncclScatter(const void* source, void* target, std::size_t count, int type, int root,
                   void* communicator, void* stream) {
  return collective(communicator, stream,
                    {.function = "ncclScatter",
                     .kind = Collective::kScatter,
                     .source = source,
                     .target = target,
                     .count = count,
                     .type = type,
                     .root = root});
}

Result ncclSend(const void* source, std::size_t count, int type, int peer, void* communicator,
                void* stream) {
  const std::optional<std::size_t> bytes = emulated::nccl::message_bytes(count, type);
  if (!bytes) return Result::kInvalidArgument;
  return emulated::nccl::message("ncclSend", communicator, stream,
                                 {.receives = false, .peer = peer, .bytes = *bytes},
                                 const_cast<void*>(source));
}

Result ncclRecv(void* target, std::size_t count, int type, int peer, void* communicator,
                void* stream) {
  const std::optional<std::size_t> bytes = emulated::nccl::message_bytes(count, type);
  if (!bytes) return Result::kInvalidArgument;
  return emulated::nccl::message("ncclRecv", communicator, stream,
                                 {.receives = true, .peer = peer, .bytes = *bytes}, target);
}

Result ncclRedOpCreatePreMulSum(std::int32_t* operation, void* scalar, int type, int residence,
                                void* handle) {
  namespace nccl = emulated::nccl;
  constexpr const char* kName = "ncclRedOpCreatePreMulSum";
  return nccl::with_communicator(handle, kName, [&](const auto& communicator) -> Result {
    if (operation == nullptr || scalar == nullptr || type < 0 || type >= nccl::kDataTypes) {
      return nccl::fail(Result::kInvalidArgument, kName);
    }
    const auto element = static_cast<emulated::Element>(type);
    std::byte number[8] = {};
    if (residence == nccl::kScalarHostImmediate) {
      std::memcpy(number, scalar, emulated::bytes_of(element));
    } else {
      emulated::read_kept(scalar, number, emulated::bytes_of(element));
    }
    *operation = communicator->add_operator({.reduction = emulated::Reduction::kScaledSum,
                                             .factor = emulated::to_double(element, number)});
    return Result::kSuccess;
  });
}

Result ncclRedOpDestroy(std::int32_t operation, void* handle) {
  namespace nccl = emulated::nccl;
  return nccl::with_communicator(handle, "ncclRedOpDestroy", [&](const auto& communicator) {
    return communicator->remove_operator(operation)
               ? Result::kSuccess
               : nccl::fail(Result::kInvalidArgument, "ncclRedOpDestroy: no such reduction");
  });
}
}
#pragma GCC visibility pop
