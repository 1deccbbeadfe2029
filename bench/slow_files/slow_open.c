// Makes files late, as network storage does: opening a file below a folder takes some time more,
// in which the thread sleeps or waits for a socket that never speaks.
//
//   cc -shared -fPIC -O2 -o slow_open.so slow_open.c -ldl
//   SLOW_FOLDER=/data SLOW_MS=20 LD_PRELOAD=$PWD/slow_open.so python train.py /data
//
// SLOW_IN=network waits in poll() on a socket; otherwise it is nanosleep().
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void wait_for_socket(int milliseconds) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return;
  struct pollfd silent = {pair[0], POLLIN, 0};
  poll(&silent, 1, milliseconds);
  close(pair[0]);
  close(pair[1]);
}

static void be_late(const char* path) {
  const char* folder = getenv("SLOW_FOLDER");
  if (folder == NULL || path == NULL || strncmp(path, folder, strlen(folder)) != 0) return;
  const char* text = getenv("SLOW_MS");
  const int milliseconds = text == NULL ? 20 : atoi(text);
  const char* where = getenv("SLOW_IN");
  if (where != NULL && strcmp(where, "network") == 0) {
    wait_for_socket(milliseconds);
    return;
  }
  struct timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  nanosleep(&time, NULL);
}

static unsigned mode_of(int flags, va_list* arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(*arguments, unsigned) : 0;
}

#define DEFINE_OPEN(name)                                                             \
  int name(const char* path, int flags, ...) {                                        \
    static int (*real)(const char*, int, ...);                                        \
    if (real == NULL) real = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, #name); \
    va_list arguments;                                                                \
    va_start(arguments, flags);                                                       \
    const unsigned mode = mode_of(flags, &arguments);                                 \
    va_end(arguments);                                                                \
    if ((flags & O_DIRECTORY) == 0) be_late(path);                                    \
    return real(path, flags, mode);                                                   \
  }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
