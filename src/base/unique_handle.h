#pragma once

#include <utility>

namespace unstarve {

/// Owns one C handle (file descriptor, FILE*, sqlite3*, dlopen handle, ...). `Traits` has:
///   using Handle = int;
///   static Handle invalid();
///   static void close(Handle) noexcept;
/// A handle cannot be taken from a temporary, which would close it before use.
template <class Traits>
class UniqueHandle {
 public:
  using Handle = typename Traits::Handle;

  UniqueHandle() noexcept : handle_(Traits::invalid()) {}
  explicit UniqueHandle(Handle handle) noexcept : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(other.release()) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() { reset(); }

  Handle get() const& noexcept { return handle_; }
  Handle get() && = delete;
  explicit operator bool() const noexcept { return handle_ != Traits::invalid(); }

  [[nodiscard]] Handle release() noexcept { return std::exchange(handle_, Traits::invalid()); }
  void reset(Handle handle = Traits::invalid()) noexcept {
    const Handle old = std::exchange(handle_, handle);
    if (old != Traits::invalid()) Traits::close(old);
  }

 private:
  Handle handle_;
};

struct FileDescriptorTraits {
  using Handle = int;
  static Handle invalid() { return -1; }
  static void close(Handle fd) noexcept;
};
using FileDescriptor = UniqueHandle<FileDescriptorTraits>;

struct SharedLibraryTraits {
  using Handle = void*;
  static Handle invalid() { return nullptr; }
  static void close(Handle library) noexcept;
};
/// A dlopen()ed library.
using SharedLibrary = UniqueHandle<SharedLibraryTraits>;

}  // namespace unstarve
