// Preloaded into a program (LD_PRELOAD), lets one of its system calls fail:
//   DRIFT_FAIL=write:3:28       the third write fails with errno 28 (ENOSPC), and so does every later one: a full disk stays full
//   DRIFT_FAIL=write:3:28:once  the third write alone, as a disk's bad block or a passing shortage
//   DRIFT_FAIL=malloc:2:12      the second allocation of kLarge bytes or more, by drift or through operator new
//   DRIFT_FAIL_IN=drift         only in programs of this name, not in those that it starts
//   DRIFT_FAIL_TOLD=FILE        where a byte is added for each failure, by which tools/soak knows that there was one: 'o' where
//                               oneDNN made the call, else 'x'
// Calls of one name and its variants (open, openat, open64, fopen) are counted together, in each process from one. Only what goes
// through the dynamic linker is seen: what libc does on its own account is not.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kLarge = std::size_t{64} << 10;  // bytes; small allocations are as good as certain

struct Fault {
  char name[16] = {};
  long at = 0;
  int error = 0;
  bool once = false;

  Fault() {
    const char *const text = std::getenv("DRIFT_FAIL"), *const program = std::getenv("DRIFT_FAIL_IN");
    char how[8] = {};
    const int read = text == nullptr ? 0 : std::sscanf(text, "%15[^:]:%ld:%d:%7s", name, &at, &error, how);
    once = std::strcmp(how, "once") == 0;
    if (read < 3 || (program != nullptr && std::strcmp(program, program_invocation_short_name) != 0)) at = 0;
  }
};

bool in_use() {  // before main, while libraries load, nothing fails
  static const Fault fault;
  return fault.at > 0;
}

const Fault& fault() {
  static const Fault the_fault;
  return the_fault;
}

void tell(char byte) {
  const int error = errno;
  if (const char* const path = std::getenv("DRIFT_FAIL_TOLD")) {
    const long file = ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file >= 0) {
      ::syscall(SYS_write, file, &byte, 1);
      ::syscall(SYS_close, file);
    }
  }
  errno = error;
}

// Counts a call; true: it is to fail, and errno is set.
bool fails(const char* name, char who = 'x') {
  static std::atomic<long> count{0};
  thread_local bool inside = false;  // reading the environment may allocate
  if (inside) return false;
  inside = true;
  bool failing = false;
  if (in_use() && std::strcmp(name, fault().name) == 0) {
    const long now = ++count;
    failing = fault().once ? now == fault().at : now >= fault().at;
  }
  if (failing) {
    errno = fault().error;
    tell(who);
  }
  inside = false;
  return failing;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool for_writing(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

}  // namespace

// NOLINTBEGIN: these are libc's names, and its signatures
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* pointer, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

// Allocations of drift's own and of C++ libraries (operator new). C libraries crash on their own account: HDF5 where its cache
// cannot be allocated.
static bool allocation_fails(std::size_t size, const void* caller) {
  if (size < kLarge) return false;
  Dl_info from = {};
  if (::dladdr(caller, &from) == 0 || from.dli_fname == nullptr) return false;
  const bool ours = std::strstr(from.dli_fname, "libstdc++") != nullptr || std::strstr(from.dli_fname, "drift") != nullptr;
  return ours && fails("malloc");
}
#define CALLER __builtin_return_address(0)

void* malloc(std::size_t size) { return allocation_fails(size, CALLER) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return allocation_fails(count * size, CALLER) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* pointer, std::size_t size) {
  return allocation_fails(size, CALLER) ? nullptr : __libc_realloc(pointer, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return allocation_fails(size, CALLER) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  void* const pointer = allocation_fails(size, CALLER) ? nullptr : __libc_memalign(alignment, size);
  if (pointer == nullptr) return ENOMEM;
  *out = pointer;
  return 0;
}

// Files that are read ("open") and files that are made or written ("create") are counted apart.
static int opened(int folder, const char* path, int flags, mode_t mode) {
  if (fails(for_writing(flags) ? "create" : "open")) return -1;
  static auto* const real = next<int(int, const char*, int, ...)>("openat");
  return real(folder, path, flags, mode);
}
static mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}
#define OPEN(name)                                 \
  int name(const char* path, int flags, ...) {     \
    va_list arguments;                             \
    va_start(arguments, flags);                    \
    const mode_t mode = mode_of(flags, arguments); \
    va_end(arguments);                             \
    return opened(AT_FDCWD, path, flags, mode);    \
  }
#define OPENAT(name)                                       \
  int name(int folder, const char* path, int flags, ...) { \
    va_list arguments;                                     \
    va_start(arguments, flags);                            \
    const mode_t mode = mode_of(flags, arguments);         \
    va_end(arguments);                                     \
    return opened(folder, path, flags, mode);              \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                                                  \
  FILE* name(const char* path, const char* mode) {                                                   \
    static auto* const real = next<FILE*(const char*, const char*)>(#name);                          \
    return fails(mode[0] == 'r' && mode[1] != '+' ? "open" : "create") ? nullptr : real(path, mode); \
  }
FOPEN(fopen)
FOPEN(fopen64)

// A call that returns `failure` and is counted as `kind`.
#define CALL(kind, failure, type, name, parameters, arguments) \
  type name parameters {                                       \
    if (fails(kind)) return failure;                           \
    static auto* const real = next<type parameters>(#name);    \
    return real arguments;                                     \
  }

ssize_t write(int file, const void* bytes, std::size_t count) {
  static auto* const real = next<ssize_t(int, const void*, std::size_t)>("write");
  return file > 2 && fails("write") ? -1 : real(file, bytes, count);  // what a failure has to say must come through
}
CALL("write", -1, ssize_t, writev, (int file, const iovec* pieces, int count), (file, pieces, count))
CALL("write", -1, ssize_t, pwrite, (int file, const void* bytes, std::size_t count, off_t at), (file, bytes, count, at))
CALL("write", -1, ssize_t, pwrite64, (int file, const void* bytes, std::size_t count, off64_t at), (file, bytes, count, at))
CALL("read", -1, ssize_t, read, (int file, void* bytes, std::size_t count), (file, bytes, count))
CALL("read", -1, ssize_t, pread, (int file, void* bytes, std::size_t count, off_t at), (file, bytes, count, at))
CALL("read", -1, ssize_t, pread64, (int file, void* bytes, std::size_t count, off64_t at), (file, bytes, count, at))
CALL("fsync", -1, int, fsync, (int file), (file))
CALL("fsync", -1, int, fdatasync, (int file), (file))
CALL("truncate", -1, int, ftruncate, (int file, off_t length), (file, length))
CALL("truncate", -1, int, ftruncate64, (int file, off64_t length), (file, length))
CALL("rename", -1, int, rename, (const char* from, const char* to), (from, to))
CALL("rename", -1, int, renameat, (int a, const char* from, int b, const char* to), (a, from, b, to))
CALL("pipe", -1, int, pipe, (int ends[2]), (ends))
CALL("pipe", -1, int, pipe2, (int ends[2], int flags), (ends, flags))
CALL("mkdir", -1, int, mkdir, (const char* path, mode_t mode), (path, mode))

// Closes all the same, as Linux does where it reports a write that failed late; what was only read it closes without fail.
int close(int file) {
  static auto* const real = next<int(int)>("close");
  const int flags = ::fcntl(file, F_GETFL);
  const bool failing = flags >= 0 && for_writing(flags) && fails("close");
  const int error = errno, status = real(file);
  if (failing) errno = error;
  return failing ? -1 : status;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) {
  static auto* const real = next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return fails("thread") ? fault().error : real(thread, attributes, work, argument);
}

// oneDNN crashes where it gets no memory for the code that it generates.
static char caller_of_memory(const void* caller) {
  Dl_info from = {};
  const bool known = ::dladdr(caller, &from) != 0 && from.dli_fname != nullptr;
  return known && std::strstr(from.dli_fname, "libdnnl") != nullptr ? 'o' : 'x';
}
#define MMAP(name, offset_type)                                                                     \
  void* name(void* at, std::size_t size, int protection, int flags, int file, offset_type offset) { \
    if (fails("mmap", caller_of_memory(CALLER))) return MAP_FAILED;                                 \
    static auto* const real = next<void*(void*, std::size_t, int, int, int, offset_type)>(#name);   \
    return real(at, size, protection, flags, file, offset);                                         \
  }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)
int mprotect(void* at, std::size_t size, int protection) {
  if (fails("mprotect", caller_of_memory(CALLER))) return -1;
  static auto* const real = next<int(void*, std::size_t, int)>("mprotect");
  return real(at, size, protection);
}
CALL("fork", -1, pid_t, fork, (), ())
pid_t vfork() { return fork(); }  // a wrapper cannot return twice from the same frame
CALL("fork", EAGAIN, int, posix_spawn,
     (pid_t * child, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
      char* const arguments[], char* const environment[]),
     (child, path, actions, attributes, arguments, environment))
CALL("fork", EAGAIN, int, posix_spawnp,
     (pid_t * child, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
      char* const arguments[], char* const environment[]),
     (child, path, actions, attributes, arguments, environment))

}  // extern "C"
// NOLINTEND
