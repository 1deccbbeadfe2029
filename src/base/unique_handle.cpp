#include "base/unique_handle.h"

#include <dlfcn.h>
#include <unistd.h>

namespace unstarve {

void FileDescriptorTraits::close(Handle fd) noexcept { ::close(fd); }

void SharedLibraryTraits::close(Handle library) noexcept { ::dlclose(library); }

}  // namespace unstarve
