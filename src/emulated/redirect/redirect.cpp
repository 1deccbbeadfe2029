#include <cstddef>
#include <cstdint>

// An audit library of the dynamic linker (rtld-audit(7)): when a program, a library of its own or a
// dlopen asks for one of NVIDIA's libraries, by name or by path, the linker is sent to ours. It is
// loaded into every process below `unstarve run --emulate`, most of which use no GPU, so it is
// without a C library: nothing is loaded with it, nothing is allocated, and no call is made.

// Of <link.h>, which needs a C library's headers: bits of LA_SER_*.
inline constexpr unsigned kNameAsAsked = 0x01;  // LA_SER_ORIG

struct StandIn {
  const char* asked;     // the name of the file that is looked for
  const char* answered;  // the file beside this library
};

static constexpr StandIn kStandIns[] = {
#include <stand_ins.inc>
};

static constexpr std::size_t kLongestFolder = 3900;
static constexpr std::size_t kLongestName = 64;
static constexpr const char kOwnName[] = "/libunstarve_redirect.so";

static char folder[kLongestFolder + 1];  // with the slash at its end; empty: nothing is redirected
static std::size_t folder_length;

static std::size_t length_of(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

static bool same(const char* left, const char* right) {
  while (*left != '\0' && *left == *right) ++left, ++right;
  return *left == *right;
}

/// The text after `name=` in the environment; nullptr: not set.
static const char* value_of(const char* const* environment, const char* name) {
  for (; *environment != nullptr; ++environment) {
    const char* text = *environment;
    const char* wanted = name;
    while (*wanted != '\0' && *text == *wanted) ++text, ++wanted;
    if (*wanted == '\0' && *text == '=') return text + 1;
  }
  return nullptr;
}

/// Copies the folder of this library out of LD_AUDIT, a list of paths between colons.
static void keep_folder(const char* paths) {
  const std::size_t own = sizeof(kOwnName) - 1;
  while (true) {
    std::size_t length = 0;
    while (paths[length] != '\0' && paths[length] != ':') ++length;
    std::size_t matching = 0;
    while (matching < own && matching < length &&
           paths[length - 1 - matching] == kOwnName[own - 1 - matching]) {
      ++matching;
    }
    const std::size_t kept = length - own + 1;
    if (matching == own && kept <= kLongestFolder) {
      for (std::size_t i = 0; i < kept; ++i) folder[i] = paths[i];
      folder_length = kept;
      return;
    }
    if (paths[length] == '\0') return;
    paths += length + 1;
  }
}

/// glibc calls a library's constructors with what main() gets.
__attribute__((constructor)) static void start(int, char**, char** environment) {
  if (environment == nullptr || value_of(environment, "UNSTARVE_EMULATED_GPU") == nullptr) return;
  if (const char* paths = value_of(environment, "LD_AUDIT")) keep_folder(paths);
}

extern "C" {

/// Any version of the interface will do: la_objsearch is in all of them.
__attribute__((visibility("default"))) unsigned la_version(unsigned version) { return version; }

__attribute__((visibility("default"))) char* la_objsearch(const char* name, std::uintptr_t*,
                                                          unsigned flag) {
  char* const unchanged = const_cast<char*>(name);
  if (folder_length == 0 || flag != kNameAsAsked) return unchanged;
  const char* file = name;
  for (const char* at = name; *at != '\0'; ++at) {
    if (*at == '/') file = at + 1;
  }
  if (file[0] != 'l' || file[1] != 'i' || file[2] != 'b') return unchanged;
  for (const StandIn& stand_in : kStandIns) {
    if (!same(file, stand_in.asked)) continue;
    // The linker holds its lock and copies the path before it asks again.
    const std::size_t length = length_of(stand_in.answered);
    if (length > kLongestName) return unchanged;
    static char path[kLongestFolder + kLongestName + 1];
    for (std::size_t i = 0; i < folder_length; ++i) path[i] = folder[i];
    for (std::size_t i = 0; i <= length; ++i) path[folder_length + i] = stand_in.answered[i];
    return path;
  }
  return unchanged;
}

}  // extern "C"
